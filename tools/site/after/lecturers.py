"""What lecturers print: a hand-out, an exam with its solutions, and the goals of all chapters.

The commands `tools.handout`, `tools.exam` and `tools.site.goals` make each of them anew, an exam
with other numbers. Here they become files of the site, to which the page for lecturers leads. A
page of them is a sheet to print: no contents beside it, and always light.
"""

import re
from collections.abc import Mapping
from html import escape
from random import Random
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx.application import Sphinx

from tools.site.extensions.mathml import to_mathml
from tools.site.pages import Site

FOLDER = "lecturers"
FOR = "book/lecturers"
SEED = 7  # of the exam
SHEET = """\
<!DOCTYPE html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{title}</title>
<meta name="robots" content="noindex" />
<link rel="stylesheet" href="../_static/styles/site.css" />
<style>
main {{ max-width: 48rem; margin: 1.5rem auto; padding: 0 1rem; }}
li, main > p {{ break-inside: avoid; }}
li {{ margin-bottom: 0.6rem; }}
h2 {{ break-after: avoid; }}
</style>
</head>
<body>
<main>
<p class="d-print-none"><a href="../{back}.html">For lecturers</a></p>
<h1>{title}</h1>
{body}</main>
</body>
</html>
"""


def to_html(text: str) -> str:
    """Markdown with formulas."""

    def formula(latex: str, options: Mapping[str, Any]) -> str:
        return to_mathml(latex, bool(options["display_mode"]))

    reader = MarkdownIt("commonmark", {"typographer": True}).enable("smartquotes")
    return str(reader.use(dollarmath_plugin, renderer=formula).render(text))


def sheets() -> dict[str, str]:
    """The pages, by their names: the questions of an exam, its solutions, the chapters' goals."""
    from tools.exam import exam
    from tools.site.goals import syllabus

    text = exam(Random(SEED))
    (points,) = re.findall(r"all questions together make (\d+) points", text)
    first, solved = text.index("**To know**"), text.index("# Solutions")
    rules = (
        f"Ninety minutes, {points} points: a point is a minute. "
        "Allowed are a pocket calculator and a sheet with the formulas.\n\n"
    )
    parts = {
        "exam": ("Exam: the Transformer", rules + text[first:solved]),
        "solutions": ("Solutions to the exam", text[text.index("**1.**", solved) :]),
        "goals": ("What each chapter teaches", syllabus()),
    }
    return {
        name: SHEET.format(title=escape(title), back=FOR, body=to_html(body))
        for name, (title, body) in parts.items()
    }


def write_sheets(app: Sphinx, site: Site) -> None:
    """Writes the sheets and the hand-out, where the book has the page for lecturers."""
    if FOR not in app.env.found_docs:
        return
    from tools.handout import handout

    for name, text in sheets().items():
        site.put(f"{FOLDER}/{name}.html", text)
    (site.out / FOLDER).mkdir(exist_ok=True)
    # Without the hour, so that the same page is the same file.
    handout().savefig(site.out / FOLDER / "handout.pdf", metadata={"CreationDate": None})
