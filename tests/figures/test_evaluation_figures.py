"""Figures of evaluation show what they are given, and cards let no text become markup."""

from html.parser import HTMLParser

import pytest

from transformer.figures.evaluation import (
    feature_shares,
    sample_cards,
    score_histogram,
    score_intervals,
)


def test_each_system_has_its_score_and_its_interval() -> None:
    ax = score_intervals({"greedy": 30.0, "beam": 31.5}, {"greedy": 2.0, "beam": 1.0})
    bars = [bar.lines[2][0].get_segments()[0] for bar in ax.containers]
    assert [(a[0], b[0]) for a, b in bars] == [(28.0, 32.0), (30.5, 32.5)]
    assert [text.get_text() for text in ax.texts] == ["30.0", "31.5"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["greedy", "beam"]
    with pytest.raises(ValueError, match="intervals of"):
        score_intervals({"greedy": 30.0}, {"beam": 1.0})


def test_a_histogram_counts_everything_and_names_its_marks() -> None:
    ax = score_histogram([1.0, 2.0, 2.0, 5.0], {"mean": 2.5, "high": 5.0}, label="chrF")
    assert sum(bar.get_height() for bar in ax.patches) == 4
    assert [line.get_xdata()[0] for line in ax.lines] == [2.5, 5.0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mean: 2.5", "high: 5.0"]
    assert ax.get_xlabel() == "chrF"


def test_each_sign_has_a_bar_in_each_group() -> None:
    shares = {"all": {"short": 0.1, "long": 0.0}, "worst": {"short": 0.5, "long": 0.25}}
    ax = feature_shares(shares)
    assert [bar.get_width() for bar in ax.patches] == [0.1, 0.0, 0.5, 0.25]
    assert [text.get_text() for text in ax.texts] == ["10.0%", "0.0%", "50.0%", "25.0%"]
    with pytest.raises(ValueError, match="same signs"):
        feature_shares({"all": {"short": 0.1}, "worst": {"long": 0.1}})


def test_signs_that_never_occur_can_be_drawn() -> None:
    assert feature_shares({"all": {"short": 0.0}}).get_xlim()[1] > 0


class Reader(HTMLParser):
    """The tags, and the text of terms and definitions, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.underlined: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.tags.append(tag)
        if tag in ("dt", "dd"):
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"dt", "dd"} & set(self.open):
            self.texts[-1] += data
        if "u" in self.open:
            self.underlined.append(data)


SAMPLE = {
    "line": 7,
    "source": "Ein <script>alert(1)</script> Hund & Co",
    "reference": 'A dog, "<b>"',
    "translations": {"x, beam": "a cat, <i>dog</i>", "x, greedy": "A dog"},
    "chrf": {"x, beam": 41.6, "x, greedy": 80.0},
    "features": ["too <long>"],
}


def test_a_card_shows_all_texts_and_no_foreign_markup() -> None:
    reader = Reader()
    reader.feed(sample_cards([SAMPLE], {"x, beam": "beam", "x, greedy": "greedy"}, ("de", "en")))
    assert reader.open == []
    assert set(reader.tags) <= {"div", "p", "strong", "dl", "dt", "dd", "span", "u"}
    assert reader.texts == [
        *("source", SAMPLE["source"]),
        *("reference", SAMPLE["reference"]),
        *("beam: chrF 42", "a cat, <i>dog</i>"),
        *("greedy: chrF 80", "A dog"),
        *("signs", "too <long>"),
    ]
    assert reader.underlined == ["cat", "i", "i"]


def test_systems_that_say_the_same_share_a_row() -> None:
    sample = {**SAMPLE, "translations": dict.fromkeys(SAMPLE["translations"], "A cat")}
    sample["chrf"] = dict.fromkeys(sample["translations"], 12.0)
    reader = Reader()
    reader.feed(sample_cards([sample], {"x, beam": "beam", "x, greedy": "greedy"}, ("de", "en")))
    assert reader.texts[4:6] == ["beam and greedy: chrF 12", "A cat"]
    assert len(reader.texts) == 8


def test_a_card_without_signs_has_no_row_for_them() -> None:
    html = sample_cards([{**SAMPLE, "features": []}], {"x, beam": "beam"}, ("de", "en"))
    assert "signs" not in html
    assert html.count("<dt") == 3
