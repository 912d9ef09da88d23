"""The hand-out of a lecture: `python -m tools.handout --out handout.pdf` makes its one page.

Figure 1 at the left; at the right what one wants beside it: the equations, the three attentions,
and the numbers of the paper's base model.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from transformer.config import TransformerConfig

from transformer_book.figures import architecture

A4 = (8.27, 11.69)  # inches
TOP, LINE, TITLE = 0.925, 0.0185, 0.016  # shares of the page's height
DRAWN_FOR = 8.0  # inches: the width for which Figure 1 has its letters
NOTES = (
    (
        "Attention (equation 1)",
        r"$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right) V$",
        "A query meets all keys; the softmax makes",
        "weights of the scores; the output is the",
        "weighted sum of the values.",
    ),
    (
        "Who asks, who answers",
        "encoder: the source asks the source",
        "decoder: the target asks the target so far",
        "cross: the target asks the encoder's output",
    ),
    (
        "Masks: before the softmax",
        r"hidden scores become $-\infty$:",
        "padding everywhere, later tokens",
        "in the decoder's self-attention",
    ),
    (
        "Several heads",
        r"$\mathrm{head}_i = \mathrm{Attention}(QW_i^Q, KW_i^K, VW_i^V)$",
        r"side by side, then one matrix $W^O$",
    ),
    (
        "Feed-forward (equation 2)",
        r"$\mathrm{FFN}(x) = \max(0,\, xW_1 + b_1)\, W_2 + b_2$",
    ),
    (
        "Around each sub-layer",
        r"$\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))$",
    ),
    (
        "Positions",
        r"$PE_{pos,\, 2i} = \sin(pos / 10000^{2i/d_{model}})$",
        r"$PE_{pos,\, 2i+1} = \cos(pos / 10000^{2i/d_{model}})$",
    ),
    (
        "Learning rate (equation 3)",
        r"$d_{model}^{-0.5} \cdot \min(s^{-0.5},\; s \cdot w^{-1.5})$",
        r"at step $s$ from 1, with $w$ steps of warm-up",
    ),
    (
        "Writing a sentence",
        "one token at a time, each from those before it:",
        "the most probable (greedy), or several",
        "prefixes at once (beam search)",
    ),
)


def base_model() -> tuple[str, ...]:
    """The paper's base model, from the module's own settings."""
    c = TransformerConfig.base()
    return (
        "The base model",
        f"$d_{{model}}$ {c.d_model}, $d_{{ff}}$ {c.d_ff:,}, {c.n_heads} heads, $d_k$ {c.key_width}",
        f"{c.n_layers} layers each, dropout {c.dropout}, smoothing 0.1",
    )


@plt.style.context("default")  # its letters are placed for this one, whatever style is set
def handout() -> Figure:
    """The page."""
    figure = plt.figure(figsize=A4)
    ax = architecture(ax=figure.add_axes((0.04, 0.3, 0.54, 0.6), anchor="N"))
    for text in ax.texts:
        text.set_fontsize(text.get_fontsize() * 0.54 * A4[0] / DRAWN_FOR)
    figure.text(0.05, TOP + 0.02, "The Transformer on one page", size=16, weight="bold")
    figure.text(
        0.05,
        TOP,
        "Vaswani et al. (2017), Attention Is All You Need: Figure 1, drawn anew",
        size=8.5,
    )
    figure.text(0.05, 0.29, "Notes", size=9.5, weight="bold")
    for y in (0.25, 0.21, 0.17, 0.13, 0.09):
        figure.add_artist(Line2D([0.05, 0.57], [y, y], color="#b0b0b0", lw=0.6))
    y = TOP
    for title, *lines in (*NOTES, base_model()):
        figure.text(0.61, y, title, size=9.5, weight="bold")
        for line in lines:
            y -= LINE * (1.3 if r"\frac" in line else 1)
            figure.text(0.61, y, line, size=8.5)
            y -= LINE * (0.3 if r"\frac" in line else 0)
        y -= LINE + TITLE
    return figure


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("handout.pdf"), help="PDF, SVG or PNG")
    out = parser.parse_args().out
    handout().savefig(out)
    print(f"The hand-out is {out}")


if __name__ == "__main__":
    main()
