"""`python -m measurements`: one list, one set of options, no record that nobody can repeat."""

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import measurements.__main__ as command

HERE = Path(str(command.__file__)).parent
MODULES = {name: import_module(f"measurements.{name}") for name in command.KNOWN}


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int | str | None, str]:
    """How a command ends that measures nothing, and what it says."""
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    printed = capsys.readouterr()
    return ended.value.code, printed.out + printed.err


def test_the_list_names_each_with_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(capsys, "--help")
    assert status == 0
    lines = text.splitlines()
    for name, module in MODULES.items():
        (line,) = (line for line in lines if line.startswith(f"  {name} "))
        assert line.split(maxsplit=1)[1] == (module.__doc__ or "").splitlines()[0]
        assert len(line) <= 120


@pytest.mark.parametrize("name", command.KNOWN)
def test_every_argument_is_described_once_and_can_be_given(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parameters = inspect.signature(command.function_of(MODULES[name])).parameters
    assert parameters.keys() <= command.OPTIONS.keys()
    status, text = said(capsys, name, "--help")
    assert status == 0
    for option in {*parameters, "out"}:
        assert f"--{option}" in text
    assert ("--quick" in text) == (name in command.SIDE_BY_SIDE)
    required = {n for n, p in parameters.items() if p.default is inspect.Parameter.empty}
    if required:
        status, text = said(capsys, name)
        assert status == 2 and all(f"--{option}" in text for option in required)


def test_every_file_is_a_measurement_or_serves_one() -> None:
    files = {path.stem: path.read_text("utf-8") for path in HERE.glob("[!_]*.py")}
    pattern = r"^from measurements(?: import|\.)(.*?)(?: import .*)?$"
    used = {
        x
        for text in files.values()
        for line in re.findall(pattern, text, re.M)
        for x in re.findall(r"\w+", line)
    }
    assert files.keys() - used <= {*command.KNOWN}


def test_defaults_are_those_of_the_function() -> None:
    parser = command.parser_of(["samples"], {"samples": MODULES["samples"]})
    given = vars(parser.parse_args(["--model", "a", "--each", "3"]))
    assert given == {
        **{"out": None, "model": Path("a"), "data": None, "split": "test.de-en"},
        **{"sentences": 1000, "device": None, "each": 3},
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name what is to be measured"),
        (["--quick"], "unrecognized arguments: --quick"),
        (["nothing"], "there is no measurement 'nothing'; there are copy_task, decoding_cache"),
        (["copy_task", "samples"], "samples has a file of its own; name it alone"),
        (["copy_task", "--device", "cpu"], "unrecognized arguments: --device cpu"),
        (["copy_task", "parsing", "--parts", "x"], "unrecognized arguments: --parts x"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, text = said(capsys, *arguments)
    assert status == 2 and sentence in text


@pytest.mark.parametrize("commit", [None, "abc1234-dirty"])
def test_files_that_no_commit_holds_are_not_measured_for_a_record(
    commit: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    begun: list[dict[str, Any]] = []

    def run(quick: bool = False) -> dict[str, Any]:
        begun.append({"quick": quick})
        return {"seed": 0, "results": []}

    true = command.provenance
    monkeypatch.setattr(command, "provenance", lambda device: true(device) | {"commit": commit})
    monkeypatch.setattr(MODULES["copy_task"], "run", run)
    monkeypatch.setattr(MODULES["copy_task"], "table", lambda result: "a table")
    out = tmp_path / "out.json"
    assert command.main(["copy_task", "--out", str(out)]) == 1
    assert "commit, then measure" in capsys.readouterr().err
    assert not begun and not out.exists()
    assert command.main(["copy_task"]) == 0  # to look at, anything goes
    assert command.main(["copy_task", "--quick", "--out", str(out)]) == 0
    assert begun == [{"quick": False}, {"quick": True}]
    told = json.loads(out.read_text())["copy_task"]["record"]["command"]
    assert told == "python -m measurements copy_task --quick --out out.json"
