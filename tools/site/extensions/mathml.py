"""Formulas as MathML, made when the book is built: the reader's browser runs no script for them.

`$...$`, `$$...$$` and the math directive all end here. A formula that cannot be converted is a
warning, so it fails `make book`. The TeX source stays on the page as the formula's `alttext`.
"""

from functools import cache
from html import escape

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
converter = LatexToMathML(fancy_error=False)


@cache
def to_mathml(latex: str, display: bool) -> str:
    """Converts a formula; raises LatexError with a sentence when it cannot."""
    # Several rows without an environment of their own are what MathJax aligns by itself.
    if display and ("\\\\" in latex or "&" in latex) and "\\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    mathml = converter.convert_with_local_state(latex, displaystyle=display)
    alttext = escape(" ".join(latex.split()), quote=True)
    return mathml.replace("<math", f'<math alttext="{alttext}"', 1)


def convert(node: nodes.Element, display: bool) -> str:
    """The formula of a node, or its source when there is none, with a warning."""
    latex = node.astext()
    try:
        return to_mathml(latex, display)
    except LatexError as error:
        logger.warning("formula %r: %s", latex, error, location=node, type="mathml")
        return f"<code>{escape(latex)}</code>"


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """An inline formula."""
    self.body.append(f'<span class="math">{convert(node, display=False)}</span>')
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A displayed formula, with its number when it has a label.

    A formula wider than the page scrolls in its box.
    """
    self.body.append(self.starttag(node, "div", CLASS="math-display"))
    self.body.append(f'<div class="math-scroll">{convert(node, display=True)}</div>')
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the renderer; `html_math_renderer: mathml` in _config.yml chooses it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
