"""What the lecturers' page promises: the decks' minutes, and solutions whose numbers are right."""

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import yaml

from book._ext.slides import Mark, read_mark
from transformer import TransformerConfig
from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.decoding.beam import penalty
from transformer.embedding import sinusoidal_positions
from transformer.training import label_smoothing_loss, noam_rate

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/lecturers.md").read_text()
SOLUTIONS = (ROOT / "book/lecturers/exam_solutions.md").read_text()
ROW = re.compile(r"\{ref\}`(chapter-[\w-]+)` +\| +(\d+) +\|")
SESSION = re.compile(r"^\| \d+ \| (.*?) \|([\d +]*)\|", re.MULTILINE)
COMMENT = re.compile(r"(?:^%.*\n)+", re.MULTILINE)


def slides_of(chapter: Path) -> list[Mark]:
    """The marks with which the slides of a chapter begin."""
    comments = (
        "\n".join(line.removeprefix("%").strip() for line in comment.splitlines())
        for comment in COMMENT.findall(chapter.read_text())
    )
    return [mark for mark in map(read_mark, comments) if mark and mark.title]


def minutes_of(label: str) -> float:
    """The minutes of a chapter's deck, by its marks."""
    chapters = [path for path in ROOT.glob("book/*/*.md") if f"({label})=" in path.read_text()]
    (chapter,) = chapters
    return sum(mark.minutes for mark in slides_of(chapter))


def numbered_chapters() -> list[str]:
    """The chapters that have a number, which are those that are lectured on."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    return [each["file"] for part in parts if part.get("numbered") for each in part["chapters"]]


@pytest.mark.parametrize("chapter", numbered_chapters())
def test_each_chapter_has_a_deck_for_an_hour_at_most(chapter: str) -> None:
    slides = slides_of(ROOT / f"{chapter}.md")
    assert 8 <= len(slides) <= 16
    assert 30 <= sum(slide.minutes for slide in slides) <= 60


def section(title: str) -> str:
    """The text of a plan."""
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    return text


def plan(title: str) -> dict[str, int]:
    """The decks of a plan, with the minutes that its table names."""
    return {label: int(minutes) for label, minutes in ROW.findall(section(title))}


@pytest.mark.parametrize(("title", "decks"), [("Ninety minutes", 2), ("A week", 10)])
def test_a_plan_has_the_minutes_of_its_decks(title: str, decks: int) -> None:
    named = plan(title)
    assert len(named) == decks
    assert named == {label: minutes_of(label) for label in named}


def test_a_session_of_the_seminar_has_the_minutes_of_its_decks() -> None:
    sessions = SESSION.findall(section("A seminar"))
    assert len(sessions) == 15
    for chapters, named in sessions:
        minutes = map(minutes_of, re.findall(r"chapter-[\w-]+", chapters))
        assert named.strip() == " + ".join(f"{each:g}" for each in minutes if each)


def test_the_short_plan_fits_into_ninety_minutes() -> None:
    total = sum(plan("Ninety minutes").values())
    assert f"That makes {total} minutes" in PAGE
    assert total <= 90


def test_no_morning_of_the_week_is_longer_than_ninety_minutes() -> None:
    rows = re.findall(r"^\| (\d) \|.*?\| +(\d+) +\|", section("A week"), re.MULTILINE)
    days: dict[str, int] = {}
    for day, minutes in rows:
        days[day] = days.get(day, 0) + int(minutes)
    assert len(days) == 5
    assert max(days.values()) <= 90


def test_each_question_has_a_solution_and_no_page_leads_to_them() -> None:
    questions = [int(n) for n in re.findall(r"^(\d+)\. ", PAGE, re.MULTILINE)]
    solutions = [int(n) for n in re.findall(r"^\*\*(\d+)\.\*\*", SOLUTIONS, re.MULTILINE)]
    assert questions == solutions == list(range(1, 18))
    assert "exam_solutions" not in (ROOT / "_toc.yml").read_text()
    pages = [path for path in ROOT.glob("book/**/*.md") if "exam_solutions" in path.read_text()]
    assert pages == [ROOT / "book/lecturers.md"]
    assert not re.search(r"\]\([^)]*exam_solutions|`[^`]*<[^>]*exam_solutions", PAGE)


def solution(number: int) -> str:
    """The text of a solution, with a plain minus."""
    marks = [*re.finditer(r"^\*\*\d+\.\*\*", SOLUTIONS, re.MULTILINE)]
    ends = [mark.start() for mark in marks] + [len(SOLUTIONS)]
    begin, end = [*pairwise(ends)][number - 1]
    return " ".join(SOLUTIONS[begin:end].replace("−", "-").split())


def weights_of(*scores: float) -> list[str]:
    return [f"{w:.3f}" for w in torch.tensor(scores).softmax(-1)]


def attention_by_hand() -> list[str]:
    query, keys = torch.tensor([[2.0, 1]]), torch.tensor([[1.0, 0], [0, 1], [1, 1]])
    output, weights = scaled_dot_product_attention(query, keys, torch.tensor([[6.0], [0], [12]]))
    return [*(f"{w:.3f}" for w in weights[0]), f"output {output.item():.2f}"]


def parameters(d_k: int) -> str:
    return f"{sum(p.numel() for p in MultiHeadAttention(256, 4, d_k, 64).parameters()):,}"


def positions() -> list[str]:
    table = sinusoidal_positions(16, 4)
    assert torch.isclose(table[3] @ table[5], table[13] @ table[15])
    return [*(f"{x:.3f}" for x in table[3]), f"{table[3] @ table[5]:.3f}"]


def smoothed() -> list[str]:
    wanted = torch.tensor([[0.02, 0.92, 0.02, 0.02, 0.02]])
    floor, _ = label_smoothing_loss(wanted.log(), torch.tensor([1]), 0.1, pad_id=0)
    return ["0.92", "0.02", f"{floor.item():.3f} nats"]


def cache_of_fifty() -> str:
    base = TransformerConfig.base()
    return f"{base.n_layers * 2 * base.d_model * 50:,}"


def hypotheses() -> list[str]:
    both = {(-4.0, 5): penalty(5, 0.6), (-4.6, 9): penalty(9, 0.6)}
    scores = [total / divisor for (total, _), divisor in both.items()]
    assert scores[1] > scores[0]
    return [*(f"{p:.3f}" for p in both.values()), *(f"{score:.2f}" for score in scores)]


NUMBERS = {
    2: [f"standard deviation {math.sqrt(64):.0f}"],
    5: attention_by_hand(),
    6: [", ".join(weights_of(1.0, 0.0, -math.inf)[:2]), ", ".join(weights_of(1.0, 0.0, 0.0))],
    7: [parameters(64), parameters(16)],
    8: ["(32, 8, 15, 20)", f"{32 * 8 * 15 * 20:,}"],
    9: positions(),
    10: [f"{noam_rate(step, 512, 4000):.6f}" for step in (1000, 4000, 16_000)],
    11: smoothed(),
    12: [f"{0.6 * 0.4:.2f}", f"{0.4 * 0.9:.2f}"],
    13: hypotheses(),
    14: [f"{sum(range(11))} and 10", cache_of_fifty()],
    17: [f"{64**2 * 512:,}", f"{64 * 512**2:,}, {512 // 64} times", "$n$ = 512"],
}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_numbers_of_a_solution_are_computed(number: int) -> None:
    for each in NUMBERS[number]:
        assert each in solution(number)
