"""The built pages in memory: each is read once, by the first step that asks, and written once."""

import hashlib
from base64 import b64encode
from functools import cached_property
from pathlib import Path


class Page:
    """One page of the site; a step that changes it assigns `text`."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        """Reads a file, or stands for a new one."""
        self.path = path
        self._before = path.read_bytes().decode() if text is None else None
        self.text: str = text if text is not None else self._before or ""

    @property
    def changed(self) -> bool:
        """Whether the file has another text, or is not there."""
        return self.text != self._before

    def write(self) -> None:
        """Writes it if that changes anything."""
        if self.changed:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(self.text.encode())
            self._before = self.text


class Site:
    """A folder of built pages.

    Attributes:
        out: the folder.
        pages: its pages by their paths in it, such as `book/why/attention.html`.
    """

    def __init__(self, out: Path) -> None:
        """Takes a folder; nothing is read yet."""
        self.out = out

    @cached_property
    def pages(self) -> dict[str, Page]:
        """Read when they are first asked for."""
        paths = (path for path in self.out.rglob("*.html") if path.is_file())
        return {path.relative_to(self.out).as_posix(): Page(path) for path in paths}

    def put(self, name: str, text: str) -> None:
        """A page that no document has, or another text for one that an earlier build has left."""
        if name in self.pages:
            self.pages[name].text = text
        else:
            self.pages[name] = Page(self.out / name, text)

    def remove(self, path: Path) -> None:
        """Removes a file, which may be a page."""
        path.unlink()
        self.pages.pop(path.relative_to(self.out).as_posix(), None)

    def write(self) -> None:
        """Writes those that have changed."""
        for page in self.pages.values():
            page.write()


def integrity(content: bytes) -> str:
    """The hash of a file's content, as browsers compare it."""
    return f"sha256-{b64encode(hashlib.sha256(content).digest()).decode()}"
