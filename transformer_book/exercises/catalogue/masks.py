"""The two masks: what is asked, and what goes wrong."""

import torch
from torch import Tensor

from transformer_book.exercises.exercise import Case, Exercise, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import masks as solutions


def nobody_sees_the_future(case: Case) -> str | None:
    """No position may attend to a later one."""
    leaks = case.answer.triu(1).nonzero()
    if not len(leaks):
        return None
    row, column = leaks[0].tolist()
    return (
        f"Position {row} may attend to position {column}, which comes after it: the future leaks."
    )


def everybody_sees_itself_and_the_past(case: Case) -> str | None:
    """Each position may attend to itself and to all before it."""
    hidden = (~case.answer).tril().nonzero()
    if not len(hidden):
        return None
    row, column = hidden[0].tolist()
    what = "itself" if row == column else f"position {column}, which comes before it"
    return f"Position {row} may not attend to {what}."


def hides_the_diagonal(size: int) -> Tensor:
    return torch.ones(size, size, dtype=torch.bool).tril(-1)


def one_too_far(size: int) -> Tensor:
    return torch.ones(size, size, dtype=torch.bool).tril(1)


def the_wrong_triangle(size: int) -> Tensor:
    return torch.ones(size, size, dtype=torch.bool).triu()


def true_where_hidden(size: int) -> Tensor:
    return torch.ones(size, size, dtype=torch.bool).triu(1)


def zeros_and_ones(size: int) -> Tensor:
    return torch.ones(size, size).tril()


def zeros_and_minus_infinity(size: int) -> Tensor:
    return torch.full((size, size), float("-inf")).triu(1)


CAUSAL = Exercise(
    solution=solutions.causal_mask,
    chapter="architecture/masks",
    title="Who may attend to whom in the decoder",
    difficulty=1,
    minutes=5,
    hints=(
        "Draw it for three positions first: which of the nine cells are True?",
        "`torch.ones(size, size, dtype=torch.bool)` allows everything; `tril` keeps the lower "
        "triangle, the diagonal included.",
    ),
    properties=(nobody_sees_the_future, everybody_sees_itself_and_the_past),
    values={"size": lambda draw: (3, 4, 6)[draw.level]},
    edges=(lambda draw: {"size": 1},),
    differentiable=False,
    mistakes=(
        Mistake(
            hides_the_diagonal,
            "The diagonal is hidden too: position 0 may then attend nowhere. Each position may "
            "attend to itself, because the target is shifted right by one.",
            erratum=7,
        ),
        Mistake(
            one_too_far,
            "Each position also sees the next one, which holds just the token that it is to "
            "predict: the triangle is one diagonal too large.",
        ),
        Mistake(
            the_wrong_triangle,
            "This is the upper triangle: each position sees itself and the future, not the past.",
        ),
        Mistake(
            true_where_hidden,
            "True stands where a position is hidden; in this book True means that it may be "
            "attended to, as in torch's scaled_dot_product_attention.",
        ),
        Mistake(
            zeros_and_ones,
            "The triangle is right, but in numbers: the mask should hold True and False "
            "(dtype=torch.bool), of which ~mask is the opposite.",
        ),
        Mistake(
            zeros_and_minus_infinity,
            "This is a mask to be added to the scores, 0 and minus infinity; here it should hold "
            "True and False.",
        ),
    ),
)


def words_may_be_seen(case: Case) -> str | None:
    """Every word may be attended to."""
    tokens, pad_id = case.inputs["tokens"], case.inputs["pad_id"]
    wrong = (~case.answer[:, 0, 0] & (tokens != pad_id)).nonzero()
    if not len(wrong):
        return None
    row, column = wrong[0].tolist()
    token = int(tokens[row, column])
    return f"Token {token} of sentence {row} is hidden, and only {pad_id} is padding."


def padding_may_not(case: Case) -> str | None:
    """No padding may be attended to."""
    tokens, pad_id = case.inputs["tokens"], case.inputs["pad_id"]
    wrong = (case.answer[:, 0, 0] & (tokens == pad_id)).nonzero()
    if not len(wrong):
        return None
    row, column = wrong[0].tolist()
    return f"Position {column} of sentence {row} is padding ({pad_id}), and may be attended to."


def padding_alone(tokens: Tensor, pad_id: int) -> Tensor:
    return (tokens == pad_id)[:, None, None, :]


def padding_is_0(tokens: Tensor, pad_id: int) -> Tensor:
    return (tokens != 0)[:, None, None, :]


def larger_than_padding(tokens: Tensor, pad_id: int) -> Tensor:
    return (tokens > pad_id)[:, None, None, :]


def without_the_axes(tokens: Tensor, pad_id: int) -> Tensor:
    return tokens != pad_id


def hides_the_queries(tokens: Tensor, pad_id: int) -> Tensor:
    return (tokens != pad_id)[:, None, :, None]


def _padded(draw: Draw) -> Tensor:
    tokens = draw.integers("batch len", 0, 9)
    pad_id = _pad_id(draw)
    tokens[tokens == pad_id] = 9
    tokens[0, -1] = pad_id
    tokens[-1, 1:] = pad_id
    return tokens


def _pad_id(draw: Draw) -> int:
    return (2, 0, 5)[draw.level]


PADDING = Exercise(
    solution=solutions.padding_mask,
    chapter="architecture/masks",
    title="Nobody looks at padding",
    difficulty=1,
    minutes=5,
    hints=(
        "One comparison says which tokens are words; the rest is a matter of shape.",
        "Indexing with None puts in an axis of length 1: `x[:, None]` of shape (batch, len) has "
        "shape (batch, 1, len).",
    ),
    properties=(words_may_be_seen, padding_may_not),
    sizes={"batch": (2, 3, 4), "len": (3, 5, 6)},
    values={"tokens": _padded, "pad_id": _pad_id},
    edges=(lambda draw: {"tokens": torch.full((1, 1), 2)},),
    differentiable=False,
    mistakes=(
        Mistake(
            padding_alone,
            "True stands where the padding is: the words are hidden, and the padding is seen.",
        ),
        Mistake(padding_is_0, "Here padding is always 0; it is `pad_id` that says what it is."),
        Mistake(
            larger_than_padding,
            "Tokens below `pad_id` are hidden too: compare with !=, not with >.",
        ),
        Mistake(
            without_the_axes,
            "The right cells, but of shape (batch, len): two axes of length 1 are missing, in the "
            "places of heads and queries, so that it broadcasts to (batch, heads, query, key).",
        ),
        Mistake(
            hides_the_queries,
            "The sentence lies along the axis of the queries, so whole rows are hidden; it should "
            "lie along the keys, the last axis.",
        ),
    ),
)
