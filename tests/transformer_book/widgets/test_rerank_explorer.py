"""Candidates change their ranks as reading back counts for more, on the page as in Python."""

import pytest
from traitlets import TraitError

from tests.transformer_book.widgets.rerank_examples import READ, SENTENCES, Reader, explorer

from transformer_book import both_ways
from transformer_book.widgets import RerankExplorer, rerank_explorer
from transformer_book.widgets.rerank_explorer import MOST


def listed(shown):
    """The candidates from the top."""
    return shown.widget.locator(".tfw-rerank-list bdi").all_inner_texts()


def test_the_ranking_weighs_both_costs():
    widget = explorer()
    assert [one["text"] for one in widget.ranking()] == [one.text for one in READ[0]]
    assert rerank_explorer.CANDIDATES == both_ways.CANDIDATES
    widget.weight = 0.2  # 1 + 4, 3 + 0.8, 4 + 0.6
    ranking = widget.ranking()
    assert [one["text"] for one in ranking] == [READ[0][i].text for i in (1, 2, 0)]
    assert [one["score"] for one in ranking] == pytest.approx([-3.8, -4.6, -5.0])


def test_a_sentence_of_the_readers_own_is_read_back_where_a_kernel_runs():
    widget = explorer()
    widget.sentence = "noch einer"
    assert widget.example == 2 and widget.ranking()[0]["text"] == "NOCH EINER"
    widget.sentence = "x" * 100
    assert widget.example == 2 and "has 120 tokens" in widget.message


def test_what_cannot_be_is_refused():
    for wrong in (
        {"sentences": ["\u200b"]},
        {"sentences": []},
        {"sentences": "Ja."},
        {"sentences": ["Ja.", " "]},
    ):
        with pytest.raises(ValueError, match="give a list|is empty"):
            RerankExplorer(Reader(), **wrong)
    for setting in ({"example": 2}, {"weight": -0.1}, {"weight": 0.6}):
        with pytest.raises(TraitError):
            explorer(**setting)


def test_dragged_the_weight_brings_another_candidate_to_the_top(show):
    widget = explorer()
    shown = show(widget, width=390)
    assert listed(shown) == [one.text for one in READ[0]]
    height = shown.height()
    slider = shown.page.get_by_role("slider", name="how much reading back counts")
    for key, weight in (("End", MOST), ("Home", 0.0), ("PageUp", None)):
        slider.press(key)
        shown.frame()
        widget.weight = shown.state("weight")
        assert weight is None or widget.weight == weight
        ranking = widget.ranking()
        assert listed(shown) == [one["text"] for one in ranking]
        first = ranking[0]
        assert f"\u2068{first['text']}\u2069" in shown.readout()
        assert shown.readout().endswith(f": {-first['score']:.2f}.")
        assert shown.height() == height
    assert shown.widget.locator(".tfw-rerank-first").count() == 1
    bars = shown.widget.locator(".tfw-rerank-bar").all()
    assert len({bar.bounding_box()["width"] for bar in bars}) == 1  # whatever its number
    widths = shown.widget.locator(".tfw-rerank-first .tfw-rerank-bar span").all()
    write, read = (part.bounding_box()["width"] for part in widths)
    assert read / write == pytest.approx(
        widget.weight * first["backward"] / first["forward"], abs=0.05
    )


def test_another_sentence_has_its_own_candidates(show):
    shown = show(explorer(weight=0.2))
    shown.page.get_by_label("sentence", exact=True).select_option(SENTENCES[1])
    shown.frame()
    assert listed(shown) == ["By far the best.", "The best."]
    said = shown.widget.locator(".tfw-rerank-sentence > :first-child")
    assert said.inner_text() == SENTENCES[1]
    shown.set("example", 0)
    assert said.inner_text().splitlines()[-1] == "It means: “\u2068Neither of us.\u2069”"
    shown.check()


def test_other_contents_are_drawn_and_a_long_word_does_not_widen_the_page(show):
    shown = show(explorer(example=1), width=360)
    contents = shown.state("contents")
    long = {"text": "x" * 90, "forward": -1.0, "backward": -1.0}
    none = {"text": "", "forward": -2.0, "backward": -1.0}
    other = {"source": "y" * 90, "meaning": "", "candidates": [long, none]}
    shown.set("contents", contents | {"examples": [other]})
    assert listed(shown) == [long["text"], "nothing (the end mark comes first)"]
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 360
    shown.check()
