"""Softmax and scaled dot-product attention: what is asked, and what goes wrong."""

import math

import torch
from torch import Tensor

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Inputs, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import attention as solutions

Attended = tuple[Tensor, Tensor]  # the output and the weights
Mask = Tensor | None


# Softmax -------------------------------------------------------------------------------------


def rows_sum_to_1(case: Case) -> str | None:
    """Each row sums to 1."""
    return row_that_does_not_sum_to_1(case.answer, "the answer")


def row_that_does_not_sum_to_1(weights: Tensor, name: str) -> str | None:
    """A sentence about the first row whose sum is another one."""
    sums = weights.sum(dim=-1)
    wrong = ((sums - 1).abs() > 1e-3) | sums.isnan()
    if not wrong.any():
        return None
    index = wrong.nonzero()[0].tolist()
    row = f"Row {', '.join(map(str, index))} of {name}" if index else f"All of {name}"
    return f"{row} sums to {number(sums[wrong][0].item())}, and should sum to 1: over which axis?"


def nothing_is_negative(case: Case) -> str | None:
    """No weight is negative."""
    least = case.answer.min().item()
    return f"A weight is {number(least)}: e^x is never negative." if least < 0 else None


def a_shift_changes_nothing(case: Case) -> str | None:
    """Adding 2 to all scores changes no weight."""
    moved = (case.call(x=case.inputs["x"] + 2.0) - case.answer).abs().max().item()
    if moved < 1e-3:
        return None
    return (
        f"With 2 more for all scores a weight changes by {number(moved)}; the factor e^2 cancels."
    )


def over_the_first_axis(x: Tensor) -> Tensor:
    return x.softmax(dim=0)


def over_the_axis_before_the_last(x: Tensor) -> Tensor:
    return x.softmax(dim=-2)


def over_the_rows_if_there_are_any(x: Tensor) -> Tensor:
    return x.softmax(dim=-2 if x.dim() > 1 else -1)


def over_all_entries(x: Tensor) -> Tensor:
    return x.flatten().softmax(0).view_as(x)


def without_the_exponential(x: Tensor) -> Tensor:
    return x / x.sum(dim=-1, keepdim=True)


def of_absolute_values(x: Tensor) -> Tensor:
    return x.abs() / x.abs().sum(dim=-1, keepdim=True)


def without_subtracting_the_largest(x: Tensor) -> Tensor:
    return x.exp() / x.exp().sum(dim=-1, keepdim=True)


def subtracting_one_number_everywhere(x: Tensor) -> Tensor:
    powers = (x - x.max()).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def the_logarithm(x: Tensor) -> Tensor:
    return x.log_softmax(dim=-1)


def _thousands(draw: Draw) -> Inputs:
    return {"x": torch.tensor([1000.0, 999.0, -1000.0])}


def _far_rows(draw: Draw) -> Inputs:
    return {"x": torch.tensor([[0.0, 1.0], [-500.0, -501.0], [500.0, 500.0]])}


SOFTMAX = Exercise(
    solution=solutions.softmax,
    chapter="why/attention",
    title="The softmax, from exponentials and a sum",
    difficulty=1,
    minutes=10,
    hints=(
        "Three steps: the exponential of every score, their sum along the last axis, a quotient.",
        "`sum(dim=-1, keepdim=True)` keeps an axis of length 1, so that the quotient broadcasts.",
        "e^1000 is too large for a float. Subtract the largest score of each row first "
        "(`amax(dim=-1, keepdim=True)`): that changes no weight, because its factor cancels.",
    ),
    properties=(rows_sum_to_1, nothing_is_negative, a_shift_changes_nothing),
    mistakes=(
        Mistake(
            over_the_first_axis,
            "The columns sum to 1, not the rows: the sum runs over the first axis (dim=0), and "
            "should run over the last (dim=-1), the keys among which a query divides its weight.",
        ),
        Mistake(
            over_the_axis_before_the_last,
            "The sum runs over the axis before the last one (dim=-2): every key divides its weight "
            "among the queries, and it should be the other way round (dim=-1).",
            also=(over_the_rows_if_there_are_any,),
        ),
        Mistake(
            over_all_entries,
            "All entries together sum to 1, and each row should: sum along the last axis (dim=-1, "
            "keepdim=True), not over the whole tensor.",
        ),
        Mistake(
            without_the_exponential,
            "Here x is divided by its sum, without the exponential: such weights can be negative, "
            "and where the scores sum to 0 they are infinite.",
            erratum=5,
        ),
        Mistake(
            of_absolute_values,
            "Here are absolute values in the place of exponentials: a score of -3 would weigh more "
            "than one of 2.",
        ),
        Mistake(
            without_subtracting_the_largest,
            "Large scores overflow: e^1000 is infinite, and infinity over infinity is NaN. "
            "Subtract the largest score of each row before the exponential; no weight changes.",
        ),
        Mistake(
            subtracting_one_number_everywhere,
            "The largest score of the whole tensor is subtracted from every row; in a row far "
            "below it all exponentials are 0, and 0/0 is NaN. Each row needs its own largest.",
        ),
        Mistake(
            the_logarithm,
            "These are the logarithms of the weights (log_softmax); the weights are wanted.",
        ),
    ),
    edges=(_thousands, _far_rows),
)


# Attention -----------------------------------------------------------------------------------


def _mask(case: Case) -> Tensor:
    mask = case.inputs["mask"]
    shape = case.target[1].shape
    return torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)


def weights_sum_to_1(case: Case) -> str | None:
    """Each query's weights sum to 1."""
    weights = case.answer[1]
    sees = _mask(case).any(-1, keepdim=True)
    # A query that may look nowhere has no weight to divide.
    filled = torch.where(sees, weights, torch.full_like(weights, 1 / weights.size(-1)))
    return row_that_does_not_sum_to_1(filled, "the weights")


def hidden_keys_get_nothing(case: Case) -> str | None:
    """A hidden key has weight 0."""
    hidden = case.answer[1].masked_fill(_mask(case), 0.0)
    if not hidden.any() and not hidden.isnan().any():
        return None
    index = hidden.nonzero()[0].tolist()
    where = f"Query {index[-2]} gives key {index[-1]}"
    return f"{where}, which the mask hides, a weight of {number(hidden[tuple(index)].item())}."


def the_output_is_the_weighted_sum(case: Case) -> str | None:
    """The output is the weights times the values."""
    output, weights = case.answer
    if torch.allclose(output, weights @ case.inputs["value"], rtol=1e-3, atol=1e-4):
        return None
    return "The output is not weights @ value for the weights that you return."


def _attention(query: Tensor, key: Tensor, scale: float | None = None) -> Tensor:
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    return factor * query @ key.transpose(-2, -1)


def _filled(scores: Tensor, mask: Mask, fill: float = -math.inf) -> Tensor:
    return scores if mask is None else scores.masked_fill(~mask, fill)


def _finish(weights: Tensor, value: Tensor, mask: Mask = None) -> Attended:
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights


def without_scaling(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _finish(_filled(_attention(query, key, 1.0), mask).softmax(-1), value, mask)


def scaled_by_d_k(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    scores = _attention(query, key, 1 / query.size(-1))
    return _finish(_filled(scores, mask).softmax(-1), value, mask)


def multiplied_by_the_root(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    scores = _attention(query, key, math.sqrt(query.size(-1)))
    return _finish(_filled(scores, mask).softmax(-1), value, mask)


def scaled_by_the_length(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    scores = _attention(query, key, 1 / math.sqrt(key.size(-2)))
    return _finish(_filled(scores, mask).softmax(-1), value, mask)


def softmax_over_the_queries(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _finish(_filled(_attention(query, key), mask).softmax(-2).nan_to_num(), value, mask)


def the_mask_forgotten(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _finish(_attention(query, key).softmax(-1), value)


def the_mask_the_other_way_round(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    turned = None if mask is None else ~mask
    return _finish(_filled(_attention(query, key), turned).softmax(-1), value, turned)


def mask_by_multiplying(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _finish(_filled(_attention(query, key), mask, 0.0).softmax(-1), value)


def the_mask_on_exponentials(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _masked_powers(_attention(query, key).exp(), value, mask)


def the_mask_on_shifted_exponentials(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask
) -> Attended:
    scores = _attention(query, key)
    return _masked_powers((scores - scores.amax(dim=-1, keepdim=True)).exp(), value, mask)


def _masked_powers(powers: Tensor, value: Tensor, mask: Mask) -> Attended:
    powers = powers if mask is None else powers * mask
    return _finish(powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30), value)


def mask_after_the_softmax(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _finish(_attention(query, key).softmax(-1), value, mask)


def a_large_negative_fill(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _finish(_filled(_attention(query, key), mask, -1e9).softmax(-1), value)


def minus_infinity_alone(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    return _finish(_filled(_attention(query, key), mask).softmax(-1), value)


def weights_first(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attended:
    output, weights = solutions.scaled_dot_product_attention(query, key, value, mask)
    return weights, output


def _maybe_mask(draw: Draw) -> Tensor | None:
    return draw.open_mask("*batch query key") if draw.seed else None


def _blind_query(draw: Draw) -> Inputs:
    mask = draw.open_mask("*batch query key")
    mask[..., 0, :] = False
    return {"mask": mask}


def _one_row_for_all_queries(draw: Draw) -> Inputs:
    """A mask with one row for all queries, as padding has it."""
    return {"mask": draw.open_mask("*batch 1 key")}


def _far_scores(draw: Draw) -> Inputs:
    """Scores of 200 overflow; the second query's largest is hidden from it."""
    return {
        "query": torch.tensor([[20.0, 0.0], [0.0, 20.0]]),
        "key": torch.tensor([[15.0, 0.0], [0.0, 15.0], [14.9, 0.0]]),
        "value": draw.normal("3 d_v"),
        "mask": torch.tensor([[True, False, True], [True, False, True]]),
    }


def _one_mask_for_all(draw: Draw) -> Inputs:
    draw.batch = (2, 3)
    tensors = {name: draw.normal(f"*batch {axes}") for name, axes in _QKV.items()}
    return {**tensors, "mask": draw.open_mask("query key")}


_QKV = {"query": "query d_k", "key": "key d_k", "value": "key d_v"}

ATTENTION = Exercise(
    solution=solutions.scaled_dot_product_attention,
    chapter="why/attention",
    title="Equation 1, with a mask",
    difficulty=2,
    minutes=20,
    hints=(
        "In the order of Figure 2: product, scale, mask, softmax, product. Write down the shape "
        "after each step.",
        "The scores are `query @ key.transpose(-2, -1)`, (..., query, key). `masked_fill(~mask, "
        "-math.inf)` hides scores, `softmax(dim=-1)` runs over the keys.",
        "A row of nothing but minus infinity comes out of the softmax as NaN. Fill what is hidden "
        "with 0 once more, after the softmax.",
    ),
    returns=("the output", "the weights"),
    properties=(weights_sum_to_1, hidden_keys_get_nothing, the_output_is_the_weighted_sum),
    values={"mask": _maybe_mask},
    edges=(_one_mask_for_all, _blind_query, _one_row_for_all_queries, _far_scores),
    mistakes=(
        Mistake(
            without_scaling,
            "The scores are not divided by the root of d_k: the wider the keys, the further apart "
            "they are, and the softmax saturates.",
        ),
        Mistake(
            scaled_by_d_k,
            "The scores are divided by d_k, and should be by its root: as they are, wide keys make "
            "all weights alike.",
        ),
        Mistake(
            multiplied_by_the_root,
            "The scores are multiplied by the root of d_k, and should be divided by it.",
        ),
        Mistake(
            scaled_by_the_length,
            "The scores are divided by the root of the number of keys; d_k is the width of a key, "
            "query.size(-1).",
        ),
        Mistake(
            softmax_over_the_queries,
            "The softmax has run over the queries (dim=-2): the columns of the weights sum to 1, "
            "and the rows should.",
        ),
        Mistake(the_mask_forgotten, "The mask changes nothing: hidden keys are looked at."),
        Mistake(
            the_mask_the_other_way_round,
            "The mask is taken the other way round: True says where a query may attend, so what is "
            "filled is ~mask.",
        ),
        Mistake(
            mask_by_multiplying,
            "Hidden scores have become 0, and e^0 is 1: such keys keep a weight. They must become "
            "minus infinity before the softmax.",
            erratum=6,
        ),
        Mistake(
            the_mask_on_exponentials,
            "The mask multiplies the exponentials. Those of large scores are infinite, and become "
            "NaN; beside a hidden score that is far larger, those of all others are 0. Fill hidden "
            "scores with minus infinity, and the softmax does the rest.",
            also=(the_mask_on_shifted_exponentials,),
        ),
        Mistake(
            mask_after_the_softmax,
            "The mask is applied only after the softmax: the hidden keys have had their share, and "
            "the weights of the others no longer sum to 1.",
        ),
        Mistake(
            a_large_negative_fill,
            "A query that may attend nowhere looks everywhere: where all scores are -1e9, the "
            "softmax sees no difference between them. Its weights should be 0.",
            erratum=10,
        ),
        Mistake(
            minus_infinity_alone,
            "A query that may attend nowhere gives NaN: all its scores are minus infinity, and 0/0 "
            "is no number. Its weights should be 0.",
            erratum=10,
        ),
        Mistake(weights_first, "The two results are in the wrong order: first the output."),
    ),
)
