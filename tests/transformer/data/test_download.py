"""Downloads, against a server on this machine that fails in every way known."""

import hashlib
import socket
from pathlib import Path
from typing import Any

import pytest

from transformer.data import download, everyday, multi30k, sources
from transformer.data.corpora import iwslt_corpus
from transformer.data.download import fetch
from transformer.data.parallel import DataError
from transformer.tasks import TASKS, fetch_data

CONTENT = bytes(range(256)) * 40
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()
PAGE = b"<!DOCTYPE html><title>moved</title>"


@pytest.fixture
def addresses(server, monkeypatch) -> dict[str, str]:
    """For each fault an address that has it, and a good one."""
    address, folder = server
    usual = download._download, download.SECONDS_TO_WAIT

    def downloads(url: str, path: str, caller: Any) -> None:
        """Only who never answers is waited for in vain; others may take their time."""
        seconds = 0.5 if "/hanging/" in url else usual[1]
        monkeypatch.setattr(download, "SECONDS_TO_WAIT", seconds)
        usual[0](url, path, caller)

    monkeypatch.setattr(download, "_download", downloads)
    (folder / "a.tgz").write_bytes(CONTENT)
    (folder / "page").write_bytes(PAGE)
    (folder / "truncated").write_bytes(CONTENT[:-1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/a.tgz"
    return {
        "good": f"{address}/a.tgz",
        "missing": f"{address}/missing.tgz",
        "page": f"{address}/page",
        "truncated": f"{address}/truncated",
        "half": f"{address}/half/a.tgz",
        "hanging": f"{address}/hanging/a.tgz",
        "closed": closed,
    }


SAID = {
    "missing": "HTTPError: 404",
    "page": "the content has another checksum (a web page or a damaged file in its place?)",
    "truncated": "the content has another checksum",
    "half": "IncompleteRead",
    "hanging": "timed out",
    "closed": "ConnectionError",
}


@pytest.mark.parametrize("fault", SAID)
def test_after_a_fault_the_next_address_is_used(addresses, tmp_path, fault) -> None:
    path = fetch("a.tgz", SHA256, [addresses[fault], addresses["good"]], tmp_path / "cache")
    assert path.read_bytes() == CONTENT
    assert list((tmp_path / "cache").iterdir()) == [path]


@pytest.mark.parametrize("fault", SAID)
def test_a_fault_is_told_with_its_address_and_leaves_nothing(addresses, tmp_path, fault) -> None:
    with pytest.raises(DataError) as error:
        fetch("a.tgz", SHA256, [addresses[fault]], tmp_path / "cache")
    message = str(error.value)
    assert f"{addresses[fault]}: " in message
    assert SAID[fault] in message
    assert f"Expected a file with SHA-256 {SHA256}" in message
    assert f"put it at {tmp_path / 'cache' / 'a.tgz'}, or into a folder" in message
    assert "--data" in message
    assert not list((tmp_path / "cache").glob("*")), "a failed download left something behind"


def test_when_all_addresses_fail_all_are_told(addresses, tmp_path) -> None:
    with pytest.raises(DataError) as error:
        fetch("a.tgz", SHA256, [addresses["missing"], addresses["page"]], tmp_path / "cache")
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0].strip() for line in lines[1:3]] == [
        addresses["missing"],
        addresses["page"],
    ]


def test_a_download_is_cached_and_needs_no_network_the_second_time(addresses, tmp_path) -> None:
    path = fetch("a.tgz", SHA256, [addresses["good"]], tmp_path / "cache")
    assert fetch("a.tgz", SHA256, [addresses["missing"]], tmp_path / "cache") == path


@pytest.mark.parametrize("wrong", [CONTENT[:99], PAGE, b""])
def test_a_half_written_or_wrong_cache_is_fetched_again(addresses, tmp_path, wrong) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "a.tgz").write_bytes(wrong)
    assert fetch("a.tgz", SHA256, [addresses["good"]], cache).read_bytes() == CONTENT


def test_a_file_in_the_place_of_the_folder_is_named(addresses, tmp_path) -> None:
    file = tmp_path / "a file"
    file.write_text("mine")
    with pytest.raises(DataError, match="a file is a file; name a folder for a.tgz"):
        fetch("a.tgz", SHA256, [addresses["good"]], file)
    assert file.read_text() == "mine"


def test_a_file_put_there_by_hand_is_taken(tmp_path) -> None:
    (tmp_path / "a.tgz").write_bytes(CONTENT)
    nowhere = "http://127.0.0.1:9/a.tgz"
    assert fetch("a.tgz", SHA256, [nowhere], tmp_path) == tmp_path / "a.tgz"
    assert fetch("a.tgz", "0" * 64, [(nowhere, MD5)], tmp_path) == tmp_path / "a.tgz"


def test_an_md5_is_checked_as_strictly(addresses, tmp_path) -> None:
    assert fetch("a.tgz", MD5, [addresses["good"]], tmp_path / "cache").read_bytes() == CONTENT
    with pytest.raises(DataError, match=f"Expected a file with MD5 {'0' * 32}"):
        fetch("b.tgz", "0" * 32, [addresses["good"]], tmp_path / "cache")


def test_each_address_may_have_a_checksum_of_its_own(addresses, tmp_path) -> None:
    both = [(addresses["page"], SHA256), (addresses["good"], MD5)]
    assert fetch("a.tgz", SHA256, both, tmp_path / "cache").read_bytes() == CONTENT
    with pytest.raises(DataError, match=f"SHA-256 {'1' * 64} or MD5 {'0' * 32}"):
        both = [(addresses["good"], "1" * 64), (addresses["page"], "0" * 32)]
        fetch("b.tgz", "", both, tmp_path / "cache")


def test_a_download_that_is_too_long_is_broken_off(addresses, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(download, "LARGEST_DOWNLOAD", len(CONTENT) - 1)
    with pytest.raises(DataError, match=r"a\.tgz: ValueError: longer than 0 MB"):
        fetch("a.tgz", SHA256, [addresses["good"]], tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
    monkeypatch.setattr(download, "LARGEST_DOWNLOAD", len(CONTENT))
    assert fetch("a.tgz", SHA256, [addresses["good"]], tmp_path / "cache").stat().st_size


def test_of_a_file_with_an_md5_the_sha256_is_kept_and_held_to(
    addresses, tmp_path, monkeypatch
) -> None:
    """Another file of the same MD5, for which here a function stands that finds it in any file."""
    path = fetch("a.tgz", MD5, [addresses["good"]], tmp_path)
    notes = tmp_path / "a.tgz.sha256"
    assert notes.read_text() == f"{SHA256}  md5:{MD5}\n"
    assert fetch("a.tgz", MD5, [addresses["missing"]], tmp_path) == path
    with monkeypatch.context() as changed:
        changed.setattr(download, "_has", lambda path, expected: expected == f"md5:{MD5}")
        path.write_bytes(PAGE)
        with pytest.raises(DataError, match="has the MD5 that it should have, but another SHA-2"):
            fetch("a.tgz", MD5, [addresses["good"]], tmp_path)
    # Who takes the file away, not what was noted, does not get another one from the network.
    path.unlink()
    notes.write_text(f"{'0' * 64}  md5:{MD5}\n")
    with pytest.raises(DataError, match="the content has another SHA-256 than at first"):
        fetch("a.tgz", MD5, [addresses["good"]], tmp_path)
    assert not path.exists()
    notes.unlink()
    assert fetch("a.tgz", MD5, [addresses["good"]], tmp_path).read_bytes() == CONTENT


def test_what_has_a_sha256_needs_no_note_and_each_md5_has_its_own(addresses, tmp_path) -> None:
    fetch("a.tgz", SHA256, [addresses["good"]], tmp_path)
    assert [path.name for path in tmp_path.glob("a.tgz*")] == ["a.tgz"]
    packed_otherwise = hashlib.md5(PAGE).hexdigest()
    (tmp_path / "a.tgz.sha256").write_text(f"{'0' * 64}  md5:{packed_otherwise}\nnonsense\n")
    fetch("a.tgz", "0" * 64, [(addresses["good"], MD5)], tmp_path)
    assert (tmp_path / "a.tgz.sha256").read_text().splitlines()[2] == f"{SHA256}  md5:{MD5}"


@pytest.mark.parametrize("checksum", ["", "abc", "x" * 64, SHA256.upper()])
def test_what_is_no_checksum_is_refused(tmp_path, checksum) -> None:
    with pytest.raises(ValueError, match="neither a SHA-256 nor an MD5"):
        fetch("a.tgz", checksum, ["http://127.0.0.1:9/a"], tmp_path)


def test_every_campaign_has_two_addresses_each_with_a_checksum() -> None:
    assert {name for name, kind in TASKS.items() if kind.fetch} == {
        *("multi30k", "everyday"),
        *sources.IWSLT,
    }
    fixed = [(address, everyday.SHA256) for address in everyday.ADDRESSES]
    for addresses in map(dict, (*sources.IWSLT.values(), fixed)):
        assert len(addresses) == 2
        assert all(address.startswith("https://") for address in addresses)
        assert {len(checksum) for checksum in addresses.values()} <= {32, 64}


def test_a_campaign_is_fetched_into_a_folder_or_the_cache(addresses, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRANSFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sources.IWSLT, "iwslt14", ((addresses["good"], MD5),))
    assert fetch_data("iwslt14", tmp_path / "here") == tmp_path / "here" / "iwslt14.tgz"
    assert fetch_data("iwslt14") == tmp_path / "cache" / "iwslt14" / "iwslt14.tgz"
    with pytest.raises(
        ValueError, match="no corpus 'wmt' to fetch; there are multi30k, everyday, iwslt14"
    ):
        fetch_data("wmt")


def test_other_languages_are_not_fetched_but_asked_for() -> None:
    with pytest.raises(DataError, match="for fr and en name a folder or archive with --data"):
        iwslt_corpus("iwslt16", None, source="fr")


def test_multi30k_is_fetched_file_by_file(server, tmp_path, monkeypatch) -> None:
    address, folder = server
    (folder / "train.de.gz").write_bytes(CONTENT)
    monkeypatch.setattr(multi30k, "SHA256", {"train.de.gz": SHA256})
    monkeypatch.setattr(multi30k, "ADDRESSES", (address + "/{name}",))
    assert fetch_data("multi30k", tmp_path / "here") == tmp_path / "here"
    assert Path(tmp_path, "here", "train.de.gz").read_bytes() == CONTENT
