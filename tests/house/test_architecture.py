"""The map leads to what is there, and says so where it does not."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
TREE = re.findall(r"^```\n(.*?)^```", MAP, re.DOTALL | re.MULTILINE)[0]
FIRST_SCREEN = 40  # lines of a README that one sees without scrolling far
PATH = r"[\w.]+(?:/[\w.]*)*"


def paths_in_prose(text: str) -> Iterator[str]:
    """What stands between backticks and has a folder, or the name of a file at the root."""
    for name in re.findall(rf"`({PATH})`", text):
        if "/" in name or re.search(r"\.(?:yml|toml|txt|md)$", name):
            yield name


def paths_in_tree(tree: str) -> Iterator[str]:
    """The names in front of each line's text, below the folder that stands further to the left."""
    folder = ""
    for line in tree.splitlines():
        names = re.split(r" {2,}", line.strip())[0].split()
        if not line.startswith(" "):
            folder = names[0] if names[0].endswith("/") else ""
            yield from names
        else:
            yield from (folder + name for name in names if re.fullmatch(PATH, name))


NAMED = sorted({*paths_in_prose(MAP), *paths_in_tree(TREE)})


def gone(path: str, root: Path = ROOT) -> str:
    """A sentence about a path that does not lead to a file, or to a folder if it ends as one."""
    place = root / path
    if place.is_dir() if path.endswith("/") else place.is_file():
        return ""
    nearest = next(folder for folder in place.parents if folder.exists()).relative_to(root)
    return f"ARCHITECTURE.md names {path}, which is gone; what is left of the way is {nearest}/"


@pytest.mark.parametrize("path", NAMED)
def test_every_path_on_the_map_is_there(path: str) -> None:
    assert gone(path) == ""


def test_a_path_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/check.py").touch()
    assert gone("tools/check.py", tmp_path) == gone("tools/", tmp_path) == ""
    assert "names tools/site/book.py, which is gone" in gone("tools/site/book.py", tmp_path)
    assert "left of the way is tools/" in gone("tools/site/book.py", tmp_path)
    assert gone("tools", tmp_path) != "", "a folder is written with a slash"


def test_paths_are_found_in_the_tree_and_in_sentences() -> None:
    tree = "book/     text\nroom/    a room\n  one.py two/     both\n  three/  it and four/\n"
    names = ["book/", "room/", "room/one.py", "room/two/", "room/three/"]
    assert list(paths_in_tree(tree)) == names
    text = "`a/b.py` is `Transformer`, `_toc.yml` is not `make check`, `c/` is a folder"
    assert list(paths_in_prose(text)) == ["a/b.py", "_toc.yml", "c/"]
    assert len(NAMED) > 80


def test_the_map_shows_five_ways_and_explains_twenty_words() -> None:
    ways = MAP.split("## Five ways")[1].split("\n## ")[0]
    assert len(re.findall(r"^\*\*", ways, re.MULTILINE)) == 5
    words = MAP.split("## Twenty words")[1].strip().splitlines()[2:]
    assert len(words) == 20


def test_the_first_screen_of_the_readme_leads_to_the_map() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:FIRST_SCREEN]
    assert "](ARCHITECTURE.md)" in "\n".join(lines)
