"""The end of a proof: what is red, what is unsteady, what took long, and how to run just that."""

from pathlib import Path

import pytest

from tools import check
from tools.check import CHECK, PROVE, ROOT, TEST, Case, Result, cases, closing

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a.TestA" name="test_a[b c]" time="1">
  <failure message="no"/></testcase>
<testcase classname="tests.test_b" name="test_b" time="2"/>
<testcase classname="tests.test_b" name="test_b" time="2.5"/>
<testcase classname="tests.test_b" name="test_c" time="9"><properties>
  <property name="slow" value="yes"/></properties></testcase>
<testcase classname="tests.test_b" name="test_d" time="0">
  <skipped/></testcase>
<testcase classname="" name="tests.tools.test_check" time="0"><error message="no"/></testcase>
</testsuite></testsuites>"""


def test_a_report_is_read_with_the_second_tries(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    red, unsteady, slow, skipped, unread = found = cases(tmp_path / "report.xml")
    assert red == Case("tests/test_a.py::TestA::test_a[b c]", 1.0, failed=True, tries=1)
    assert unsteady == Case("tests/test_b.py::test_b", 4.5, tries=2)
    assert slow.slow and skipped.skipped
    assert unread == Case("tests/tools/test_check.py", failed=True, tries=1)  # not to be imported
    assert check.counts(found) == "2 passed, 2 failed, 1 skipped"


def test_the_last_lines_say_what_to_run_and_what_to_mend(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("TRANSFORMER_TEST_DATA", "/some data")
    (tmp_path / "report.xml").write_text(REPORT)
    result = Result(False, "2 passed", cases(tmp_path / "report.xml"), "look", 12.0)
    said = "\n".join(closing([result, Result(False, "mypy", step="types")], 12.0))
    command, rest = said.splitlines()[-2:]
    assert command.startswith("  CI=true TRANSFORMER_TEST_DATA='/some data' .venv/bin/python -m py")
    assert command.endswith(" 'tests/test_a.py::TestA::test_a[b c]' tests/tools/test_check.py")
    assert rest == "  .venv/bin/python -m tools.check prove --only 'types'"
    assert "FAILED look       12 s  2 passed" in said
    unmarked = said.partition("not marked `slow`")[2].partition("\n\n")[0]
    assert "test_b.py::test_b" in unmarked and "test_c" not in unmarked
    assert "test_b.py::test_b" in said.partition("UNSTEADY")[2].partition("\n\n")[0]


def test_what_is_red_in_firefox_is_run_there_again(monkeypatch) -> None:
    for name in check.GIVEN:
        monkeypatch.delenv(name, raising=False)
    red = [Case("tests/test_a.py::test_a", failed=True)]
    results = [Result(False, "", red, step) for step in ("widgets", "firefox")]
    command = "  .venv/bin/python -m pytest"
    assert [*closing(results, 1.0)][-2:] == [
        f"{command} tests/test_a.py::test_a",
        f"{command} --engine=firefox tests/test_a.py::test_a",
    ]


def test_each_circle_has_the_one_inside_it() -> None:
    assert set(CHECK) < set(TEST)
    assert set(TEST) - {check.look} < set(PROVE), "what it looks at is in pages and widgets"


def test_look_finds_every_test_that_it_should_take() -> None:
    marked = [p for p in ROOT.glob("tests/**/*.py") if "pytest.mark.smoke" in p.read_text("utf-8")]
    assert marked
    for path in {*marked} - {Path(__file__).resolve()}:
        assert path.relative_to(ROOT).as_posix().startswith(check.SMOKE)


def test_steps_are_taken_by_name(tmp_path: Path, monkeypatch, capsys) -> None:
    def slow() -> Result:
        """One that holds."""
        return Result(True, "held")

    monkeypatch.setitem(check.CIRCLES, "prove", (slow, check.widgets))
    monkeypatch.setattr(check, "REPORTS", tmp_path)
    assert check.main(["prove", "--only", "slow"]) == 0
    assert "held" in capsys.readouterr().out
    assert "held" in (tmp_path / "summary.txt").read_text()
    with pytest.raises(SystemExit):
        check.main(["prove", "--only", "slow,nothing"])
    assert "no step is called nothing; there are slow, widgets" in capsys.readouterr().err
