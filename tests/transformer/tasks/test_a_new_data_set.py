"""The recipe for a data set beside the loaders, followed to the letter in a copy of the package."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import transformer

PACKAGE = Path(transformer.__file__).parent
RECIPE = PACKAGE / "data" / "README.md"
TINY = ["--d-model", "16", "--d-ff", "16", "--n-heads", "2", "--n-layers", "1"]
# Each line of standard input is a command, as JSON.
COMMANDS = """
import json, sys
from transformer.command_line.cli import main
for line in sys.stdin:
    print("$", line, end="")
    sys.argv = ["transformer", *json.loads(line)]
    try:
        main()
    except SystemExit as end:
        print("exit", end.code)
"""


def recipe() -> dict[str, str]:
    """The files that it tells to write, and what it shows of them."""
    section = RECIPE.read_text("utf-8")
    shown = re.findall(r"`(transformer/\S+\.py)`.*?```python\n(.*?)```", section, re.DOTALL)
    return {path: "\n".join(line[3:] for line in code.split("\n")) for path, code in shown}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the commands say, in a copy of the package with the recipe's files and no other."""
    root = tmp_path_factory.mktemp("clone")
    shutil.copytree(PACKAGE, root / "transformer", ignore=shutil.ignore_patterns("__pycache__"))
    for path, code in recipe().items():
        assert not (root / path).exists()
        (root / path).write_text(code, "utf-8")
    lines = [
        f"Wer {i} sagt, muss auch {i + 1} sagen .\tIn for {i}, in for {i + 1} ." for i in range(60)
    ]
    (root / "proverbs.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    data = ["--data", "proverbs.tsv"]
    commands = [
        ["train", "--help"],
        ["train", "proverbs", *data, "--steps", "2", "--vocab-size", "300", *TINY],
        ["evaluate", "runs/proverbs", *data],
        ["train", "proverbs"],
        ["evaluate", "runs/proverbs"],
        ["train", "proverbs", *data, "--source", "de"],
        ["train", "proverbs", "--data", "nowhere.tsv", "--out", "runs/none"],
        ["fetch", "proverbs"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        input="".join(json.dumps(command) + "\n" for command in commands),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
        check=True,
    )
    return " ".join(done.stdout.replace("│", " ").split())


def test_the_recipe_is_four_files() -> None:
    assert list(recipe()) == ["transformer/data/proverbs.py", "transformer/tasks/proverbs.py"]
    section = RECIPE.read_text("utf-8")
    assert re.findall(r"`(tests/\S+)`: what|`(tests/\S+)`: that", section) == [
        ("tests/transformer/data/test_proverbs.py", ""),
        ("", "tests/transformer/tasks/test_proverbs.py"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "sentence",
    [
        "proverbs a thousand proverbs: BLEU 12; ten minutes on a CPU",  # in the help
        "iwslt14, iwslt16, iwslt17: folder or archive of the campaign; downloaded unless given. "
        "proverbs: the file of proverbs. text: a folder, a .tsv file",
        "all 2 steps are done",
        "test: BLEU",
        "runs/proverbs exit 0",
        "the task proverbs needs --data",
        "the task proverbs has no such thing; leave out --source",
        "there is no file nowhere.tsv",
        "no corpus 'proverbs' to fetch; there are multi30k, everyday, iwslt14",
    ],
)
def test_every_command_knows_the_task(said: str, sentence: str) -> None:
    assert sentence in said


@pytest.mark.slow
def test_a_run_is_scored_at_its_end_and_again_by_evaluate_which_needs_the_data(said: str) -> None:
    assert said.count("of 10 exact") == 2
    assert said.count("the task proverbs needs --data") == 2
