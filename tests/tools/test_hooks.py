"""The hooks of a commit look at what `make check` looks at."""

import re
import tomllib
from pathlib import Path

import yaml

from tools.check import ZIZMOR

ROOT = Path(__file__).resolve().parents[2]


def test_the_type_checker_runs_for_a_change_in_each_folder_that_it_checks() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (mypy,) = (hook for hook in hooks["repos"][0]["hooks"] if hook["id"] == "mypy")
    for folder in settings["tool"]["mypy"]["files"]:
        assert re.search(mypy["files"], f"{folder}/some_file.py"), folder


def test_the_hook_of_the_workflows_asks_what_make_check_asks() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (zizmor,) = (hook for hook in hooks["repos"][0]["hooks"] if hook["id"] == "zizmor")
    assert zizmor["entry"].split() == [".venv/bin/zizmor", *ZIZMOR[1:]]
