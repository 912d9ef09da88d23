"""Files from the network: pinned by checksum, from several addresses, cached (by pooch)."""

import io
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from transformer.data.limits import DataError
from transformer.support.files import FileError, read_limited, write_atomically

LARGEST_DOWNLOAD = 2**30
SECONDS_TO_WAIT = 30
NOTES = ".sha256"  # the end of the name of the file that keeps what was fetched at first
ALGORITHMS = {32: "md5", 64: "sha256"}  # by the number of hexadecimal digits
SHOWN = {"md5": "MD5", "sha256": "SHA-256"}


def cache_folder() -> Path:
    """Where downloads are kept: $TRANSFORMER_CACHE, or the user's cache folder."""
    import pooch

    return Path(os.environ.get("TRANSFORMER_CACHE") or pooch.os_cache("transformer-book"))


def fetch(
    name: str,
    checksum: str,
    addresses: Sequence[str | tuple[str, str]],
    folder: Path | None = None,
) -> Path:
    """The file `name` from the cache, or from the first address that gives the right content.

    An MD5 tells damage, but not whether somebody has made two files of one MD5. So of the first
    file that has an expected MD5 the SHA-256 is noted beside it, in `name.sha256`, and from then
    on no other file is taken for it.

    Args:
        name: the file's name in the cache.
        checksum: of its content, SHA-256 or MD5 in hexadecimal digits.
        addresses: URLs to try in turn; a pair is a URL whose file has a checksum of its own.
        folder: where to keep it; the cache folder when None.

    Raises:
        DataError: no address gave it; the message tells what each said, what was expected and
            how to supply the file by hand.
        ValueError: a checksum has a length that belongs to neither kind.
    """
    import pooch

    folder = folder or cache_folder()
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file; name a folder for {name}")
    path = folder / name
    sources = [(item, checksum) if isinstance(item, str) else item for item in addresses]
    known = {address: _kind(digits) + ":" + digits for address, digits in sources}
    if path.is_file() and (fitting := [each for each in known.values() if _has(path, each)]):
        if all(_as_noted(path, each) for each in fitting):
            return path
        raise DataError(
            f"{path} has the MD5 that it should have, but another SHA-256 than the file that was "
            f"fetched at first ({path.name}{NOTES} has that one): somebody may have put it there. "
            "Take both files away and fetch again"
        )
    failures = []
    for address, expected in known.items():
        try:
            pooch.retrieve(
                address, known_hash=expected, fname=name, path=folder, downloader=_download
            )
            if _as_noted(path, expected):
                return path
            path.unlink()
            failures.append(f"  {address}: the content has another SHA-256 than at first")
        except Exception as error:  # whatever goes wrong at one address, the next may work
            failures.append(f"  {address}: {_in_short(error)}")
    sums = [each.split(":") for each in dict.fromkeys(known.values())]
    wanted = " or ".join(f"{SHOWN[kind]} {digits}" for kind, digits in sums)
    raise DataError(
        f"could not download {name}:\n"
        + "\n".join(failures)
        + f"\nExpected a file with {wanted}. Check the network; or fetch the file by hand "
        f"and put it at {path}, or into a folder that you name with --data"
    )


def _kind(checksum: str) -> str:
    if len(checksum) not in ALGORITHMS or not set(checksum) <= set("0123456789abcdef"):
        raise ValueError(f"{checksum!r} is neither a SHA-256 nor an MD5 in hexadecimal digits")
    return ALGORITHMS[len(checksum)]


def _download(address: str, path: str, caller: Any) -> None:
    """What pooch calls to fill a temporary file, which takes no more than LARGEST_DOWNLOAD."""
    import pooch

    # Were the answer packed for its way, unpacking it here could make a large one of a small one.
    headers = {"Accept-Encoding": "identity"}
    downloader = pooch.HTTPDownloader(timeout=SECONDS_TO_WAIT, headers=headers)
    with _Bounded(path, "w") as file:
        downloader(address, file, caller)


class _Bounded(io.FileIO):
    """A file that ends a download that is too long."""

    def write(self, content: Any, /) -> int:
        if self.seek(0, io.SEEK_CUR) + len(content) > LARGEST_DOWNLOAD:
            raise ValueError(f"longer than {LARGEST_DOWNLOAD / 2**20:,.0f} MB")
        return super().write(content)


def _as_noted(path: Path, expected: str) -> bool:
    """Whether a file with an expected MD5 is the one that was first found to have it; noted now."""
    import pooch

    if expected.startswith("sha256"):
        return True
    notes = path.with_name(path.name + NOTES)
    lines = read_limited(notes, 2**16).decode().splitlines() if notes.exists() else []
    parts = [line.split() for line in lines]
    noted = {pair[1]: pair[0] for pair in parts if len(pair) == 2}
    digits = pooch.file_hash(str(path), alg="sha256")
    if expected not in noted:
        text = "".join(f"{line}\n" for line in [*lines, f"{digits}  {expected}"])
        with suppress(FileError):  # a folder that may only be read
            write_atomically(notes, text.encode())
    return noted.get(expected, digits) == digits


def _has(path: Path, expected: str) -> bool:
    import pooch

    kind, digits = expected.split(":")
    try:
        return pooch.file_hash(str(path), alg=kind) == digits
    except OSError:
        return False


def _in_short(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    if "hash" in text:
        return "the content has another checksum (a web page or a damaged file in its place?)"
    return f"{type(error).__name__}: {text[:200]}"
