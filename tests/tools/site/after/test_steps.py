"""The steps after the pages: each page is read once and written once."""

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools.site import EXTENSIONS, OF_PAGES
from tools.site.after.steps import AFTER_THE_PAGES, finish, run
from tools.site.pages import Page, Site

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def app(tmp_path: Path) -> Any:
    (tmp_path / "book").mkdir()
    for name in ("book/one.html", "book/two.html"):
        (tmp_path / name).write_text("old\n")
    return SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(name="html"))


def test_steps_see_what_those_before_have_changed_and_only_that_is_written(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    writes: list[Path] = []
    read, write = Path.read_bytes, Path.write_bytes

    def noting_read(path: Path) -> bytes:
        reads.append(path)
        return read(path)

    def noting_write(path: Path, data: Any) -> int:
        writes.append(path)
        return write(path, data)

    monkeypatch.setattr(Path, "read_bytes", noting_read)
    monkeypatch.setattr(Path, "write_bytes", noting_write)

    def change(app: Any, site: Site) -> None:
        site.pages["book/one.html"].text = "new\n"
        site.put("moved/three.html", "three\n")

    def change_again(app: Any, site: Site) -> None:
        assert site.pages["moved/three.html"].text == "three\n"
        site.pages["book/one.html"].text += "newer\n"

    run(app, (change, change_again))
    one, two, three = (
        app.outdir / p for p in ("book/one.html", "book/two.html", "moved/three.html")
    )
    assert sorted(reads) == [one, two]
    assert sorted(writes) == [one, three]
    assert (one.read_text(), two.read_text(), three.read_text()) == (
        "new\nnewer\n",
        "old\n",
        "three\n",
    )


def test_a_page_that_is_removed_is_not_there_for_later_steps(app: Any) -> None:
    def remove(app: Any, site: Site) -> None:
        site.remove(app.outdir / "book/one.html")

    def read(app: Any, site: Site) -> None:
        assert [*site.pages] == ["book/two.html"]

    run(app, (remove, read))
    assert not (app.outdir / "book/one.html").exists()


def test_a_page_that_reads_as_before_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"a\r\nb\n")
    page = Page(path)
    assert page.text == "a\r\nb\n" and not page.changed
    page.text = "c"
    assert page.changed
    page.write()
    assert path.read_text() == "c" and not page.changed


def test_nothing_is_done_after_a_build_that_failed_and_for_other_builders(app: Any) -> None:
    finish(app, ValueError("a chapter"))
    app.builder.name = "revealjs"
    finish(app, None)
    assert not (app.outdir / "sitemap.xml").exists()


def test_the_policy_comes_after_what_changes_pages_and_the_worker_last() -> None:
    names = [step.__name__ for step in AFTER_THE_PAGES]
    assert len(set(names)) == len(names)
    changing = ("write_pages", "write_anchors", "write_files", "write_sheets")
    assert max(map(names.index, changing)) < names.index("add_policies")
    assert names.index("merge_sheets") < names.index("remove_needless") < names.index("publish")
    assert names[-1] == "write_worker"


def test_what_only_pages_have_is_among_the_extensions() -> None:
    assert set(EXTENSIONS) > OF_PAGES


@pytest.mark.parametrize(
    ("folder", "above"),
    [("extensions", ("after", "formats")), ("after", ("formats", "book")), ("formats", ("book",))],
)
def test_the_folders_of_the_site_know_only_of_those_below(folder: str, above: tuple[str]) -> None:
    for path in (ROOT / "tools/site" / folder).glob("*.py"):
        imported = {part for name in imports(path) for part in name.split(".")[2:3]}
        assert not imported & {*above}, path.name


def imports(path: Path) -> set[str]:
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    plain = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    found = [n for n in nodes if isinstance(n, ast.ImportFrom)]
    named = plain | {f"{n.module}.{alias.name}" for n in found for alias in n.names}
    return {name for name in named if name.startswith("tools.site.")}
