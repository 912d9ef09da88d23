"""Formulas at build time."""

import re

import pytest
from math_core import LatexError

from tools.site.extensions.mathml import to_mathml


def test_function_names_are_one_upright_identifier() -> None:
    mathml = to_mathml(r"\mathrm{softmax}(QK^\top/\sqrt{d_k})V", False)
    assert "<mi>softmax</mi>" in mathml
    assert "<msqrt>" in mathml


def test_source_stays_as_text_alternative_and_is_escaped() -> None:
    mathml = to_mathml('a < b \\text{ "x" }', False)
    assert 'alttext="a &lt; b \\text{ &quot;x&quot; }"' in mathml


@pytest.mark.parametrize(
    "latex", [r"a &= b \\ c &= d", r"\begin{aligned}a &= b\\c &= d\end{aligned}"]
)
def test_rows_are_aligned_at_the_ampersand(latex: str) -> None:
    mathml = to_mathml(latex, True)
    assert len(re.findall("<mtr>", mathml)) == 2
    assert "&amp;" not in re.sub('alttext="[^"]*"', "", mathml)


def test_unknown_command_is_an_error() -> None:
    with pytest.raises(LatexError, match="nosuchcommand"):
        to_mathml(r"\nosuchcommand", False)
