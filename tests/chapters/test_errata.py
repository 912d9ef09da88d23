"""The chapter of errata: whoever looks a mistake up finds its claim, its source and its cell."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import jupytext
import pytest

from tools.site.chapters import chapters

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "book/findings/errata.md"
LEAST = 25
LINES = 10  # of code that fails
ROW = re.compile(r"^\| \{ref\}`(\d+) <erratum-(\d+)>` \| (.+?) \| (.+?) \| (.+?) \|$")
ANSWER = re.compile(r"^\| (\d+) \| (\w+) \| (.+?) \|$", re.M)  # folded: its kind, and what finds it
KINDS = {"mistake", "choice", "condition", "version", "withdrawn"}
COUNTS = {"three": 3, "four": 4, "nine": 9, "Twelve": 12, "Fifteen": 15}
SECTION = re.compile(r"^\(erratum-(\d+)\)=\n### Erratum (\d+): .+$", re.M)
BOX = re.compile(r"\*\*(?:Said|Done):\*\*")


@dataclass
class Erratum:
    """One section of the chapter.

    Args:
        number: as its label and its title say.
        prose: its text.
        cells: its code with the tags of each cell.
    """

    number: int
    prose: str
    cells: list[tuple[str, set[str]]]

    @property
    def open_code(self) -> list[str]:
        """What a reader sees without a click."""
        return [code for code, tags in self.cells if "hide-input" not in tags]

    @property
    def home(self) -> str:
        """The label of the chapter that has the right version."""
        return re.findall(r"\{ref\}`(chapter-[\w-]+)`", self.prose.split("**Right:**")[1])[0]


def read_errata() -> list[Erratum]:
    """The sections in their order; an exercise or a new group ends the one before."""
    found: list[Erratum] = []
    inside = False
    for cell in jupytext.read(CHAPTER).cells:
        if cell.cell_type == "code":
            if inside:
                found[-1].cells.append((cell.source, set(cell.metadata.get("tags", []))))
            continue
        for part in re.split(r"(?=^\(erratum-\d+\)=$|^## )", cell.source, flags=re.M):
            if section := SECTION.match(part):
                label, title = map(int, section.groups())
                assert label == title
                found.append(Erratum(label, "", []))
                inside = True
            elif part.startswith("## "):
                inside = False
            if inside:
                found[-1].prose += part
    return found


ERRATA = read_errata()
ROWS = [row for line in CHAPTER.read_text().splitlines() if (row := ROW.match(line))]
each = pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: str(erratum.number))


def test_the_table_leads_to_every_erratum_in_its_order() -> None:
    assert [int(row[1]) for row in ROWS] == [int(row[2]) for row in ROWS]
    assert [int(row[1]) for row in ROWS] == [e.number for e in ERRATA]
    assert [e.number for e in ERRATA] == list(range(1, len(ERRATA) + 1))
    assert len(ERRATA) >= LEAST


def test_each_row_has_its_kind_and_a_test_which_stand_folded_below_it() -> None:
    (key,) = re.findall(r"^## The answer key$.*?^## ", CHAPTER.read_text(), re.M | re.S)
    tables = re.split(r"^:::\{dropdown\} Answers: .*?$|^:::$", key, flags=re.M)
    assert len(tables) >= 7  # a table, its answers, the next table
    for rows, answers in zip(tables[:-1:2], tables[1::2], strict=True):
        numbers = [row[1] for line in rows.splitlines() if (row := ROW.match(line))]
        found = ANSWER.findall(answers)
        assert numbers == [number for number, _, _ in found] != []
        assert {kind for _, kind, _ in found} <= KINDS
    assert all(f"*{kind}*" in key for kind in KINDS)


def before_claims() -> int:
    """How many rows stand above the claims in words."""
    key = CHAPTER.read_text().split("## The answer key")[1]
    return len(
        [line for line in key.split("**Claims in words**")[0].splitlines() if ROW.match(line)]
    )


def test_the_text_counts_the_rows_of_its_sources() -> None:
    text = " ".join(CHAPTER.read_text().split())
    sources = [row[5] for row in ROWS]
    named = {
        "three of those below stand in a text of 2018": sum(
            "rush2018annotated,huang2022annotated" in source for source in sources
        ),
        "Twelve rows name the Annotated Transformer": sum(
            "rush2018annotated" in s or "huang2022annotated" in s for s in sources
        ),
        "For four the only source is a student's report": sources.count("a student's report"),
        "Fifteen of the twenty-nine errata have a card": text.count("self_check.bug("),
        "the last nine are claims, not lines of code": len(ROWS) - before_claims(),
    }
    assert len(ROWS) == 29
    for said, number in named.items():
        assert said in text
        (word,) = COUNTS.keys() & set(said.split())
        assert COUNTS[word] == number, said


def test_the_table_names_a_source_that_the_erratum_names_too() -> None:
    def named(text: str) -> set[str]:
        cited = re.findall(r"\{cite:[pt]\}`([^`]+)`", text)
        return {key for keys in cited for key in keys.split(",")} | {
            *re.findall(r"\((https://[^)]+)\)", text),
            *re.findall(
                r"a student's report|Table 1|no single text",
                text.replace("the same", "a student's"),
            ),
        }

    for row, erratum in zip(ROWS, ERRATA, strict=True):
        assert named(row[5]) and named(row[5]) <= named(erratum.prose), erratum.number


@each
def test_an_erratum_says_who_says_so_and_what_is_right(erratum: Erratum) -> None:
    claim, fact, right = re.split(r"\*\*(?:In fact|Right:)\*\*", erratum.prose)
    assert BOX.search(claim) and "{ref}`chapter-" in right and fact.strip()
    public = re.search(r"\{cite:[pt]\}`|\(https://", claim)
    assert (
        public or "a student's report" in claim or "the same report" in claim or "Table 1" in claim
    )


@each
def test_an_erratum_fails_before_the_readers_eyes_in_at_most_ten_lines(erratum: Erratum) -> None:
    assert erratum.open_code
    for code in erratum.open_code:
        functions = [
            n for n in ast.parse(code).body if isinstance(n, ast.FunctionDef | ast.ClassDef)
        ]
        for function in functions:
            assert (function.end_lineno or 0) - function.lineno < LINES, function.name
    assert any(re.search(r"\bprint\(", code) for code, _ in erratum.cells)
    assert f"% covers: erratum-{erratum.number}" in erratum.prose


@each
def test_an_erratum_has_one_check_that_can_be_found_by_its_number(erratum: Erratum) -> None:
    marked = [code for code, tags in erratum.cells if f"erratum-{erratum.number}" in tags]
    (check,) = marked
    assertions = [node for node in ast.walk(ast.parse(check)) if isinstance(node, ast.Assert)]
    assert len(assertions) >= 2
    assert {"check", "hide-input"} <= next(t for c, t in erratum.cells if c == check)


def test_no_number_is_given_twice() -> None:
    cells = [tags for e in ERRATA for _, tags in e.cells]
    numbers = [tag for tags in cells for tag in tags if tag.startswith("erratum-")]
    assert len(numbers) == len(set(numbers)) == len(ERRATA)


def test_the_readme_counts_the_errata() -> None:
    (said,) = re.findall(
        r"\*Errata you can run\* has (\d+) claims", (ROOT / "README.md").read_text()
    )
    assert int(said) == len(ERRATA)


def test_every_chapter_to_which_an_erratum_leads_links_it() -> None:
    homes = {
        label: text
        for name in chapters(ROOT)
        for text in [(ROOT / f"{name}.md").read_text()]
        for label in re.findall(r"^\((chapter-[\w-]+)\)=", text, re.M)
    }
    missing = [e.number for e in ERRATA if f"<erratum-{e.number}>`" not in homes[e.home]]
    assert missing == []


def test_a_card_of_the_hunt_is_an_erratum_and_none_is_asked_twice() -> None:
    (hunt,) = re.findall(r"^## Bug hunt$.*?^## ", CHAPTER.read_text(), re.M | re.S)
    asked = [int(n) for n in re.findall(r"HUNTED\[(\d+)\]\[0\]", hunt)]
    run = [int(n) for n in re.findall(r"^    (\d+): \(\"\"\"$", hunt, re.M)]
    assert len(asked) >= 15 and asked == run and len(set(asked)) == len(asked)
    assert set(asked) <= {e.number for e in ERRATA}
    for number in asked:
        assert re.search(rf"[Nn]umber {number}\b", hunt), number


def test_links_from_other_chapters_lead_to_errata_that_exist() -> None:
    known = {f"erratum-{e.number}" for e in ERRATA}
    for name in chapters(ROOT):
        text = (ROOT / f"{name}.md").read_text()
        assert set(re.findall(r"<(erratum-\d+)>`", text)) <= known, name
