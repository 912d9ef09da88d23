"""What a page says of an exercise is what `transformer_book.exercises` says of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from docutils.nodes import reference
from docutils.utils import new_document

from tools.site.extensions.exercises import (
    Effort,
    Hints,
    TrackNotebook,
    TrackTable,
    clear_links_of_blanks,
    exercise_of,
    say_where_to_write,
)
from tools.site.extensions.notebook_links import colab_address

from transformer_book.exercises import EXERCISES


def directive(kind: Any, *arguments: str, **options: int) -> Any:
    """A directive without a parser: it notes what it would parse."""
    made = object.__new__(kind)
    made.arguments, made.options = list(arguments), options
    noted: list[str] = []
    made.state = SimpleNamespace(
        document=SimpleNamespace(
            settings=SimpleNamespace(env=SimpleNamespace(note_dependency=noted.append))
        )
    )
    made.noted = noted
    made.parse_text_to_nodes = lambda text: [text]
    made.error = lambda text: ValueError(text)
    return made


def test_effort_is_a_line() -> None:
    (paragraph,) = directive(Effort, "softmax").run()
    assert paragraph.astext() == "●○○ difficulty 1 of 3 · about 10 minutes"
    assert paragraph["classes"] == ["effort"]


def test_an_exercise_outside_the_catalogue_says_its_effort_itself() -> None:
    (paragraph,) = directive(Effort, difficulty=2, minutes=15).run()
    assert paragraph.astext() == "●●○ difficulty 2 of 3 · about 15 minutes"
    assert paragraph["classes"] == ["effort"]


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((), {}, "needs an exercise's name, or :difficulty:"),
        ((), {"difficulty": 2}, "wrong is 'minutes'"),
        ((), {"difficulty": 4, "minutes": 5}, "difficulty of 1, 2 or 3"),
        ((), {"difficulty": 1, "minutes": 0}, "at least one minute"),
        (("softmax",), {"minutes": 5}, "from that exercise"),
    ],
)
def test_an_effort_that_says_too_little_or_too_much_is_an_error(arguments, options, said) -> None:
    with pytest.raises(ValueError, match=said):
        directive(Effort, *arguments, **options).run()


def test_each_hint_is_folded() -> None:
    (text,) = directive(Hints, "softmax").run()
    for number, hint in enumerate(EXERCISES["softmax"].hints, 1):
        assert f":::{{dropdown}} Hint {number}\n{hint}\n:::" in text


def test_the_page_is_made_anew_when_the_exercise_changes() -> None:
    made = directive(Hints, "softmax")
    assert exercise_of(made) is EXERCISES["softmax"]
    assert [path.rsplit("/", 2)[1] for path in made.noted] == ["solutions", "catalogue"]


def test_a_name_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match="did you mean softmax"):
        directive(Hints, "sofmax").run()


def test_the_track_is_a_table_of_all_exercises() -> None:
    made = object.__new__(TrackTable)
    noted: list[str] = []
    env = SimpleNamespace(note_dependency=noted.append)
    made.state = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=env)))
    made.parse_text_to_nodes = lambda text: [text]
    (text,) = made.run()
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == len(EXERCISES)
    first = EXERCISES["softmax"]
    assert rows[0] == (
        f"| 1 | {first.title}: `softmax` | {{doc}}`/book/{first.chapter}` | "
        f"●○○\N{NO-BREAK SPACE}{first.minutes}\N{NO-BREAK SPACE}min |"
    )
    assert f"{len(EXERCISES)} functions; about " in text
    assert {path.rsplit("/", 2)[1] for path in noted} == {"catalogue"}


@pytest.mark.parametrize("options", [{}, {"repository_url": "https://github.com/someone/book"}])
def test_the_tracks_notebook_has_a_link_where_there_is_a_repository(options) -> None:
    made = object.__new__(TrackNotebook)
    config = SimpleNamespace(html_theme_options=options, notebooks_branch="gh-pages")
    env = SimpleNamespace(config=config, docname="book/build_it_yourself")
    made.state = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=env)))
    links = [node["refuri"] for paragraph in made.run() for node in paragraph.findall(reference)]
    url = options.get("repository_url")  # slides have none
    address = f"{colab_address(url)}/blob/gh-pages/notebooks/build_it_yourself.ipynb" if url else ""
    assert links == ([address] if url else [])


def test_a_repository_has_an_address_in_colab() -> None:
    address = colab_address("https://github.com/someone/book")
    assert address == "https://colab.research.google.com/github/someone/book"


def test_the_link_in_a_solutions_title_begins_with_a_letter() -> None:
    link = reference("", " Exercise 3.1", nodes.Text(" ("), nodes.math("", "x"), nodes.Text(")"))
    document = new_document("a page")
    document += nodes.title("", "Solution to", link)
    words = document.astext()
    for _ in range(2):  # a page is resolved again when another one changes
        clear_links_of_blanks(SimpleNamespace(), document, "page")
        assert document.astext() == words
        assert link.astext() == "Exercise 3.1 (x)"


@pytest.mark.parametrize(("builder", "shown"), [("html", True), ("slides", False)])
def test_a_chapter_says_that_its_cells_are_edited_elsewhere(builder: str, shown: bool) -> None:
    title, first = nodes.title("", "Exercises"), nodes.paragraph("", "The first exercise.")
    doctree = new_document("chapter")
    doctree += nodes.section("", title, first)
    app: Any = SimpleNamespace(
        builder=SimpleNamespace(name=builder),
        config=SimpleNamespace(
            html_theme_options={"repository_url": "https://github.com/us/book"},
            notebooks_branch="site",
        ),
        env=SimpleNamespace(metadata={"book/why/attention": {"kernelspec": {"name": "python3"}}}),
    )
    say_where_to_write(app, doctree, "book/why/attention")
    said = [node.astext() for node in doctree.findall(nodes.paragraph)]
    assert said[-1] == "The first exercise."
    assert (len(said) == 2) == shown
    if shown:
        assert said[0].startswith("The cells on this page are for reading.")
        assert [link["refuri"] for link in doctree.findall(reference)] == [
            f"{colab_address('https://github.com/us/book')}/blob/site/notebooks/why/attention.ipynb",
            "../../notebooks/why/attention.ipynb",
        ]
    say_where_to_write(app, doctree, "book/glossary")  # it has no cells
    assert len(list(doctree.findall(nodes.paragraph))) == len(said)


def test_no_chapter_promises_a_cell_that_can_be_edited_on_its_page() -> None:
    promises = ("you write into a cell below", "Nothing needs to be installed")
    for path in Path(__file__).parents[4].glob("book/**/*.md"):
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert not [each for each in promises if each in text], path
