"""What is said and done when npm, which brings the checkers of the widgets' scripts, dies."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools import check, front_ends

Npm = Callable[..., int]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a lock file, in which nothing is installed."""
    (tmp_path / "tools/front_end").mkdir(parents=True)
    (tmp_path / "tools/front_end/package-lock.json").write_text("{}")
    return tmp_path


def npm_that(folder: Path, ends: Iterator[tuple[int, bool]]) -> Npm:
    """An npm whose runs end with these statuses, having installed all or half of it."""

    def npm(arguments: list[str]) -> int:
        assert arguments[0] == "ci"
        status, whole = next(ends)
        for program in (front_ends.TSC, *([front_ends.ESLINT] if whole else [])):
            path = folder / "tools/front_end/node_modules" / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return status

    return npm


@pytest.mark.parametrize("death", [(1, False), (0, False), (1, True)])
def test_npm_that_dies_once_gets_a_second_try(
    project: Path, monkeypatch: pytest.MonkeyPatch, death: tuple[int, bool]
) -> None:
    ends = iter([death, (0, True)])
    monkeypatch.setattr(front_ends, "npm", npm_that(project, ends))
    assert front_ends.install(project)
    assert next(ends, None) is None  # both tries were made
    assert front_ends.install(project)  # and no third is: it is there


def test_npm_that_dies_twice_fails_the_step_which_says_that_nothing_was_checked(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = iter([(1, False), (7, False), (0, True)])
    monkeypatch.setattr(front_ends, "npm", npm_that(project, ends))
    monkeypatch.setattr(check, "ROOT", project)
    result = check.scripts()
    assert not result.passed
    assert result.what.startswith("NOT checked")
    assert list(ends) == [(0, True)]  # there was no third try
    said = capsys.readouterr().out
    assert "status 7 at the second try too, so the widgets' scripts were not checked" in said
    assert not (project / "tools/front_end/node_modules").exists()
