"""The track as a notebook: made from the catalogue, and it runs, written out or not."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.site.formats.notebooks import write_notebooks
from tools.site.formats.track_notebook import track_notebook

from transformer_book.exercises import EXERCISES, skeleton, solution
from transformer_book.exercises.track import Parts
from transformer_book.exercises.track.parts import STANDS

ROOT = Path(__file__).resolve().parents[4]
SITE = "https://example.org/site"
BEFORE = 2  # code cells: what installs the module, and what begins


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    return track_notebook(ROOT, SITE, "install_book()")


def codes(notebook: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook: nbformat.NotebookNode) -> str:
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def run(cells: list[str]) -> dict[str, Any]:
    """What the cells leave, one after another in one namespace."""
    names: dict[str, Any] = {}
    for number, source in enumerate(cells):
        exec(compile(source, f"<cell {number}>", "exec"), names)
    return names


def test_every_exercise_has_a_cell_to_fill_in_and_a_check(notebook) -> None:
    cells = codes(notebook)[BEFORE : BEFORE + len(EXERCISES)]
    for name, source in zip(EXERCISES, cells, strict=True):
        assert source == f"{str(skeleton(name)).rstrip()}\n\n\nmine.check({name})"
    assert codes(notebook)[0] == "install_book()"
    assert codes(notebook)[1].startswith("import math\n\nimport torch\n")


def test_titles_hints_solutions_and_chapters_come_from_the_catalogue(notebook) -> None:
    text = texts(notebook)
    for number, (name, exercise) in enumerate(EXERCISES.items(), 1):
        assert f"### {number}. {exercise.title}\n" in text
        assert f"]({SITE}/book/{exercise.chapter}.html)" in text
        assert str(solution(name)).rstrip() in text
        assert all(hint in text for hint in exercise.hints)
    assert text.count("<summary>Our solution</summary>") == len(EXERCISES)
    assert "## [Attention](" in text


def test_the_same_catalogue_gives_the_same_file(notebook) -> None:
    again = track_notebook(ROOT, SITE, "install_book()")
    assert nbformat.writes(again) == nbformat.writes(notebook)


def test_it_lies_beside_the_chapters_notebooks(tmp_path: Path) -> None:
    wheel = "transformer_book-0.1.0-py3-none-any.whl"
    (path,) = write_notebooks(ROOT, tmp_path, [], wheel, SITE)
    assert path == tmp_path / "build_it_yourself.ipynb"
    written = nbformat.read(path, as_version=4)
    nbformat.validate(written)
    assert f"{SITE}/notebooks/{wheel}" in codes(written)[0]


@pytest.mark.slow
def test_it_runs_with_solutions_filled_in(notebook, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", "smoke")
    cells = codes(notebook)[1:]
    for number, name in enumerate(EXERCISES, 1):
        cells[number] = f"{solution(name)}\n\nassert mine.check({name})"
    names = run(cells)
    said = capsys.readouterr().out
    assert isinstance(names["mine"], Parts) and [*names["mine"].yours] == [*EXERCISES]
    assert f"{len(STANDS)} of {len(STANDS)} parts are yours." in said
    assert "✗" not in said
    assert (names["copying"].total, names["translating"].total) == (20, 20)


@pytest.mark.slow
def test_it_runs_as_it_is(notebook, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", "smoke")
    names = run(codes(notebook)[1:-1])  # but for the longest
    assert not names["mine"].yours
    assert "Ours stand in for all of them." in capsys.readouterr().out
