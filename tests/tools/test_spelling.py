"""Misspelt words are found in all text, American spellings in prose, and quotations keep theirs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROSE = ["--config", str(ROOT / "tools/spelling/prose.cfg")]
PAIRS = [
    line.split("->") for line in (ROOT / "tools/spelling/american.txt").read_text().splitlines()
]


def complaints(folder: Path, text: str, *options: str) -> list[str]:
    """The words that codespell would put into the place of those of a text."""
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", *options, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == (65 if done.stdout else 0), done.stderr
    return [line.rpartition("==> ")[2] for line in done.stdout.splitlines()]


def test_a_misspelt_word_is_found(tmp_path: Path) -> None:
    text = "The wieght of a recieved token\n"  # codespell:ignore
    assert complaints(tmp_path, text) == ["weight", "received"]
    assert complaints(tmp_path, "AER for a caption that ist German\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "The color and behavior of this",
        "| a | the color | its behavior |",
        "a cell\n\n```python\ncolor = 1\n```\n\na color, and its behavior",
    ],
)
def test_american_spelling_is_found_in_prose(tmp_path: Path, text: str) -> None:
    assert complaints(tmp_path, text + "\n", *PROSE) == ["colour", "behaviour"]


@pytest.mark.parametrize(
    "text",
    [
        "the setting `color` of a figure",
        "a cell:\n\n```python\ncolor = behavior\n```\n",
        '(they say "the behavior\nof neighbors")',
        "they say:\n\n> the behavior of neighbors\n> is normalized",
        "<https://example.org/behavior>",
        "| section |\n| --- |\n| 5.4 Regularization | dropout |",
    ],
)
def test_code_and_quotations_keep_their_spelling(tmp_path: Path, text: str) -> None:
    assert complaints(tmp_path, text + "\n", *PROSE) == []


def test_the_list_is_in_order_and_says_something_of_each_word() -> None:
    words = [american for american, _ in PAIRS]
    assert sorted(set(words)) == sorted(words)
    assert all(american != british for american, british in PAIRS)
