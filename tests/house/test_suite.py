"""The tests themselves: what they need is known, and none is a library for others."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jaxtyping
import psutil
import pytest
import torch

from tests.conftest import shared_out
from tests.helpers.processes import run_program
from transformer.attention import scaled_dot_product_attention

TESTS = Path(__file__).parents[1]

CASES = """
import pytest

@pytest.fixture
def browser():
    raise AssertionError("started for a test that was to be left out")

@pytest.fixture
def page(browser):
    return browser

def test_directly(browser): pass
def test_through_another(page): pass
def test_without(): pass
"""


def test_no_file_of_tests_is_imported_by_another() -> None:
    """What two of them need stands in a file of helpers."""
    asked = re.compile(r"^ *(?:from|import) (?:tests)?\..*\btest_", re.MULTILINE)
    files = TESTS.rglob("*.py")
    assert [file for file in files if asked.search(file.read_text(encoding="utf-8"))] == []


def test_a_tensor_of_a_wrong_shape_is_refused() -> None:
    """Signatures are checked while the tests run: see conftest.py."""
    query, key = torch.ones(1, 2, 3), torch.ones(1, 2, 4)
    with pytest.raises(jaxtyping.TypeCheckError, match="scaled_dot_product_attention"):
        scaled_dot_product_attention(query, key, key)


@pytest.mark.slow
def test_a_test_that_reaches_the_browser_can_be_left_out_by_marker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import pytest_collection_modifyitems\n"
    )
    (tmp_path / "test_cases.py").write_text(CASES)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not browser", "-p", "no:cacheprovider"]
    command += ["-c", str(TESTS.parent / "pyproject.toml"), f"--rootdir={tmp_path}", str(tmp_path)]
    done = run_program(command, timeout=300, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 deselected" in done.stdout


@pytest.mark.parametrize("workers", [2, 3])
def test_each_worker_begins_with_slow_tests_and_keeps_a_files_together(workers: int) -> None:
    kinds = [("a", False)] * 5 + [("b", True)] * 3 + [("b", False), ("c", True), ("d", True)]
    items: list[Any] = [
        SimpleNamespace(path=path, get_closest_marker=lambda name, slow=slow: slow or None)
        for path, slow in kinds
    ]
    ordered = shared_out(items, workers)
    assert sorted(map(id, ordered)) == sorted(map(id, items))
    cuts = [len(items) * n // workers for n in range(workers + 1)]
    shares = [ordered[start:end] for start, end in pairwise(cuts)]
    slow = [[bool(item.get_closest_marker("slow")) for item in share] for share in shares]
    assert slow == [sorted(share, reverse=True) for share in slow]
    assert all(share[0] for share in slow)
    files = [{item.path for item in share if item.get_closest_marker("slow")} for share in shares]
    assert sum(map(len, files)) == 3


@pytest.mark.slow
def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    started, ended = tmp_path / "started", tmp_path / "ended"
    child = f"(sleep 60; touch {ended})"
    program = f"{child} & echo $! > {started}.part; mv {started}.part {started}; wait"
    with pytest.raises(subprocess.TimeoutExpired):
        run_program(["bash", "-c", program], timeout=3)
    assert not ended.exists()  # the child's hold on the pipes was not waited for
    child = int(started.read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie"
