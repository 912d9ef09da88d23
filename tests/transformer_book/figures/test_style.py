"""The letters of labels: of the font, of another that is installed, or of none."""

import warnings
from pathlib import Path
from unittest.mock import patch

import matplotlib.pyplot as plt
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager

from transformer_book.figures import style
from transformer_book.figures.before_attention import source_to_decoder
from transformer_book.figures.decoder import decoder_steps
from transformer_book.figures.embedding import embedding_lookup, nearest_bars, temperature_bars
from transformer_book.figures.encoder_decoder import decoder_step
from transformer_book.figures.evaluation import marked_ngrams
from transformer_book.figures.head_search import self_attention_lines
from transformer_book.figures.heatmaps import attention_heads, attention_heatmap
from transformer_book.figures.masks import batch_grid, mask_heatmap
from transformer_book.figures.merges import merge_panels, ways_to_cut
from transformer_book.figures.parsing import constituency_tree
from transformer_book.figures.training import word_chances
from transformer_book.figures.translation import alignment_lines, moved_links, translation_table

HIEROGLYPHS = ["\U00013000", "\U00013001", "a"]
EVEN = np.full((3, 3), 1 / 3)


def hieroglyphic_font(path: Path) -> Path:
    pen = TTGlyphPen(None)
    for move, point in ((pen.moveTo, (0, 0)), (pen.lineTo, (0, 500)), (pen.lineTo, (500, 0))):
        move(point)
    pen.closePath()
    glyphs = [".notdef", "A1", "A2"]
    font = FontBuilder(1000)
    font.setupGlyphOrder(glyphs)
    font.setupCharacterMap({0x13000: "A1", 0x13001: "A2"})
    font.setupGlyf(dict.fromkeys(glyphs, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(glyphs, (600, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Hieroglyphs for a test", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(path)
    return path


def shown_step(words: list[str]) -> dict[str, object]:
    likely = dict.fromkeys(words, 0.3)
    return {"source": words, "target": words, "weights": EVEN[0], "likely": likely}


FIGURES = {
    "heatmap": lambda w: attention_heatmap(EVEN, w, w),
    "heads": lambda w: attention_heads({"layer 1": [EVEN, EVEN]}, w, w),
    "recurrent": lambda w: source_to_decoder(w, w, 1),
    "decoder": lambda w: decoder_steps([shown_step(w)], head="one"),
    "nearest": lambda w: nearest_bars({w[0]: dict.fromkeys(w, 0.5)}),
    "lookup": lambda w: embedding_lookup(EVEN, w, [0, 1]),
    "temperature": lambda w: temperature_bars(w, [1, 2, 3], [1.0, 2.0]),
    "generation": lambda w: decoder_step(w, w, 2),
    "n-grams": lambda w: marked_ngrams(w, [("one", w, [["found"] * 3], 1.0)]),
    "lines": lambda w: self_attention_lines(w, {"one": EVEN}),
    "batch": lambda w: batch_grid([w, w]),
    "mask": lambda w: mask_heatmap(EVEN > 0, w, w),
    "merges": lambda w: merge_panels([(3, w)], {(w[0], w[1]): 2}, made=w[0]),
    "cuts": lambda w: ways_to_cut({"one": w}),
    "tree": lambda w: constituency_tree(("S", w)),
    "chances": lambda w: word_chances(w, {"one": EVEN[0]}),
    "alignment": lambda w: alignment_lines(w, w, [(0, 1)]),
    "links": lambda w: moved_links([EVEN], [w], [w], titles=[w[0]]),
    "table": lambda w: translation_table({w[0]: {"one": " ".join(w)}}),
}


@pytest.mark.parametrize("name", FIGURES)
def test_letters_that_the_font_lacks_come_from_one_that_has_them(name: str, tmp_path: Path) -> None:
    known = [*fontManager.ttflist]
    fontManager.addfont(hieroglyphic_font(tmp_path / "font.ttf"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            FIGURES[name](HIEROGLYPHS)
            plt.gcf().canvas.draw()
    finally:
        fontManager.ttflist[:] = known


@pytest.mark.parametrize("name", FIGURES)
def test_one_sentence_names_the_letters_that_no_font_has(name: str) -> None:
    with (
        patch.object(style, "_fonts", lambda letters: []),
        patch.object(style, "_scripts_without_font", set()),
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        FIGURES[name](HIEROGLYPHS)
        plt.gcf().canvas.draw()
    (sentence,) = (str(each.message) for each in said)
    assert "has these letters of EGYPTIAN: \U00013000" in sentence and "\ufffd stands" in sentence


def test_ordinary_labels_look_for_no_other_font() -> None:
    with patch.object(style, "_fonts", side_effect=AssertionError):
        assert style.literal(["▁läuft", "$5", "שלום", "привет"])[1] == r"\$5"
    assert style.families("monospace") == ["monospace", "sans-serif"]
