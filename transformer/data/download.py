"""Files from the network: pinned by checksum, from several addresses, cached (by pooch)."""

import os
from collections.abc import Sequence
from pathlib import Path

from transformer.data.parallel import DataError

SECONDS_TO_WAIT = 30


def cache_folder() -> Path:
    """Where downloads are kept: $TRANSFORMER_CACHE, or the user's cache folder."""
    import pooch

    return Path(os.environ.get("TRANSFORMER_CACHE") or pooch.os_cache("transformer-book"))


def fetch(name: str, sha256: str, addresses: Sequence[str], folder: Path | None = None) -> Path:
    """The file `name` from the cache, or from the first address that gives the right content.

    Args:
        name: the file's name in the cache.
        sha256: the checksum of its content.
        addresses: URLs to try in turn.
        folder: where to keep it; the cache folder when None.

    Raises:
        DataError: no address gave it; the message tells what each said, what was expected and
            how to supply the file by hand.
    """
    import pooch

    folder = folder or cache_folder()
    failures = []
    for address in addresses:
        try:
            path = pooch.retrieve(
                address,
                known_hash=f"sha256:{sha256}",
                fname=name,
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=SECONDS_TO_WAIT),
            )
            return Path(path)
        except Exception as error:  # whatever goes wrong at one address, the next may work
            failures.append(f"  {address}: {_in_short(error)}")
    raise DataError(
        f"could not download {name}:\n"
        + "\n".join(failures)
        + f"\nExpected a file with SHA-256 {sha256}. Check the network; or fetch the file by hand "
        f"and put it at {folder / name}, or into a folder that you name with --data"
    )


def _in_short(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    if "hash" in text:
        return "the content has another checksum (a web page or a damaged file in its place?)"
    return f"{type(error).__name__}: {text[:200]}"
