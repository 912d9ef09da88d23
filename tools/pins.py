"""Writes the hashes of the pinned versions: `.venv/bin/python -m tools.pins`.

Below each `name==version` of requirements.txt and requirements-cuda.txt stand the SHA-256 of that
version's wheels, as PyPI states them, and pip installs no file that has another. They are those for
the machines on which the book is built: Linux with glibc and macOS, on any CPython from 3.11 on.
Of torch there are PyTorch's own builds for machines without a GPU too, which PyPI does not have.
So neither uv (it writes two torches, `2.13.0` and `2.13.0+cpu`, or PyPI's hashes alone) nor
pip-tools (`2.13.0+cpu`, for one machine) can: theirs is no pin with the hashes of two indexes.
"""

import argparse
import hashlib
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from transformer.support.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
FILES = ("requirements.txt", "requirements-cuda.txt")
PYPI, TORCH = "https://pypi.org/simple", "https://download.pytorch.org/whl/cpu"
HASH = "--hash=sha256:"
LINK = re.compile(r'<a\s[^>]*?href="([^"#]+)#sha256=([0-9a-f]{64})"')
PATIENCE = 60  # seconds without an answer of an index
PLATFORM = re.compile(
    r"any|(?:many)?linux_?.*_(?:x86_64|aarch64)|macosx_.*_(?:x86_64|arm64|universal2)"
)
PYTHON = re.compile(r"py3|cp31[1-9]")

Wheels = dict[str, str]  # the SHA-256 of each, by its file's name


class PinError(Exception):
    """A version cannot be pinned; the message says what to do."""


def ask(index: str, name: str) -> Wheels:
    """The wheels that an index has of a package, as its page lists them (PEP 503).

    Raises:
        OSError: it cannot be reached, or has no such package.
    """
    with urlopen(f"{index}/{canonicalize_name(name)}/", timeout=PATIENCE) as answer:
        links = LINK.findall(answer.read().decode())
    files = {unquote(urlsplit(unescape(url)).path).rpartition("/")[2]: sha for url, sha in links}
    return {file: sha for file, sha in files.items() if file.endswith(".whl")}


def runs_here(tag: Tag) -> bool:
    """Whether a wheel with this tag is for a machine on which the book can be built."""
    python = PYTHON.fullmatch(tag.interpreter) or tag.abi == "abi3"
    return bool(python and not tag.abi.endswith("t") and PLATFORM.fullmatch(tag.platform))


def hashes_of(pin: Requirement, wheels: Wheels) -> set[str]:
    """The SHA-256 of a pinned version's wheels; builds of it such as 2.13.0+cpu are among them."""
    found = set()
    for file, sha in wheels.items():
        try:
            _, version, _, tags = parse_wheel_filename(file)
        except InvalidWheelFilename:
            continue  # of long ago
        if pin.specifier.contains(version, prereleases=True) and any(map(runs_here, tags)):
            found.add(sha)
    return found


def read_pins(text: str) -> list[tuple[str, set[str]]]:
    """The lines of a file of pins: what stands before the hashes, and the hashes."""
    lines = [line.split(HASH) for line in text.replace("\\\n", " ").splitlines()]
    return [(line.strip(), {sha.strip() for sha in hashes}) for line, *hashes in lines]


def write_pins(lines: Iterable[tuple[str, set[str]]]) -> str:
    """The reverse of `read_pins`, each hash on a line of its own."""
    return "".join(
        " \\\n    ".join([line, *(HASH + sha for sha in sorted(hashes))]) + "\n"
        for line, hashes in lines
    )


def renewed(
    line: str,
    kept: set[str],
    pypi: Callable[[str], Wheels],
    torch: Callable[[str], Wheels],
    more: Wheels,
) -> set[str]:
    """The hashes of a line of pins, as the indexes state them today.

    Args:
        line: `name==version`, with a marker or without; for a comment the set is empty.
        kept: the hashes that it has.
        pypi, torch: what PyPI and PyTorch's index have of a package.
        more: further wheels.

    Raises:
        PinError: there is no wheel of this version.
    """
    if not line or line.startswith("#"):
        return set()
    pin = Requirement(line)
    found = hashes_of(pin, pypi(pin.name))
    if not found:
        raise PinError(f"PyPI has no wheel of {line} for us; pin a version that has one")
    if pin.name == "torch":
        try:
            found |= hashes_of(pin, torch(pin.name))
        except OSError as error:
            # Of another version nothing would fit.
            same = found & kept
            print(
                f"PyTorch's own index cannot be reached ({error}): the hashes of its builds",
                "stay as they are" if same else f"are missing for {line}",
            )
            found |= kept if same else set()
    return found | hashes_of(pin, {n: sha for n, sha in more.items() if _is_of(n, pin)})


def _is_of(file: str, pin: Requirement) -> bool:
    return parse_wheel_filename(file)[0] == canonicalize_name(pin.name)


def local(paths: Iterable[Path]) -> Wheels:
    """The wheels in files of this machine.

    Raises:
        OSError: one cannot be read.
    """
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def main(argv: list[str] | None = None) -> int:
    """The command line: all files of pins are renewed, or none."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--index", default=PYPI, help="in the place of PyPI's")
    parser.add_argument("--torch-index", default=TORCH, help="in the place of PyTorch's own")
    parser.add_argument("wheels", nargs="*", type=Path, help="files that may be installed too")
    options = parser.parse_args(argv)
    try:
        more = local(options.wheels)
        lines = {name: read_pins((ROOT / name).read_text()) for name in FILES}
        ask_pypi, ask_torch = partial(ask, options.index), partial(ask, options.torch_index)

        def renew(pin: tuple[str, set[str]]) -> tuple[str, set[str]]:
            line, kept = pin
            try:
                return line, renewed(line, kept, ask_pypi, ask_torch, more)
            except OSError as error:
                raise PinError(f"{options.index} did not answer for {line}: {error}") from error

        with ThreadPoolExecutor(8) as pool:
            new = {name: list(pool.map(renew, pins)) for name, pins in lines.items()}
    except (OSError, PinError, ValueError) as error:
        print(f"Nothing is changed. {error}", file=sys.stderr)
        return 1
    for name, pins in new.items():
        write_atomically(ROOT / name, write_pins(pins).encode())
        numbers = [len(hashes) for _, hashes in pins if hashes]
        print(f"{name}: {len(numbers)} versions, {sum(numbers):,} wheels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
