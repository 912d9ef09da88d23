"""What the lecturers' page promises: decks that fit, and solutions whose numbers are right."""

import math
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from random import Random

import matplotlib.pyplot as plt
import pytest

from tools import exam, handout
from tools.site import goals
from tools.site.after.lecturers import SEED, sheets
from tools.site.chapters import Chapter, numbered
from tools.site.extensions.slide_marks import Mark, read_mark
from tools.site.formats.decks import A_MINUTE

from transformer_book import use_style

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/lecturers.md").read_text()
SOLUTIONS = (ROOT / "book/lecturers/exam_solutions.md").read_text()
ROW = re.compile(r"^\| (?:(\d+) \| )?(\{ref\}.*?) \| (\{minutes\}.*?) \|", re.MULTILINE)


def marks_of(chapter: Path) -> list[Mark]:
    """The marks of a chapter: those with which slides begin, and those that show more there."""
    comments = ("\n".join(b.body) for b in Chapter(chapter).blocks if b.kind == "comment")
    return [mark for mark in map(read_mark, comments) if mark]


def slides_of(chapter: Path) -> list[Mark]:
    """The marks with which the slides of a chapter begin."""
    return [mark for mark in marks_of(chapter) if mark.title]


def minutes_of(label: str) -> float:
    """The minutes of a chapter's deck, by its marks."""
    paths = [ROOT / f"{name}.md" for name in numbered(ROOT)]
    (chapter,) = (path for path in paths if Chapter(path).label == label)
    return sum(mark.minutes for mark in slides_of(chapter))


@pytest.mark.parametrize("chapter", numbered(ROOT))
def test_each_chapter_has_a_deck_for_an_hour_at_most(chapter: str) -> None:
    slides = slides_of(ROOT / f"{chapter}.md")
    assert 8 <= len(slides) < 16  # and one more, which closes it
    assert 30 <= sum(slide.minutes for slide in slides) <= 60


# Of each deck that has spare slides, the one with which its question is answered.
ANSWERS = {
    "why/one_sentence": "Where it looks when it writes *snow*",
    "why/attention": "Four steps, one line",
    "why/why_self_attention": "What the table leaves out",
    "architecture/embedding": "And back: from a vector to a word",
    "architecture/layers": "A Transformer without shortcuts",
    "architecture/masks": "What model B had found",
    "architecture/model": "Where are they? Is it mostly attention?",
    "training/training": "One step of Adam",
    "training/copy_task": "So has it learned to read the answer there?",
    "training/scaling": "A step from parts",
    "translation/first_translation": "Two ways to be new",
    "translation/subwords": "How large a vocabulary?",
    "translation/decoding": "Whose fault is it?",
    "translation/evaluation": "Then read",
    "translation/heads": "And *arrive*?",
    "findings/results": "Four comparisons",
    "findings/iwslt": "As many steps for each amount",
    "findings/ablations": "What came out",
    "findings/parsing": "What it writes instead",
    "findings/errata": "A frequency for each column",
    "findings/since_2017": "How many lines, then?",
}


@pytest.mark.parametrize("chapter", numbered(ROOT))
def test_the_core_of_a_deck_is_a_dozen_slides_with_its_question_and_answer(chapter: str) -> None:
    slides = slides_of(ROOT / f"{chapter}.md")
    core = [slide for slide in slides if not slide.spare]
    assert len(core) < 12  # and one more, which closes it
    assert sum(slide.minutes for slide in core) + A_MINUTE * slides[-1].spare <= 40
    answer = ANSWERS.get(chapter.removeprefix("book/"))
    assert (answer is None) == (core == slides)
    assert slides[0] in core
    assert answer is None or answer in [slide.title for slide in core]


@pytest.mark.parametrize(
    ("chapter", "question"),
    [
        ("why/one_sentence", "How many times do the two halves run?"),
        ("why/one_sentence", "What if it has made a mistake?"),
        ("translation/decoding", "Is the best word at every step the best sentence?"),
        ("translation/decoding", "Wider and wider"),
        ("translation/evaluation", "BLEU near 50: how many sentences are right?"),
        ("translation/heads", "The error rate of an alignment"),
        ("translation/heads", "What attention is not"),
        ("architecture/encoder_decoder", "What need not be computed twice"),
        ("why/attention", "Why divide by the root of $d_k$?"),
        ("findings/ablations", "No dropout, stopped early"),
        ("findings/errata", "Softmax without the exponential"),
        ("findings/errata", "Masking by multiplication"),
    ],
)
def test_a_question_is_there_before_its_answer(chapter: str, question: str) -> None:
    marks = marks_of(ROOT / f"book/{chapter}.md")
    (begun,) = (number for number, mark in enumerate(marks) if mark.title == question)
    shown = [marks[begun]]
    for mark in marks[begun + 1 :]:
        if mark.title:
            break
        shown.append(mark)
    outputs = [mark for mark in shown if mark.show in ("output", "bars", "dots")]
    assert outputs
    assert all(mark.later for mark in outputs)


@pytest.mark.parametrize(
    ("chapter", "question"),
    [
        ("why/attention", "Why divide by the root of $d_k$?"),
        ("findings/errata", "What the paper says of masks"),
    ],
)
def test_a_quotation_that_answers_comes_after_its_question(chapter: str, question: str) -> None:
    (mark,) = (mark for mark in slides_of(ROOT / f"book/{chapter}.md") if mark.title == question)
    assert (mark.show, mark.later) == ("next", True)


def test_readers_write_an_order_down_before_they_see_the_expected_one() -> None:
    chapter = ROOT / "book/findings/ablations.md"
    titles = [mark.title for mark in slides_of(chapter)]
    asked = titles.index("Written down first")
    assert asked < titles.index("The plan, before the runs") < titles.index("What came out")
    text = chapter.read_text()
    question = text.index("*Write down your own order first")
    told = ("planned.expected", "expectation.expected", 'record["factors"]', "outcomes(record)")
    assert all(question < text.index(one) for one in told)


def test_the_deck_of_sixty_lines_begins_with_the_model_that_learns() -> None:
    text = (ROOT / "book/why/twenty_minutes.md").read_text(encoding="utf-8")
    assert (
        text.index("% slide:") < text.index("TrainingPlayground(") < text.index("% slide: The part")
    )


def test_nothing_is_to_be_covered_by_hand() -> None:
    """What waits for its question comes with a later key."""
    for chapter in numbered(ROOT):
        for mark in slides_of(ROOT / f"{chapter}.md"):
            said = " ".join(text for _, text in mark.lines)
            assert not re.search(r"\b[Cc]over (the|with)", said), (chapter, mark.title)


def plan(title: str) -> list[tuple[str, list[str], list[str]]]:
    """The rows of a plan: a number, the chapters, and those whose minutes are asked for."""
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    return [
        (number, re.findall(r"chapter-[\w-]+", chapters), re.findall(r"`(.*?)`", minutes))
        for number, chapters, minutes in ROW.findall(text)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "rows", "days"), [("Ninety minutes", 2, 1), ("A week", 10, 5), ("A seminar", 15, 15)]
)
def test_a_plan_has_the_minutes_of_its_decks_and_no_morning_more_than_ninety(
    title: str, rows: int, days: int
) -> None:
    """A session of the seminar chooses from its decks; the minutes themselves come at the build."""
    totals: dict[str, float] = {}
    for day, chapters, asked in plan(title):
        assert chapters == asked
        totals[day] = totals.get(day, 0) + sum(map(minutes_of, chapters))
    assert (len(plan(title)), len(totals)) == (rows, days)
    assert title == "A seminar" or max(totals.values()) <= 90


def test_each_question_has_a_solution_and_no_page_leads_to_them() -> None:
    questions = [int(n) for n in re.findall(r"^(\d+)\. ", PAGE, re.MULTILINE)]
    solutions = [int(n) for n in re.findall(r"^\*\*(\d+)\.\*\*", SOLUTIONS, re.MULTILINE)]
    assert questions == solutions == list(range(1, 21))
    assert "exam_solutions" not in (ROOT / "_toc.yml").read_text()
    pages = [path for path in ROOT.glob("book/**/*.md") if "exam_solutions" in path.read_text()]
    assert pages == [ROOT / "book/lecturers.md"]
    assert not re.search(r"\]\([^)]*exam_solutions|`[^`]*<[^>]*exam_solutions", PAGE)


def without(address: str) -> float:
    """The minutes that a deck has at an address of the page, with its title and what to keep."""
    ((chapter, out),) = re.findall(r"/slides/(book/.*)\.html\?(?:core|without=(.*))", address)
    slides = slides_of(ROOT / f"{chapter}.md")
    ends = [part.split("-") for part in out.split(",") if part]
    gone = {n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)}
    gone = gone or {n for n, slide in enumerate(slides, 1) if slide.spare}
    minutes = [mark.minutes for mark in slides]
    minutes[0] -= A_MINUTE
    minutes[-1] -= A_MINUTE
    deck = [A_MINUTE, *minutes, A_MINUTE]
    assert gone < set(range(1, len(deck)))
    return sum(each for number, each in enumerate(deck) if number not in gone)


@pytest.mark.parametrize(
    ("title", "taken", "whole", "said"),
    [
        ("Forty-five minutes", [0], 0, "takes {} minutes and keeps"),
        ("Ninety minutes", [0], minutes_of("chapter-encoder-decoder"), "it is {}, and there is"),
        ("Ninety minutes", [1, 2, 3, 4], 0, "{} minutes. To show"),
        ("Ninety minutes", [0, 2, 5, 6], 0, "it is written: {} minutes, 14 of them"),
        ("A week", [0, 1], 0, "it takes {} minutes, and there is time"),
    ],
)
def test_the_shortened_plans_take_as_long_as_is_said(
    title: str, taken: list[int], whole: float, said: str
) -> None:
    """Those links of a section that a plan takes, in their order, and decks that it takes whole."""
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    links = re.findall(r"\[([^\]]*)\]\(([^)]*\?(?:core|without=[^)]*))\)", text)
    assert {*taken} <= {*range(len(links))}
    for words, address in links:
        named = re.findall(r"\d+", words)
        assert named in ([], re.findall(r"\d+", address.partition("=")[2])), words
    total = whole + sum(without(links[n][1]) for n in taken)
    assert said.format(f"{total:g}") in " ".join(text.split())


def test_the_points_of_the_exam_are_minutes_that_are_there() -> None:
    level = r"^\*\*To \w+\*\* \((\d+) points each\)\n(.*?)(?=^\*\*To|\Z)"
    levels = re.findall(level, PAGE, re.MULTILINE | re.DOTALL)
    total = sum(int(points) * len(exam.numbered(text)) for points, text in levels)
    assert len(levels) == 3
    assert f"all questions together make {total} points" in PAGE
    after_the_week = total - 3 * 4 - 8  # three to apply, one to judge
    assert f"leave them out, and {after_the_week} points remain" in " ".join(PAGE.split())
    assert total <= 90


def test_the_sheets_have_an_exam_its_solutions_and_the_goals() -> None:
    """The files of the site are what the commands print, and the questions tell no solution."""
    text = {name: unescape(re.sub("<[^>]*>", "", page)) for name, page in sheets().items()}
    questions, solutions = (
        exam.numbered(part) for part in exam.exam(Random(SEED)).split("# Solutions")
    )
    first = exam.numbered(PAGE[PAGE.index("## Exam questions") :])
    assert [n for n in exam.QUESTIONS if questions[n].split() == first[n].strip().split()] == []
    pages = {"exam": (questions, "88 points"), "solutions": (solutions, "For lecturers")}
    for name, (parts, said) in pages.items():
        shown = " ".join(text[name].split())
        assert said in shown and "python" not in shown
        for part in parts.values():  # formulas are set, so what stands between them
            for plain in re.split(r"\$.*?\$|\*\*.*?\*\*|[*`\n]|^\d+\.", part):
                assert curled(plain).strip() in shown, plain
    assert "Often wrong" in text["solutions"] and "Often wrong" not in text["exam"]
    assert all(curled(goals.goals_of(name)[0]) in text["goals"] for name in numbered(ROOT))
    links = re.findall(r'href="\.\./lecturers/([\w.]+)"', PAGE)
    assert sorted(links) == sorted(["handout.pdf", *(f"{name}.html" for name in sheets())])


def curled(text: str) -> str:
    """A text with the quotation marks of print."""
    return re.sub(r'"(.*?)"', "“\\1”", text).replace("'", "’")


def test_the_marks_of_each_level_add_up_to_its_points() -> None:
    given = dict(re.findall(r"^\*\*To (\w+)\*\* \((\d+) points each\)", PAGE, re.MULTILINE))
    marks = {
        level: (points, sum(int(n) for n in re.findall(r"(?:^|, )(\d) for (?!each)", text)))
        for level, points, text in re.findall(r"^\| to (\w+) \| (\d) \| (.+?) \|$", PAGE, re.M)
    }
    assert {level: points for level, (points, _) in marks.items()} == given
    assert all(total == int(points) for level, (points, total) in marks.items() if level != "know")


def test_a_syllabus_has_the_goals_of_every_chapter() -> None:
    text = goals.syllabus()
    assert len(re.findall(r"^## \d+\. ", text, re.MULTILINE)) == len(numbered(ROOT))
    assert min(len(goals.goals_of(name)[1]) for name in numbered(ROOT)) >= 2
    assert "{" not in re.sub(r"\$.*?\$", "", text)


@pytest.mark.slow
def test_the_hand_out_is_one_page_on_which_nothing_is_cut_off(tmp_path: Path) -> None:
    with plt.rc_context():
        use_style()
        page = handout.handout()
    assert tuple(page.get_size_inches()) == handout.A4
    page.canvas.draw()
    texts = [*page.texts, *page.axes[0].texts]
    assert len(texts) > 40
    width, height = page.canvas.get_width_height()
    for text in texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) > 0, text.get_text()
        assert box.x1 < width and box.y1 < height, text.get_text()
    left = max(text.get_window_extent().x1 for text in page.axes[0].texts)
    assert left < 0.61 * width  # Figure 1 does not reach the column
    page.savefig(tmp_path / "handout.pdf")
    assert len(re.findall(rb"/Type /Page\b", (tmp_path / "handout.pdf").read_bytes())) == 1
    plt.close(page)


def test_what_is_said_of_the_live_model_is_what_the_button_says() -> None:
    script = ROOT / "transformer_book/widgets/front_ends/kit/own_sentence.js"
    said = script.read_text(encoding="utf-8")
    (section,) = re.findall(r"^## When the live model.*?(?=^## )", PAGE, re.M | re.S)
    for sentence in re.findall(r"\*([A-Z][^*]+)\*", section):
        assert sentence.rstrip(".") in said, sentence


def test_the_numbers_of_the_solutions_follow_from_those_of_the_questions() -> None:
    assert PAGE[PAGE.index("## Exam questions") :].strip() in exam.exam()
    numbers = exam.numbered(SOLUTIONS)
    assert f"standard deviation {math.sqrt(64):.0f}" in numbers[2]
    for number in (
        f"= {64**2 * 512:,}",
        f"= {64 * 512**2:,}, {512 // 64} times",
        f"= {4 * 64 * 512**2:,}",
        f"= {2 * 64 * 512**2:,}",
    ):
        assert number in numbers[20]


@pytest.mark.parametrize("seed", range(10))
def test_another_exam_has_other_numbers_and_the_same_questions(seed: int) -> None:
    questions, solutions = (
        exam.numbered(part) for part in exam.exam(Random(seed)).split("# Solutions")
    )
    first = exam.numbered(PAGE[PAGE.index("## Exam questions") :])
    assert questions.keys() == solutions.keys() == first.keys()
    changed = {n for n in first if questions[n].split() != first[n].strip().split()}
    assert changed <= set(exam.QUESTIONS)
    assert len(changed) >= len(exam.QUESTIONS) - 3  # a draw may meet the page's numbers


@pytest.mark.parametrize(("old", "new"), [("0.284", "0.285"), ("are 1.359", "are 1.369")])
def test_a_wrong_number_in_a_solution_is_found(tmp_path: Path, monkeypatch, old, new) -> None:
    wrong = tmp_path / "solutions.md"
    wrong.write_text(SOLUTIONS.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(exam, "SOLUTIONS", wrong)
    with pytest.raises(ValueError, match=r"question (5|13): .* should stand in"):
        exam.exam()


def test_a_product_of_a_solution_is_that_of_its_printed_factors() -> None:
    """A quantile is given with two digits: with it a student finds the third digit of the key."""
    assert exam.paired(9, 0.067, 0.08)[1][0] == r"2.31 \cdot 0.08 / \sqrt{9}$ = 0.062"


def test_questions_that_are_left_out_leave_no_gap() -> None:
    whole, text = exam.exam(Random(7)), exam.exam(Random(7), {15, 16, 17, 20})
    assert "all questions together make 68 points" in text
    kept = [n for n in range(1, 21) if n not in {15, 16, 17, 20}]
    for all_of_them, rest in zip(whole.split("# Sol"), text.split("# Sol"), strict=True):
        before, after = exam.numbered(all_of_them), exam.numbered(rest)
        assert list(after) == list(range(1, 17))
        for number, old in enumerate(kept, 1):
            said = before[old].split("**To judge**")[0].split()[1:]
            assert after[number].split("**To judge**")[0].split()[1:] == said
    assert text.count("**To judge**") == whole.count("**To judge**")


@pytest.mark.slow
def test_an_exam_is_printed_by_its_command() -> None:
    command = [sys.executable, "-m", "tools.exam", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == exam.exam(Random(7))
