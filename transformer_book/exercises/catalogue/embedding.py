"""Embeddings and sinusoids: what is asked, and what goes wrong."""

import math

import torch
from torch import Tensor

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import embedding as solutions


def rows_of_the_table(case: Case) -> str | None:
    """Each token's vector points as its row of the table does."""
    rows = case.inputs["table"][case.inputs["tokens"]]
    same = torch.cosine_similarity(case.answer, rows, dim=-1) > 0.999
    if same.all():
        return None
    row, column = (~same).nonzero()[0].tolist()
    token = int(case.inputs["tokens"][row, column])
    return f"The vector of token {token} does not point as row {token} of the table does."


def without_the_factor(tokens: Tensor, table: Tensor) -> Tensor:
    return table[tokens]


def divided_by_the_root(tokens: Tensor, table: Tensor) -> Tensor:
    return table[tokens] / math.sqrt(table.size(1))


def times_d_model(tokens: Tensor, table: Tensor) -> Tensor:
    return table[tokens] * table.size(1)


def root_of_the_vocabulary(tokens: Tensor, table: Tensor) -> Tensor:
    return table[tokens] * math.sqrt(table.size(0))


def _tokens(draw: Draw) -> Tensor:
    return draw.integers("batch len", 0, draw.size("vocab"))


EMBEDDING = Exercise(
    solution=solutions.token_embedding,
    chapter="architecture/embedding",
    title="Look tokens up",
    difficulty=1,
    minutes=5,
    hints=(
        "A tensor of numbers can index a table: what shape has `table[tokens]`?",
        "Section 3.4 has one more factor; d_model is the width of the table, `table.size(1)`.",
    ),
    properties=(rows_of_the_table,),
    values={"tokens": _tokens},
    mistakes=(
        Mistake(
            without_the_factor,
            "The rows are looked up, and the factor is missing: section 3.4 multiplies them by the "
            "root of d_model.",
        ),
        Mistake(
            divided_by_the_root,
            "The rows are divided by the root of d_model; section 3.4 multiplies them by it.",
        ),
        Mistake(times_d_model, "The factor is d_model, and should be its root."),
        Mistake(
            root_of_the_vocabulary,
            "The factor is the root of the number of tokens (table.size(0)); d_model is the width "
            "of a row.",
        ),
    ),
)


# Sinusoids -----------------------------------------------------------------------------------


def position_0(case: Case) -> str | None:
    """Position 0 is 0, 1, 0, 1, ..."""
    first = case.answer[0]
    expected = torch.tensor([0.0, 1.0]).repeat(len(first) // 2)
    if torch.allclose(first, expected, atol=1e-4):
        return None
    numbers = ", ".join(number(x) for x in first.tolist())
    return f"Position 0 is {numbers}; sin(0) is 0 and cos(0) is 1, in turn."


def pairs_on_the_circle(case: Case) -> str | None:
    """The squares of a sine and its cosine sum to 1."""
    sums = case.answer.square().unflatten(1, (-1, 2)).sum(-1)
    wrong = (sums - 1).abs() > 1e-3
    if not wrong.any():
        return None
    row, pair = wrong.nonzero()[0].tolist()
    return (
        f"At position {row} the squares of columns {2 * pair} and {2 * pair + 1} sum to "
        f"{number(sums[row, pair].item())}: a sine and its cosine must have the same angle."
    )


def _angles(length: int, exponent: Tensor) -> Tensor:
    return torch.arange(length)[:, None] / 10_000.0**exponent


def a_frequency_for_each_column(length: int, d_model: int) -> Tensor:
    column = torch.arange(d_model)
    angle = _angles(length, 2 * column / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def the_columns_number_itself(length: int, d_model: int) -> Tensor:
    column = torch.arange(d_model)
    angle = _angles(length, column / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def cosine_first(length: int, d_model: int) -> Tensor:
    angle = _angles(length, torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(1)


def sines_then_cosines(length: int, d_model: int) -> Tensor:
    angle = _angles(length, torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


def half_the_exponent(length: int, d_model: int) -> Tensor:
    angle = _angles(length, torch.arange(d_model // 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def twice_the_exponent(length: int, d_model: int) -> Tensor:
    angle = _angles(length, 2 * torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def counted_from_1(length: int, d_model: int) -> Tensor:
    return solutions.sinusoidal_positions(length + 1, d_model)[1:]


SINUSOIDS = Exercise(
    solution=solutions.sinusoidal_positions,
    chapter="architecture/positions",
    title="The paper's positions",
    difficulty=2,
    minutes=15,
    hints=(
        "One angle for each position and each pair of columns: a column vector of positions, "
        "divided by a row vector of d_model / 2 powers of 10,000.",
        "`torch.arange(0, d_model, 2)` is 2i for all pairs. `position[:, None] / power` has "
        "shape (length, d_model / 2).",
        "`torch.stack([angle.sin(), angle.cos()], dim=-1)` puts each cosine beside its sine; "
        "`flatten(1)` makes one row of a position's pairs.",
    ),
    properties=(position_0, pairs_on_the_circle),
    values={
        "length": lambda draw: (5, 12, 60)[draw.level],
        "d_model": lambda draw: (4, 8, 16)[draw.level],
    },
    edges=(lambda draw: {"length": 1}, lambda draw: {"d_model": 2}),
    differentiable=False,
    tolerance=1e-3,
    mistakes=(
        Mistake(
            a_frequency_for_each_column,
            "Each column has a frequency of its own (10000^(2c/d_model) for column c): in the "
            "paper 2i is the same for a sine and its cosine, 0, 0, 2, 2, 4, 4, ...",
            erratum=3,
        ),
        Mistake(
            the_columns_number_itself,
            "The exponent is the column's number over d_model, so that a cosine turns more slowly "
            "than its sine; both of a pair have 2i/d_model, the number of the sine's column.",
        ),
        Mistake(
            cosine_first,
            "Cosines stand in the even columns and sines in the odd ones; the paper has the sine "
            "first. Either would serve a model, but not one that was trained with the other.",
            erratum=4,
        ),
        Mistake(
            sines_then_cosines,
            "All sines come first and then all cosines; in the paper they alternate. Many programs "
            "do as you do, and a model can learn either; the weights of one do not fit the other.",
        ),
        Mistake(
            half_the_exponent,
            "The exponent is i/d_model, and should be 2i/d_model: the longest wave is as short as "
            "the one that should stand in the middle.",
        ),
        Mistake(
            twice_the_exponent,
            "2 has got into the exponent twice: if i already counts 0, 2, 4, ..., it is 2i itself.",
        ),
        Mistake(counted_from_1, "Positions are counted from 1, and should be from 0."),
    ),
)
