"""Exercises that `transformer_book.exercises` judges: what the page says of them comes from there.

- {effort} names an exercise, and becomes how difficult it is and how long it takes; without a name
  it says both itself, as `:difficulty:` and `:minutes:`;
- {hints} names one, and becomes its hints, each folded. Other hints are dropdowns in the source;
- {track} becomes the table of all of them, {track-notebook} the address of their notebook;
- below the heading *Exercises* of a chapter it says where its cells can be edited;
- the title of a solution leads to its exercise by the words alone.
"""

import inspect
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools.site.extensions.notebook_links import colab_address

WHERE_TO_WRITE = (
    "The cells on this page are for reading. To write into them, open the chapter ",
    " or download ",
    ": there each check says in a sentence what is wrong first.",
)
UNBROKEN = "\N{NO-BREAK SPACE}"


def exercise_of(directive: SphinxDirective) -> Any:
    """The exercise that a directive names; the page is made anew when its file changes."""
    # The small books of the tests have no module.
    from transformer_book.exercises import UnknownExerciseError, find

    try:
        exercise = find(directive.arguments[0])
    except UnknownExerciseError as error:
        raise directive.error(str(error)) from None
    # Its hints stand where its mistakes do.
    for function in (exercise.solution, exercise.mistakes[0].answer):
        directive.env.note_dependency(inspect.getfile(inspect.unwrap(function)))
    return exercise


class Effort(SphinxDirective):
    """A line: the difficulty, and the minutes."""

    optional_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "difficulty": directives.nonnegative_int,
        "minutes": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """A paragraph."""
        from transformer_book.exercises.help import effort, effort_line

        if self.arguments and self.options:
            raise self.error(
                "an effort with a name takes difficulty and minutes from that exercise"
            )
        if self.arguments:
            text = effort(exercise_of(self))
        else:
            try:
                text = effort_line(self.options["difficulty"], self.options["minutes"])
            except (KeyError, ValueError) as error:
                raise self.error(
                    "an effort needs an exercise's name, or :difficulty: (1 to 3) and :minutes:; "
                    f"wrong is {error}"
                ) from None
        return [nodes.paragraph(text, text, classes=["effort"])]


class Hints(SphinxDirective):
    """The hints, which open one by one."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A dropdown for each."""
        exercise = exercise_of(self)
        text = "\n\n".join(
            f":::{{dropdown}} Hint {number}\n{hint}\n:::"
            for number, hint in enumerate(exercise.hints, 1)
        )
        return self.parse_text_to_nodes(text)


class TrackTable(SphinxDirective):
    """All exercises in the track's order, each with its chapter, and what they take together."""

    def run(self) -> list[nodes.Node]:
        """A table, and a sentence."""
        from transformer_book.exercises import EXERCISES
        from transformer_book.exercises.help import stars

        rows = ["| no. | what | chapter | effort |", "|" + " --- |" * 4]
        for number, (name, exercise) in enumerate(EXERCISES.items(), 1):
            answer = inspect.unwrap(exercise.mistakes[0].answer)
            self.env.note_dependency(inspect.getfile(answer))
            chapter = f"{{doc}}`/book/{exercise.chapter}`"
            effort = f"{stars(exercise.difficulty)} {exercise.minutes} min".replace(" ", UNBROKEN)
            cells = [str(number), f"{exercise.title}: `{name}`", chapter, effort]
            rows.append(f"| {' | '.join(cells)} |")
        minutes = sum(exercise.minutes for exercise in EXERCISES.values())
        hours = f"about {round(minutes / 60)} hours for all of them"
        total = f"{len(EXERCISES)} functions; {hours}. The circles are the difficulty."
        return self.parse_text_to_nodes("\n".join([*rows, "", total]))


class TrackNotebook(SphinxDirective):
    """Where the track's notebook is, in Colab."""

    def run(self) -> list[nodes.Node]:
        """A link."""
        config = self.env.config
        if "repository_url" not in config.html_theme_options:
            return []  # slides have no buttons
        address = colab_address(config.html_theme_options["repository_url"])
        page = self.env.docname.removeprefix("book/")
        url = f"{address}/blob/{config.notebooks_branch}/notebooks/{page}.ipynb"
        link = nodes.reference("", "Open it in Colab", refuri=url)
        return [nodes.paragraph("", "", link, nodes.Text("."))]


def clear_links_of_blanks(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Puts the blank with which sphinx-exercise begins a link in front of it: it is underlined."""
    for title in doctree.findall(nodes.title):
        for link in list(title.findall(nodes.reference)):
            text = link.astext()
            if text.startswith(" ") and isinstance(link[0], nodes.Text):
                link[0] = nodes.Text(link[0].astext().lstrip())
                title.insert(title.index(link), nodes.Text(" "))


def say_where_to_write(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Says below the heading *Exercises* where a chapter's cells can be edited: not on its page."""
    options = app.config.html_theme_options
    chapter = app.env.metadata.get(page, {}).get("kernelspec")
    if app.builder.name != "html" or "repository_url" not in options or not chapter:
        return
    name = page.removeprefix("book/")
    colab = f"{colab_address(options['repository_url'])}/blob/{app.config.notebooks_branch}"
    file = "../" * page.count("/") + f"notebooks/{name}.ipynb"
    for section in doctree.findall(nodes.section):
        title = section[0]
        if isinstance(title, nodes.title) and title.astext() == "Exercises":
            said = nodes.paragraph("", WHERE_TO_WRITE[0], classes=["where-to-write"])
            link = nodes.reference("", "in Colab", refuri=f"{colab}/notebooks/{name}.ipynb")
            said += [link, nodes.Text(WHERE_TO_WRITE[1])]
            said += [
                nodes.reference("", "its notebook", refuri=file),
                nodes.Text(WHERE_TO_WRITE[2]),
            ]
            section.insert(1, said)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connects the extension to Sphinx."""
    app.add_directive("effort", Effort)
    app.add_directive("hints", Hints)
    app.add_directive("track", TrackTable)
    app.add_directive("track-notebook", TrackNotebook)
    app.connect("doctree-resolved", say_where_to_write)
    app.connect("doctree-resolved", clear_links_of_blanks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
