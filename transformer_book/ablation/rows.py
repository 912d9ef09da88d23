"""The rows: what each changes of one small base model, as Table 3 does, and beyond it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transformer.config import TABLE_3
from transformer.variants import MODERN, VARIANTS

Settings = Mapping[str, Any]

# The base model: every width of the paper's an eighth, every depth a third; h, dropout and label
# smoothing are the paper's own numbers.
WIDTHS, NARROWER = ("d_model", "d_ff", "d_k", "d_v"), 8
DEPTHS = {2: 1, 6: 2, 8: 3}
# Rows of Table 3 that are not among ours, and why.
LEFT_OUT = {
    "C2": "a third of its 4 layers is no depth between one and two",
    "big": "it trains three times as long as the others",
}
BASE: Settings = {
    "d_model": 64,
    "d_ff": 256,
    "n_heads": 8,
    "n_layers": 2,
    "dropout": 0.1,
    "norm": "post",
    "positions": "sinusoidal",
    "tie": "all",
    "max_len": 64,
}


@dataclass(frozen=True)
class Row:
    """A model beside the base model.

    Attributes:
        about: what differs from the base model, in a few words.
        model: settings in place of those of `BASE`.
        training: settings in place of the recipe's.
        variants: parts of the model that are replaced, by their names in `transformer.variants`.
        warm_up: False trains at the highest rate from the first step on.
        in_paper: whether Table 3 has it.
    """

    about: str
    model: Settings = field(default_factory=dict)
    training: Settings = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    warm_up: bool = True
    in_paper: bool = False


def in_small(settings: Settings) -> dict[str, Any]:
    """The settings of a row of Table 3, for a model of our size."""
    small = {
        name: value // NARROWER if name in WIDTHS else value for name, value in settings.items()
    }
    if "n_layers" in small:
        small["n_layers"] = DEPTHS[small["n_layers"]]
    return small


SYMBOLS = {"n_heads": "h", "n_layers": "N", "label_smoothing": "smoothing"}


def _of_paper(name: str) -> Row:
    """A row of Table 3 in small, by the paper's letter and our number."""
    row = TABLE_3[name]
    model, training = in_small(row.settings), {}
    if row.label_smoothing != TABLE_3["base"].label_smoothing:
        training = {"label_smoothing": row.label_smoothing}
    changes = {SYMBOLS.get(key, key): value for key, value in {**model, **training}.items()}
    about = ", ".join(f"{key} {value}" for key, value in changes.items()) or "the base model"
    return Row(about, model, training, in_paper=True)


def _of_variant(name: str) -> Row:
    """A row for a variant, described as `transformer.variants` does."""
    text = VARIANTS[name].description.rstrip(".")
    return Row(text[0].lower() + text[1:], variants=(name,))


HEADS_1 = in_small(TABLE_3["A1"].settings)
ROWS: dict[str, Row] = {
    **{name: _of_paper(name) for name in TABLE_3 if name not in LEFT_OUT},
    "pre_norm": Row("norms stand before the sub-layers", {"norm": "pre"}),
    "untied": Row("embeddings and output of their own", {"tie": "none"}),
    "no_warm_up": Row("the highest rate from step 1 on", warm_up=False),
    **{name: _of_variant(name) for name in sorted(VARIANTS, key=lambda n: not n.startswith("no_"))},
    "modern": Row("what most large language models have kept", {"norm": "pre"}, variants=MODERN),
    # The factor of equation 1 belongs to d_k, so it is taken out where d_k is large, too.
    "A1_no_scaling": Row(
        "h 1, d_k 64, d_v 64, and scores are not divided", HEADS_1, variants=("no_scaling",)
    ),
}


def chosen_rows(names: Sequence[str]) -> dict[str, Row]:
    """The rows of these names, base first, in the order of the table; all of them if none is named.

    Raises:
        ValueError: there is no row of a name.
    """
    for name in names:
        if name not in ROWS:
            raise ValueError(f"there is no row {name!r}{_instead(name)}")
    wanted = {"base", *(names or ROWS)}  # every other row is compared with it
    return {name: row for name, row in ROWS.items() if name in wanted}


def _instead(name: str) -> str:
    """What to do about a name that no row has, to end the sentence that says so."""
    by_letters = {known.casefold(): known for known in (*ROWS, *LEFT_OUT)}
    near = by_letters.get(name.replace("-", "_").casefold(), name)
    if near in LEFT_OUT:
        return (
            f": of Table 3's {near} we have no small model, since {LEFT_OUT[near]}; "
            f"choose from {', '.join(ROWS)}"
        )
    return f"; did you mean {near}?" if near in ROWS else f"; choose from {', '.join(ROWS)}"
