"""Threads that wait give up their core soon, in a command as under make; nowhere else is it set."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
(SPINS,) = re.findall(r"GOMP_SPINCOUNT \?= (\d+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
NAMES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
# Stands for torch: says what the settings are at the moment when it is loaded, and ends there.
TORCH = f"""
import os
os.write(1, str([os.environ.get(name) for name in {NAMES}]).encode())
os._exit(0)
"""


def settings_when_torch_is_loaded(tmp_path: Path, *arguments: str, **environ: str) -> str:
    (tmp_path / "torch.py").write_text(TORCH, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in NAMES}
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**kept, "PYTHONPATH": path, **environ},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("package", ["transformer", "transformer_book"])
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, [SPINS, None]),
        ({"GOMP_SPINCOUNT": "7"}, ["7", None]),
        ({"OMP_WAIT_POLICY": "active"}, [None, "active"]),
    ],
)
def test_a_command_sets_it_before_torch_is_loaded_unless_somebody_has(
    package: str, environ: dict[str, str], expected: list[str | None], tmp_path: Path
) -> None:
    found = settings_when_torch_is_loaded(tmp_path, "-m", package, "--help", **environ)
    assert found == str(expected)


def test_a_program_that_imports_the_package_keeps_its_own(tmp_path: Path) -> None:
    found = settings_when_torch_is_loaded(tmp_path, "-c", "import transformer")
    assert found == "[None, None]"
