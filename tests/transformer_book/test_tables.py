"""What cells show as HTML holds the texts it is given, and no text becomes markup."""

from html.parser import HTMLParser

import pytest

from transformer_book.tables import sample_cards, table


def test_a_table_has_a_line_for_each_row_and_escapes_its_texts() -> None:
    html = table(["setting", "a & b"], {"<rate>": [0.5], "steps": ["4,000"]})
    assert html == (
        "<table><tr><th>setting</th><th>a &amp; b</th></tr>"
        "<tr><td>&lt;rate&gt;</td><td>0.5</td></tr><tr><td>steps</td><td>4,000</td></tr></table>"
    )


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="steps has 2 cells for 1 columns"):
        table(["setting", "value"], {"steps": [1, 2]})


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
