"""Files from the network: pinned by checksum, from several addresses, cached (by pooch)."""

import os
from collections.abc import Sequence
from pathlib import Path

from transformer.data.parallel import DataError

SECONDS_TO_WAIT = 30
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
    path = folder / name
    sources = [(item, checksum) if isinstance(item, str) else item for item in addresses]
    known = {address: _kind(digits) + ":" + digits for address, digits in sources}
    if path.is_file() and any(_has(path, expected) for expected in known.values()):
        return path
    failures = []
    for address, expected in known.items():
        try:
            found = pooch.retrieve(
                address,
                known_hash=expected,
                fname=name,
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=SECONDS_TO_WAIT),
            )
            return Path(found)
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
