"""Printed lines as a chart: what becomes a row, a column, a head, and what stays a line."""

import re

import pytest

from tools.site.formats.charts import chart, table_of

SEEDS = """\
After 500 steps:
base  0.908 1.119 1.104
D1    0.874 1.028 0.897"""
WIDTHS = """\
d_k     4: variance     3.9, after scaling 0.98
d_k  1024: variance  1049.3, after scaling 1.02"""
PENALTY = """\
alpha 0.0:  7.05 words, mean log P -3.087
alpha 2.0:  7.23 words, mean log P -3.243"""
LENGTHS = """\
symbols          3     9
one vector    100%   20%
looking back  100%   99%"""
WRITTEN = """\
tokens right:  reading the target  writing by itself
model A                      9.6%               9.0%
model B                    100.0%               0.0%"""
WORDS = """\
reads <s>    is asked for two    2.91 nats
reads two    is asked for dogs   2.82 nats
mean 2.94; e to that power: 19.0"""
EPOCHS = """\
epoch  2.0: loss 3.88, BLEU 19.1 on 1,014 sentences for validation
epoch  8.0: loss 2.97, BLEU 34.0 on 1,014 sentences for validation
epoch 20.0: loss 2.54, BLEU 38.0 on 1,014 sentences for validation
85 minutes on one machine"""
STREAM = """\
post-norm input 0.73, layer 1 1.00, layer 12 1.00, encoder's output 1.00
pre-norm  input 0.73, layer 1 1.31, layer 12 4.35, encoder's output 1.00"""
HIDDEN = "+0: 20%  +1: 100%  +2: 100%  +3: 100%"
CLAIMS = """\
41.0: above 4 of 4 single models, 1 of 3 ensembles
41.8: above 4 of 4 single models, 3 of 3 ensembles"""


def rows(text: str) -> list[list[str]]:
    """The cells of a chart, line by line, without what is drawn in them."""
    drawn = chart(text, "bars")
    assert drawn is not None
    lines = re.findall(r"<tr>(.*?)</tr>", drawn)
    cells = (re.findall(r"<t[hd].*?>(.*?)</t[hd]>", line) for line in lines)
    return [[re.sub(r"<.*?>", "", cell) for cell in line] for line in cells]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SEEDS, [["base", "0.908", "1.119", "1.104"], ["D1", "0.874", "1.028", "0.897"]]),
        (WIDTHS, [["", "variance", "after scaling"], ["d_k 4", "3.9", "0.98"]]),
        (PENALTY, [["", "words", "mean log P"], ["alpha 0.0", "7.05", "-3.087"]]),
        (LENGTHS, [["symbols", "3", "9"], ["one vector", "100%", "20%"]]),
        (WRITTEN, [["tokens right:", "reading the target", "writing by itself"]]),
        (WORDS, [["", "nats"], ["reads &lt;s&gt; is asked for two", "2.91"]]),
        (EPOCHS, [["", "loss", "BLEU"], ["epoch 2.0", "3.88", "19.1"]]),
        (STREAM, [["", "input", "layer 1", "layer 12", "encoder&#x27;s output"]]),
        (HIDDEN, [["+0", "20%"], ["+1", "100%"], ["+2", "100%"], ["+3", "100%"]]),
        (CLAIMS, [["", "above … single models", "ensembles"], ["41.0", "4 of 4", "1 of 3"]]),
    ],
)
def test_a_printed_line_is_a_row_and_shared_words_its_head(text, expected) -> None:
    assert rows(text)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("text", "where", "line"),
    [
        (SEEDS, "above", "After 500 steps:"),
        (WORDS, "below", "mean 2.94; e to that power: 19.0"),
        (EPOCHS, "below", "85 minutes on one machine"),
    ],
)
def test_what_is_no_row_stays_a_line(text: str, where: str, line: str) -> None:
    table = table_of(text.split("\n"))
    assert table is not None and getattr(table, where) == [line]
    assert f"<p>{line}</p>" in (chart(text, "bars") or "")


@pytest.mark.parametrize("text", ["", "Right.", "BLEU 46.94", "a b\nc d", "1 of 3\n5%"])
def test_what_has_no_two_lines_of_a_kind_is_not_drawn(text: str) -> None:
    assert chart(text, "bars") is None


def test_a_line_of_numbers_alone_has_no_name_to_read_out() -> None:
    drawn = chart("0.25  0.75\n1  0", "bars") or ""
    assert drawn.count("<td></td>") == 2 and "<th" not in drawn


def shares(text: str, kind: str) -> list[float]:
    """How far along its axis each number is drawn."""
    return [float(x) for x in re.findall(r"--share: ([\d.]+)", chart(text, kind) or "")]


def test_bars_begin_at_zero_and_share_the_axis_of_their_unit() -> None:
    assert shares(LENGTHS, "bars") == [1, 0.2, 1, 0.99]
    assert shares(CLAIMS, "bars") == pytest.approx([1, 1 / 3, 1, 1], abs=1e-3)
    assert shares(WIDTHS, "bars") == pytest.approx([3.9 / 1049.3, 0.001, 1, 0.001], abs=1e-3)
    assert chart(PENALTY, "bars").count("bars below") == 2  # what is negative looks different


def test_dots_lie_between_the_least_and_the_largest_of_their_column() -> None:
    assert shares(PENALTY, "dots") == [0, 1, 1, 0]
