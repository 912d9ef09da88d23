"""What book/results holds says which command made it, and at which commit that command is there."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from transformer_book.results import recorded

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "book/results").glob("*.json"))
# Of these the second word says which module works.
DRIVERS = {"benchmarks", "measurements"}
# The second edition was written on a branch whose commits were joined into one (book/about.md says
# so too). What was measured on the branch names its commits; the commands stand in the one.
JOINED = "419e82a2d6"
ON_THE_BRANCH = {
    *("d95378829b", "9f7d8a1faf", "503cbfd44b", "12d5c5c0d9", "bd8cf80caa", "a1df24e820")
}


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )


def origins(value: Any) -> Iterator[dict[str, Any]]:
    """All that names a command: the record, its parts, the models that it is about."""
    if isinstance(value, dict):
        if "command" in value:
            yield value
        value = [*value.values()]
    if isinstance(value, list):
        for part in value:
            yield from origins(part)


def module_of(command: str) -> str:
    """The file of the module that a command runs."""
    python, m, module, name, *_ = [*command.split(), ""]
    assert (python, m) == ("python", "-m"), command
    if module in DRIVERS:
        return f"{module}/{name}.py"
    return f"{module.replace('.', '/')}.py" if "." in module else f"{module}/__main__.py"


@pytest.mark.parametrize("name", NAMES)
def test_every_record_says_where_it_comes_from(name: str) -> None:
    result = recorded(name)
    if "records" in result:  # one for each time that its command was run
        assert {run["record"] for run in result["runs"]} == set(range(len(result["records"])))
    parts = [result] if "command" in result else result.get("records")
    parts = parts or [*origins(result)]
    assert parts
    for part in parts:
        assert part["hardware"]
        assert part["versions"]["torch"]
    for part in origins(result):
        assert part["commit"]
        assert "dirty" not in part["commit"]
        assert module_of(part["command"])
        assert not any(Path(word.split("=")[-1]).is_absolute() for word in part["command"].split())


@pytest.mark.parametrize("name", NAMES)
def test_the_command_of_a_record_is_there_at_its_commit(name: str) -> None:
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("earlier commits are not here")
    for part in origins(recorded(name)):
        commit = JOINED if part["commit"][:10] in ON_THE_BRANCH else part["commit"]
        found = git("cat-file", "-e", f"{commit}:{module_of(part['command'])}")
        assert found.returncode == 0, f"{part['command']}: {found.stderr}"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("python -m transformer train toy", "transformer/__main__.py"),
        ("python -m tools.colab", "tools/colab.py"),
        ("python -m measurements gpu --out gpu.json", "measurements/gpu.py"),
    ],
)
def test_a_command_is_known_by_its_file(command: str, file: str) -> None:
    assert module_of(command) == file
    assert (ROOT / file).exists()


def test_the_talks_recipe_holds_what_was_planned_and_no_sentence_of_a_talk() -> None:
    record = recorded("talks_recipe")
    assert list(record["lines"]) == record["planned"]
    assert "quoted" not in record
    assert not any("outputs" in found for found in record["lines"].values())
