"""Multi30k: the real files, and a local server in place of the network."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from transformer.data import multi30k
from transformer.data.download import fetch
from transformer.data.multi30k import SHA256, load_multi30k
from transformer.data.parallel import DataError


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path) -> Iterator[tuple[str, Path]]:
    """A web server on this machine: its address, and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}", folder
        httpd.shutdown()
        thread.join()


def test_the_real_files_have_the_known_sizes(real_data) -> None:
    corpus = load_multi30k(real_data / "multi30k")
    assert (len(corpus.train), len(corpus.valid)) == (29_000, 1_014)
    assert [len(text) for text in corpus.tests.values()] == [1_000, 1_000, 461, 1_071]
    assert corpus.train.source[0].startswith("Zwei junge weiße Männer")
    assert corpus.train.target[0].startswith("Two young, White males")


def test_the_pinned_checksums_are_those_of_the_real_files(real_data) -> None:
    for name, checksum in SHA256.items():
        content = (real_data / "multi30k" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum, name


def test_the_direction_can_be_turned(real_data) -> None:
    there = load_multi30k(real_data / "multi30k")
    back = load_multi30k(real_data / "multi30k", source="en", target="de")
    assert back.valid.source == there.valid.target


def test_other_languages_are_refused() -> None:
    with pytest.raises(ValueError, match="German and English, not 'fr'"):
        load_multi30k(source="fr")


def test_a_missing_folder_or_file_is_named(tmp_path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        load_multi30k(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"there is no file .*train.de.gz"):
        load_multi30k(tmp_path)


def _serve(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def test_a_download_is_cached_and_needs_no_network_the_second_time(server, tmp_path) -> None:
    address, folder = server
    checksum = _serve(folder, "a.gz", b"content")
    path = fetch("a.gz", checksum, [f"{address}/a.gz"], tmp_path / "cache")
    (folder / "a.gz").unlink()
    again = fetch("a.gz", checksum, [f"{address}/a.gz"], tmp_path / "cache")
    assert path == again
    assert path.read_bytes() == b"content"


def test_the_next_address_is_tried(server, tmp_path) -> None:
    address, folder = server
    checksum = _serve(folder, "a.gz", b"content")
    (folder / "page").write_text("<html>moved</html>")
    addresses = [f"{address}/missing.gz", f"{address}/page", f"{address}/a.gz"]
    assert fetch("a.gz", checksum, addresses, tmp_path / "cache").read_bytes() == b"content"


def test_when_no_address_works_the_message_says_all(server, tmp_path) -> None:
    address, folder = server
    (folder / "page").write_text("<html>moved</html>")
    with pytest.raises(DataError) as error:
        fetch("a.gz", "0" * 64, [f"{address}/missing", f"{address}/page"], tmp_path / "cache")
    message = str(error.value)
    assert f"{address}/missing: HTTPError: 404" in message
    assert f"{address}/page: the content has another checksum" in message
    assert "0" * 64 in message
    assert "--data" in message
    assert not list((tmp_path / "cache").glob("*")), "a failed download left something behind"


def test_a_damaged_cache_is_fetched_again(server, tmp_path) -> None:
    address, folder = server
    checksum = _serve(folder, "a.gz", b"content")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "a.gz").write_bytes(b"half of the con")
    assert fetch("a.gz", checksum, [f"{address}/a.gz"], cache).read_bytes() == b"content"


def test_multi30k_comes_from_the_network_when_no_folder_is_given(
    server, tmp_path, monkeypatch
) -> None:
    address, folder = server
    sums = {name: _serve(folder, name, gzip.compress(b"eins\nzwei\n")) for name in SHA256}
    monkeypatch.setattr(multi30k, "SHA256", sums)
    monkeypatch.setattr(multi30k, "ADDRESSES", (address + "/{name}",))
    monkeypatch.setenv("TRANSFORMER_CACHE", str(tmp_path / "cache"))
    assert load_multi30k().train.source == ["eins", "zwei"]
