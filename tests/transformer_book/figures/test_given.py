"""Every figure draws what it is given, in its order, and refuses what does not fit.

A case is a figure and what is to be seen in each of its axes, under the names in `SEEN`. What takes
more than that to say (trees, heatmaps, Figures 1 and 2, positions) has a file of its own.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer.training import noam_rate

# isort: off
from transformer_book.figures import (
    Side, alignment_lines, attention_pipeline, attention_stages, batch_grid, batch_rectangles,
    beam_curves, by_layer, candidate_bars, complexity_curves, confidence_curves, curves_over_width,
    decoder_step, decoder_steps, destinations, effects, embedding_lookup, exact_over_length,
    f1_over_length, feature_shares, feed_forward_units, first_loss_bars, found_heads, head_scores,
    head_tables, influence_heatmap, joined_heads, journey, learning_rates, lengths_over_width,
    looks_and_matters, loss_curves, mask_heatmap, masked_softmax_steps, merge_panels, nearest_bars,
    over_depth, parameter_bars, parsers, positions_processed, products_by_position,
    projected_heads, quality_by_size, query_and_keys, reach, relu_fits, resampled_scores,
    rerank_bars, score_histogram, score_intervals, scores_by_compute, scores_by_verdict,
    self_attention_lines,
    simulated_experiments, smoothed_losses, source_to_decoder, symbol_rows, target_distributions,
    temperature_bars, temperature_curves, time_over_length, time_ratios, training_curves,
    validation_curves, vocabulary_intervals, vocabulary_trade, ways_to_cut, word_chances, word_map,
)  # fmt: skip

# isort: on
from transformer_book.figures.recipes import MARKERS


def texts(some: Iterable[Any]) -> list[str]:
    return [text.get_text() for text in some]


def spreads(ax: Axes) -> list[list[float]]:
    """The intervals around points: from where to where, of each container in turn."""
    along = 0 if any(c.has_xerr for c in ax.containers) else 1
    segments = [s for c in ax.containers for s in c.lines[2][0].get_segments()]
    return [segment[:, along].tolist() for segment in segments]


SEEN: dict[str, Callable[[Axes], Any]] = {
    "x": lambda ax: [np.asarray(line.get_xdata()).tolist() for line in ax.lines],
    "y": lambda ax: [np.asarray(line.get_ydata()).tolist() for line in ax.lines],
    "points": lambda ax: [c.lines[0].get_xydata().tolist() for c in ax.containers],
    "spreads": spreads,
    "widths": lambda ax: [bar.get_width() for bar in ax.patches],
    "heights": lambda ax: [bar.get_height() for bar in ax.patches],
    "count": lambda ax: sum(bar.get_height() for bar in ax.patches),
    "cells": lambda ax: np.ma.filled(ax.collections[0].get_array(), np.nan).ravel().tolist(),
    "limits": lambda ax: list(ax.collections[0].get_clim()),
    "texts": lambda ax: texts(ax.texts),
    "rows": lambda ax: texts(ax.get_yticklabels()),
    "columns": lambda ax: texts(ax.get_xticklabels()),
    "legend": lambda ax: texts(ax.get_legend().get_texts()),
    "title": lambda ax: ax.get_title(),
    "names": lambda ax: [ax.get_xlabel(), ax.get_ylabel()],
    "scales": lambda ax: [ax.get_xscale(), ax.get_yscale()],
    "downwards": lambda ax: ax.yaxis_inverted(),
}


def axes_of(drawn: Any) -> list[Axes]:
    """The axes of whatever a figure's function returns."""
    if isinstance(drawn, Figure):
        return list(drawn.axes)
    return [drawn] if isinstance(drawn, Axes) else list(np.ravel(drawn))


RATES = [noam_rate(step, 64, 10) for step in range(1, 101)]
RATIOS = {
    "one": [{"median": 2.0, "lowest": 1.5, "highest": 3.0},
            {"median": 0.5, "lowest": 0.4, "highest": 9.0}],
    "other": [{"median": 1.0, "lowest": 1.0, "highest": 1.0},
              {"median": 0.25, "lowest": 0.2, "highest": 0.3}],
}  # fmt: skip
METRICS = [{"step": 1, "loss": 2.0, "rate": 0.1}, {"step": 2, "loss": 1.0, "rate": 0.2, "bleu": 20}]
LIKELY = {"dogs": 0.7, "dog": 0.2, "$x$": 0.05}
COUNTS = {
    "small": {"embeddings": 2_000_000, "layers": 6_000_000, "norms": 10},
    "large": {"embeddings": 10_000_000, "layers": 30_000_000, "norms": 40},
}
INTERVALS = {"base": (39_841, 41_793), "C5": (40_599, 41_574), "big": (35_368, 36_344)}
PARSERS = [("A (2006)", "few", 90.4), ("Transformer", "few", 91.3), ("B (2010)", "many", 93.0)]
SHARES = {"all": {"short": 0.1, "long": 0.0}, "worst": {"short": 0.5, "long": 0.25}}
LOGITS = np.array([2.0, 0.5, -1000.0])
SOFTMAX = [(np.exp(LOGITS / t) / np.exp(LOGITS / t).sum()).tolist() for t in (0.5, 2.0)]
SAMPLES = np.array([[1.0, 2, 3, 4, 5], [10, 20, 30, 40, 50]])
SQUARE = np.arange(9.0).reshape(3, 3) - 6
MASK = np.array([[True, False], [True, True]])
WEIGHTS = np.array([[1.0, 0.0], [np.exp(0.4), np.exp(0.3)] / (np.exp(0.4) + np.exp(0.3))])

DRAWN: list[tuple[Callable[[], Any], Any]] = [
    (lambda: effects(["small", "large", "open"], [-0.5, 2.0, 0.02], [0.1, 0.5, 0.3], xlabel="nats"),
     {"rows": ["large", "open", "small"], "points": [[[2.0, 0], [-0.5, 2]], [[0.02, 1]]],
      "spreads": [[1.5, 2.5], [-0.6, -0.4], [-0.28, 0.32]], "downwards": True}),
    (lambda: quality_by_size({"base": (65.0, 4.92), "C1": (36.0, 6.11)}, base="base",
                             xlabel="parameters", ylabel="perplexity"),
     {"points": [[[65, 4.92]], [[36, 6.11]]], "texts": ["C1", "base"],
      "names": ["parameters", "perplexity"]}),
    (lambda: simulated_experiments([-0.4, 0.0, 0.25, 0.5], [0.25, 0.5, 0.5, 0.25], effect=0.25,
                                   rule=0.75, ylabel="nats"),
     {"points": [[[2, 0], [3, 0.25]], [[4, 0.5]], [[1, -0.4]]],
      "spreads": [[-0.5, 0.5], [-0.25, 0.75], [0.25, 0.75], [-0.65, -0.15]],
      "names": ["experiment, sorted by its result", "nats"]}),
    (lambda: curves_over_width([4, 16], {"scaled": SAMPLES, "plain": [1, 2]}, ylabel="norm"),
     {"y": [[3, 30], [1, 2]], "texts": ["scaled", "plain"], "columns": ["4", "16"]}),
    (lambda: temperature_curves([0.1, 1.0], np.array([[1.0, 0.0], [0.6, 0.4]]), ["a", "b"],
                                marks={"here": 1.0}),
     {"legend": ["a", "b"], "texts": ["here"]}),
    (lambda: beam_curves([1, 4, 32], {"log-probability": [-3, -2, -1], "tokens": [9, 8, 3]}),
     [{"x": [[1, 4, 32]], "title": "log-probability", "columns": ["1", "4", "32"]},
      {"y": [[9, 8, 3]], "title": "tokens"}]),
    (lambda: rerank_bars(["one", "two"], [[2.0, 0.5], [1.0, 3.0]]),
     {"widths": [2.0, 1.0, 0.5, 3.0], "texts": ["one", "two"]}),
    (lambda: exact_over_length([5, 10], {"one": [[1.0, 0.5], [0.8, 0.1]], "other": [[1.0, 1.0]]}),
     {"y": [[1.0, 0.5], [0.8, 0.1], [0.9, 0.3], [1.0, 1.0], [1.0, 1.0]],
      "legend": ["one", "other"]}),
    (lambda: time_over_length([4, 8], {"one": [1, 2]}),
     {"y": [[1, 2]], "scales": ["log", "log"], "columns": ["4", "8"]}),
    (lambda: time_ratios(["greedy", "beam"], RATIOS),
     {"rows": ["greedy", "beam"],
      "spreads": [[1.5, 3.0], [0.4, 9.0], [1.0, 1.0], [0.2, 0.3]], "downwards": True}),
    (lambda: complexity_curves([1, 10], {"square": [1, 100], "line": [1, 10]}, ylabel="steps",
                               marked={"n = d": 4.0}),
     {"y": [[1, 100], [1, 10], [0, 1]], "scales": ["log", "log"], "legend": ["square", "line"],
      "names": ["sentence length n", "steps"], "texts": ["n = d"]}),
    (lambda: candidate_bars(LIKELY, "dog"),
     {"widths": [0.7, 0.2, 0.05], "rows": ["dogs", "dog (written)", r"\$x\$"],
      "texts": ["0.700", "0.200", "0.050"]}),
    (lambda: nearest_bars({"dog": {"dogs": 0.6, "Hund": 0.5}, "red": {"rot": 0.4, "blue": 0.3}}),
     [{"widths": [0.6, 0.5], "title": "dog", "downwards": True}, {"rows": ["rot", "blue"]}]),
    (lambda: word_map({"German": ["Hund"], "English": ["dog"]},
                      {"Hund": (0.2, 0.1), "dog": (-0.1, 0.3)}),
     {"x": [[0.2], [-0.1]], "y": [[0.1], [0.3]], "texts": ["Hund", "dog"]}),
    (lambda: lengths_over_width([16, 64], {"position": [2.8, 5.7], "embedding": [2.0, 4.0]}),
     {"x": [[16, 64]] * 2, "y": [[2.8, 5.7], [2.0, 4.0]]}),
    (lambda: temperature_bars(["a", "b", "c"], LOGITS, [0.5, 2.0]),
     [{"widths": SOFTMAX[0]}, {"widths": SOFTMAX[1], "downwards": True}]),
    (lambda: temperature_bars(["a", "b"], [1000.0, 999.0], [1.0]),  # too large for exp
     {"widths": [1 / (1 + np.exp(-1)), 1 / (1 + np.e)]}),
    (lambda: first_loss_bars({14: {"module": {"all": 2.7, "none": 2.6},
                                   "Glorot": {"all": 7.0, "none": 3.4}}}),
     {"heights": [2.7, 7.0, 2.6, 3.4], "y": [[np.log(14)] * 2],
      "legend": ["tie = all", "tie = none"]}),
    (lambda: reach({"one": np.tri(2), "two": np.eye(2)}, ["a", "b"], columns=2),
     [{"title": "one", "cells": [1, 0, 1, 1]}, {"title": "two", "columns": ["a", "b"]}]),
    (lambda: score_intervals({"greedy": 30.0, "beam": 31.5}, {"greedy": 2.0, "beam": 1.0}),
     {"spreads": [[28.0, 32.0], [30.5, 32.5]], "texts": ["30.0", "31.5"],
      "rows": ["greedy", "beam"]}),
    (lambda: score_histogram([1.0, 2.0, 2.0, 5.0], {"mean": 2.5, "high": 5.0}, label="chrF"),
     {"count": 4, "x": [[2.5, 2.5], [5.0, 5.0]], "legend": ["mean: 2.5", "high: 5.0"]}),
    (lambda: feature_shares(SHARES),
     {"widths": [0.1, 0.0, 0.5, 0.25], "texts": ["10.0%", "0.0%", "50.0%", "25.0%"]}),
    (lambda: scores_by_verdict({"right": [70.0, 90.0, 80.0], "a wrong word": [40.0]}, label="chrF"),
     {"x": [[70.0, 80.0, 90.0], [80.0] * 2, [40.0], [40.0] * 2],
      "rows": ["right (3)", "a wrong word (1)"]}),
    (lambda: resampled_scores({"greedy": [30.0, 31.0, 32.0], "beam": [31.0, 31.5, 33.0]}),
     [{"count": 6, "legend": ["greedy", "beam"]},
      {"count": 3, "names": ["beam minus greedy, in BLEU", ""]}]),
    (lambda: head_tables({"self": [[0.1, 0.2]] * 2, "cross": [[0.7, 0.8]] * 2}, label="share",
                         limits=(0.0, 1.0), baselines={"cross": "uniform: 0.10"}),
     [{"texts": ["0.10", "0.20"] * 2, "limits": [0, 1], "rows": ["1", "2"], "title": "self"},
      {"texts": ["0.70", "0.80"] * 2, "limits": [0, 1], "names": ["head\nuniform: 0.10", ""]},
      {"names": ["", "share"]}]),
    (lambda: head_tables({"a": np.zeros((6, 8)), "b": np.zeros((1, 1))}, label=""),
     [{"texts": ["0.00"] * 48}, {"texts": ["0.00"]}, {}]),
    (lambda: destinations({"gold": [0.5, 0.25], "elsewhere": [0.5, 0.75]}, ["1.1", "1.2"]),
     {"widths": [0.5, 0.25, 0.5, 0.75], "legend": ["gold", "elsewhere"],
      "texts": ["0.50", "0.25", "0.50", "0.75"]}),
    (lambda: looks_and_matters({"layer 1": ([0.1, 0.2], [0.01, -0.02], [0.1, 0.1]),
                                "layer 2": ([0.5], [0.3], [0])}, x_label="", y_label="",
                               baseline=(0.15, "uniform")),
     {"points": [[[0.1, 0.01], [0.2, -0.02]], [[0.5, 0.3]]], "texts": ["1", "2", "1"],
      "spreads": [[-0.09, 0.11], [-0.12, 0.08], [0.3, 0.3]]}),
    (lambda: relu_fits([0.0, 1.0], [1.0, 2.0], {"narrow": [0.0, 0.0], "wide": [1.0, 2.0]}),
     [{"y": [[1.0, 2.0], [0.0, 0.0]]}, {"y": [[1.0, 2.0], [1.0, 2.0]]}]),
    (lambda: over_depth([2, 32], {"bare": [0.1, 0.9], "shortcut": [0.1, 0.2]}, log=True),
     {"y": [[0.1, 0.9], [0.1, 0.2]], "scales": ["log", "log"]}),
    (lambda: by_layer({"post": [0.1, 1.0, 10.0]}), {"x": [[1, 2, 3]], "scales": ["linear", "log"]}),
    (lambda: smoothed_losses({"run": [4.0, 2.0, 0.0]}, window=2, references={"chance": 2.0}),
     {"y": [[4.0, 3.0, 1.0], [2.0, 2.0]], "texts": ["chance"]}),
    (lambda: batch_grid([["es", "regnet", "</s>"], ["ja", "</s>", "<pad>"]]),
     {"texts": ["es", "regnet", "</s>", "ja", "</s>", "<pad>"], "cells": [0, 0, 0, 0, 0, 2]}),
    (lambda: masked_softmax_steps(np.array([[0.2, 0.1], [0.4, 0.3]]), MASK, WEIGHTS, ["1", "2"]),
     [{"texts": ["0.2", "0.1", "0.4", "0.3"]}, {"texts": ["0.2", "−∞", "0.4", "0.3"]},
      {"texts": ["1.000", "0.000", "0.525", "0.475"]}]),
    (lambda: influence_heatmap(np.array([[2.0, 0.0], [1e-9, 4.0]]), ["x", "y"], ["a", "b"]),
     {"cells": [0.5, np.nan, 2.5e-10, 1.0], "texts": ["0"]}),
    (lambda: loss_curves({"leak": ([5, 10], [2.0, 0.1])}, floor=1.5, floor_label="chance"),
     {"y": [[1.5, 1.5], [2.0, 0.1]], "texts": ["chance", "leak"]}),
    (lambda: merge_panels([(1200, ["lo", "w"]), (3, ["$", "w"])], {("lo", "w"): 1200,
                                                                    ("$", "w"): 3}),
     [{"texts": ["1,200", "lo", "w", "3", r"\$", "w"]},
      {"widths": [1200, 3], "rows": ["lo + w", r"\$ + w"]}]),
    (lambda: merge_panels([(1, ["a"])], {("a", str(i)): 20 - i for i in range(12)}),
     [{}, {"widths": [*range(20, 12, -1)]}]),  # the most frequent ones
    (lambda: vocabulary_trade([100, 1000], [40.0, 20.0], [0.0, 0.5], words=15.0),
     [{"y": [[40, 20], [15, 15]]}, {"y": [[0, 0.5]], "columns": ["100", "1,000"]}]),
    (lambda: parameter_bars(COUNTS),
     {"widths": [25, 25, 75, 75, 0, 0], "texts": ["2.0", "10.0", "6.0", "30.0"],
      "rows": ["small\n8.0 M", "large\n40.0 M"]}),
    (lambda: vocabulary_intervals(INTERVALS, stated=37_000, common=(40_599, 41_574)),
     {"rows": [*INTERVALS], "texts": ["40,599 to 41,574", "about 37,000\n(section 5.1)"]}),
    (lambda: parsers(PARSERS, "Transformer"),
     {"texts": ["90.4", "91.3", "93.0"], "rows": [name for name, *_ in PARSERS],
      "legend": ["few", "many"]}),
    (lambda: f1_over_length([15, 16, 17], {"many": [[100, 98, 40], [100, 96, 20]],
                                           "few": [[9, 8, 7]]}, 16),
     {"y": [[100, 97, 30], [9, 8, 7], [0, 1]]}),
    (lambda: validation_curves({"first": [(1.0, 0.5), (20.0, 5.6)], "recipe": [(1.5, 3.0)]}),
     {"x": [[1, 20], [1.5]], "y": [[0.5, 5.6], [3.0]], "texts": ["first", "recipe"]}),
    (lambda: products_by_position({"added": SQUARE, "turned": np.zeros((3, 3))}),
     [{"title": "added", "cells": SQUARE.ravel().tolist(), "limits": [-6, 6]},
      {"title": "turned"}]),
    (lambda: learning_rates(np.arange(1, 101), {"64:10": RATES}),
     {"y": [RATES, [max(RATES)]], "names": ["step", "learning rate"]}),
    (lambda: batch_rectangles({"mine": [np.array([[5, 5, 5, 0], [5, 0, 0, 0]])]}, pad_id=0,
                              columns=1),
     {"title": "50% padding", "cells": [0, 0, 0, 1, 0, 1, 1, 1]}),
    (lambda: target_distributions([[0.9, 0.1]], ["a"], ["a", "b"]), {"texts": ["0.90", "0.10"]}),
    (lambda: confidence_curves([0.1, 0.5, 0.9], {"x": [3.0, 1.0, 2.0]}),
     {"x": [[0.1, 0.5, 0.9], [0.5]]}),  # the lowest loss is marked
    (lambda: training_curves(METRICS), [{"y": [[2.0, 1.0]]}, {"y": [[0.1, 0.2]]}]),
    (lambda: training_curves(METRICS, score="bleu"),
     [{}, {}, {"y": [[20]], "names": ["step", "BLEU"]}]),
    (lambda: word_chances(["the", "the"], {"before": [0.1, 0.2], "after": [0.6, 0.7]}),
     {"heights": [0.1, 0.2, 0.6, 0.7], "legend": ["before", "after"]}),
    (lambda: symbol_rows({"asked for": ["1", "2"], "written": ["1", "<unk>", "2"]}, n_symbols=3),
     {"texts": ["1", "2", "1", "<unk>", "2"]}),
    (lambda: head_scores({"layer 1": [0.1, 0.5], "layer 2": [0.25, 0.75]}, baseline=0.2),
     {"heights": [0.1, 0.5, 0.25, 0.75], "columns": ["\nhead of layer 1", "\nhead of layer 2"],
      "texts": ["0.10", "1", "0.50", "2", "0.25", "1", "0.75", "2"], "y": [[0.2, 0.2]]}),
]  # fmt: skip


def name_of(case: Any) -> str | None:
    return case.__code__.co_names[0] if callable(case) else ""


@pytest.mark.parametrize(("draw", "expected"), DRAWN, ids=name_of)
def test_a_figure_draws_what_it_is_given(draw: Callable[[], Any], expected: Any) -> None:
    axes = axes_of(draw())
    panels = expected if isinstance(expected, list) else [expected]
    for ax, panel in zip(axes, panels, strict=True):
        found = {name: SEEN[name](ax) for name in panel}
        for name, value in panel.items():
            if name in ("x", "y", "points", "spreads"):
                assert len(found[name]) == len(value), name
                for one, other in zip(found[name], value, strict=True):
                    np.testing.assert_allclose(one, other, atol=1e-9, err_msg=name)
            elif name in ("widths", "heights", "cells"):
                np.testing.assert_allclose(found[name], value, atol=1e-3, err_msg=name)
            else:
                assert found[name] == value, name
    axes[0].figure.draw_without_rendering()


WORDS, TREE = ["er", "hat", "sie"], np.ones((3, 3))
SIDE = Side("a b", ["a", "b"], [3, 4], np.ones((2, 4)))
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: effects(["a", "b"], [1.0], [1.0], xlabel=""),
     "2 labels, 1 means, 1 intervals and 1 effects"),
    (lambda: quality_by_size({"base": (1.0, 2.0)}, base="big", xlabel="", ylabel=""),
     "'big' is none of the points: base"),
    (lambda: simulated_experiments([1.0, 2.0], [1.0], effect=1.0, rule=1.0, ylabel=""),
     "2 estimates do not fit 1 intervals"),
    (lambda: attention_stages({"scores": TREE}, TREE, TREE, ["a"]), "scores has 3 rows for 1"),
    (lambda: attention_stages({"scores": TREE}, TREE, np.ones(3), WORDS), r"has shape \(3,\)"),
    (lambda: attention_pipeline(np.zeros((1, 2, 4)), TREE, TREE, TREE, TREE, WORDS, WORDS),
     "give one matrix"),
    *((lambda shapes=shapes: attention_pipeline(*map(np.ones, shapes), ["a", "b"], WORDS), named)
      for shapes, named in [
          (((2, 4), (3, 5), (3, 2), (2, 3), (2, 2)), "give both the same d_k"),
          (((3, 4), (3, 4), (3, 2), (2, 3), (2, 2)), "query has 3 rows for 2 tokens"),
          (((2, 4), (2, 4), (2, 2), (2, 3), (2, 2)), "key has 2 rows for 3 tokens"),
          (((2, 4), (3, 4), (2, 2), (2, 3), (2, 2)), "value has 2 rows for 3 tokens"),
          (((2, 4), (3, 4), (3, 2), (3, 2), (2, 2)), "do not fit 2 query tokens and 3 key"),
          (((2, 4), (3, 4), (3, 2), (2, 3), (3, 2)), "output has 3 rows for 2 tokens")]),
    *((lambda given=given: query_and_keys(*map(np.ones, given), "a", WORDS, ["b", "c"]), named)
      for given, named in [
          (((3,), (3, 2)), "no arrows in a plane"), (((2,), (3, 3)), "no arrows in a plane"),
          (((2,), (2, 2)), "keys has 2 rows")]),
    (lambda: projected_heads(np.ones((2, 4)), np.ones((4, 6)), 4, ["a", "b"]),
     "do not divide into 4 heads"),
    (lambda: projected_heads(np.ones((2, 4)), np.ones((3, 6)), 3, ["a", "b"]), "weight has 3 rows"),
    (lambda: joined_heads(np.ones((2, 4)), np.ones((4, 4)), ["a", "b"]), r"\(heads, len, d_v\)"),
    (lambda: joined_heads(np.ones((3, 2, 3)), np.ones((4, 4)), ["a", "b"]),
     "9 wide, but weight has 4 rows"),
    (lambda: curves_over_width([4, 16], {"a": [1, 2, 3]}, ylabel=""), "has 3 rows for 2 widths"),
    (lambda: temperature_curves([0.1, 1.0, 10.0], np.zeros((2, 3)), ["a", "b"]),
     "3 temperatures and 2 labels"),
    (lambda: beam_curves([1, 4, 32], {"tokens": [1, 2]}), "'tokens' has 2 values for 3 beam sizes"),
    (lambda: rerank_bars(["one", "two"], [[2.0, 0.5]]), "2 texts need as many pairs of costs"),
    (lambda: exact_over_length([5, 10, 15], {"one": [[1, 0.5]]}), "has 2 shares for 3 lengths"),
    (lambda: source_to_decoder(WORDS, ["he"], -1), "must be between 0 and 0"),
    (lambda: source_to_decoder(WORDS, ["he"], 1), "must be between 0 and 0"),
    (lambda: source_to_decoder(WORDS, ["he"], 0, [0.5, 0.5]), "2 weights for 3 words"),
    (lambda: time_ratios(["greedy"], RATIOS), "one has 2 ratios for 1 labels"),
    (lambda: time_ratios([], {str(i): [] for i in range(6)}), "6 competitors are too many"),
    (lambda: complexity_curves([1, 2, 3], {"a": [1, 2]}), "curve 'a' has 2 values for 3 lengths"),
    (lambda: complexity_curves([1, 2], {"a": [0, 2]}), "curve 'a' has values that are not above 0"),
    (lambda: complexity_curves([0, 2], {"a": [1, 2]}), "no logarithm"),
    (lambda: decoder_steps([], head=""), "no steps to draw"),
    (lambda: decoder_steps([{"source": WORDS, "target": ["a"], "weights": [0.5], "likely": LIKELY}],
                           head=""), "1 weights for 3 source tokens"),
    (lambda: lengths_over_width([16, 64], {"a": [2.8]}), "one number for each of the 2 widths"),
    (lambda: temperature_bars(["a"], [1.0], [0.0]), "above 0"),
    (lambda: embedding_lookup(np.ones((3, 2)), WORDS, [2, 3]), "no token 3 in a vocabulary of 3"),
    (lambda: embedding_lookup(np.ones((2, 2)), WORDS, [1]), "table has 2 rows for 3 tokens"),
    (lambda: decoder_step(WORDS, ["he", "saw"], -1), "must be between 0 and 1"),
    (lambda: decoder_step(WORDS, ["he", "saw"], 2), "must be between 0 and 1"),
    (lambda: positions_processed({"a": [1, 3]}), "step 2 has 2 positions, so it cannot process 3"),
    (lambda: score_intervals({"greedy": 30.0}, {"beam": 1.0}), "intervals of"),
    (lambda: feature_shares({"all": {"short": 0.1}, "worst": {"long": 0.1}}), "same signs"),
    (lambda: resampled_scores({"greedy": [30.0]}), "two systems"),
    (lambda: head_tables({}, label=""), "no numbers"),
    (lambda: head_tables({"a": [0.1, 0.2]}, label=""), r"shape \(2,\)"),
    (lambda: destinations({"gold": [0.5]}, ["a", "b"]), "gold has 1 shares for 2 heads"),
    (lambda: self_attention_lines(WORDS, {"a": TREE}, queries=[3]), "query 3 is outside"),
    (lambda: found_heads(dict.fromkeys("ab", (1.0,) * 3), {"even": [1.0]}), "has 1 numbers for 2"),
    *((lambda bad=bad: by_layer({"post": [1.0, bad]}), "logarithmic") for bad in (0, -1.0, np.nan)),
    (lambda: feed_forward_units([1, 1], np.ones((2, 3)), [0] * 3, np.ones((2, 3)), [0, 0]),
     r"w_2 has shape \(2, 3\), but w_1 of \(2, 3\) needs"),
    (lambda: feed_forward_units([1, 1], np.ones((2, 3)), [0] * 3, np.ones((3, 2)), [0]),
     r"b_2 has shape \(1,\)"),
    (lambda: batch_grid([["a"], ["a", "b"]]), "pad them to one length first"),
    (lambda: influence_heatmap([[-1.0]], ["x"], ["a"]), "give norms"),
    (lambda: mask_heatmap(MASK, WORDS, WORDS), "do not fit 3 query tokens"),
    (lambda: vocabulary_trade([1, 2, 3], [1, 2], [0] * 3, words=1.0), "3 sizes, 2 lengths and 3"),
    (lambda: ways_to_cut({}), "nothing to draw"),
    (lambda: parameter_bars(COUNTS | {"other": {"layers": 1}}), "other has components"),
    (lambda: parameter_bars({}), "at least one model"),
    (lambda: f1_over_length([15, 16], {"few": [[1]]}, 16), "'few' has 1 scores for 2 lengths"),
    *((lambda runs=runs: validation_curves(runs), "give 1 to 6 runs")
      for runs in ({}, {"a": []}, {f"{i}": [(1.0, 1.0)] for i in range(len(MARKERS) + 1)})),
    (lambda: scores_by_compute({"toy": {"run": ([1, 2], 80.0)}}), "'run' has 1 scores for 2 costs"),
    *((lambda memory=memory, ids=ids: journey(Side("a b", ["a", "b"], ids, np.ones((2, 4))), SIDE,
                                              memory, {"c": 1.0}), "do not belong together")
      for memory, ids in ((np.ones((1, 4)), [3, 4]), (np.ones((2, 4)), [3]))),
    (lambda: products_by_position({"added": np.zeros((2, 3))}), r"'added' has shape \(2, 3\)"),
    (lambda: learning_rates([1, 2, 3], {"a": [0.1, 0.2]}), "curve 'a' has 2 rates for 3 steps"),
    (lambda: target_distributions([[0.9, 0.1]], ["a", "b"], ["a", "b"]), "does not fit 2 rows"),
    (lambda: training_curves([]), "no metrics"),
    (lambda: word_chances(["a", "b"], {"x": [0.1]}), "stage 'x' has 1 chances for 2 words"),
    *((lambda link=link: alignment_lines(WORDS, ["he"], {link}), "outside sentences of 3 and 1")
      for link in ((3, 0), (0, 1), (-1, 0))),
]  # fmt: skip


@pytest.mark.parametrize(("draw", "sentence"), REFUSED, ids=name_of)
def test_what_does_not_fit_is_refused_in_a_sentence(draw: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        draw()
