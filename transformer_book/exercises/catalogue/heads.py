"""Heads, cut and joined, and multi-head attention: what is asked, and what goes wrong."""

import math
from typing import Any

import torch
from torch import Tensor

from transformer.attention import scaled_dot_product_attention

from transformer_book.exercises.exercise import Case, Exercise, Inputs, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import heads as solutions

# Cut and joined ------------------------------------------------------------------------------


def each_head_has_its_own_channels(case: Case) -> str | None:
    """Head h of a position has that position's h-th block of channels."""
    x, answer = case.inputs["x"], case.answer
    width = answer.size(-1)
    for h in range(answer.size(1)):
        block = x[:, :, h * width : (h + 1) * width]
        if not torch.equal(answer[:, h], block):
            return (
                f"Head {h} should have the channels {h * width} to {(h + 1) * width - 1} of every "
                "position, in their order; it has numbers from elsewhere."
            )
    return None


def cut_without_the_transpose(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1))


def cut_across_positions(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


def every_nth_channel(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


SPLIT = Exercise(
    solution=solutions.split_heads,
    chapter="architecture/multi_head_attention",
    title="Cut the channels into heads",
    difficulty=1,
    minutes=10,
    hints=(
        "Two steps: the channels become two axes, (heads, width); then the axes change places.",
        "`unflatten(-1, (n_heads, -1))` makes two axes of the last one; `transpose(1, 2)` swaps.",
    ),
    properties=(each_head_has_its_own_channels,),
    sizes={"batch": (2, 3, 2), "len": (5, 4, 6), "channels": (12, 10, 12)},
    values={"n_heads": lambda draw: (3, 2, 4)[draw.level]},
    edges=(lambda draw: {"n_heads": 1},),
    mistakes=(
        Mistake(
            cut_without_the_transpose,
            "The channels are cut rightly, but the axes are (batch, len, heads, width): the heads "
            "have to come before the positions, so that each attends by itself.",
        ),
        Mistake(
            cut_across_positions,
            "One reshape from (batch, len, channels) to (batch, heads, len, width) has mixed "
            "positions: it reads the numbers in their order in memory. Cut the channels first, "
            "then swap the axes.",
        ),
        Mistake(
            every_nth_channel,
            "Head h has got the channels h, h + n_heads and so on; it should have a block of "
            "neighbours: (n_heads, -1) in that order.",
        ),
    ),
)


def heads_lie_side_by_side(case: Case) -> str | None:
    """Each position has its heads side by side."""
    x, answer = case.inputs["x"], case.answer
    width = x.size(-1)
    for h in range(x.size(1)):
        if not torch.equal(answer[..., h * width : (h + 1) * width], x[:, h]):
            return f"Head {h}'s numbers are not the {h + 1}th block of each position's channels."
    return None


def joined_without_the_transpose(x: Tensor) -> Tensor:
    return x.reshape(x.size(0), x.size(2), -1)


def heads_interleaved(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def heads_added(x: Tensor) -> Tensor:
    return x.sum(dim=1)


JOIN = Exercise(
    solution=solutions.join_heads,
    chapter="architecture/multi_head_attention",
    title="Put the heads side by side",
    difficulty=1,
    minutes=5,
    hints=(
        "It undoes what `split_heads` does, so its two steps are that one's, backwards.",
        "`transpose(1, 2)`, then `flatten(2)`. After a transpose `view` refuses, and `reshape` and "
        "`flatten` copy.",
    ),
    properties=(heads_lie_side_by_side,),
    mistakes=(
        Mistake(
            joined_without_the_transpose,
            "The right shape, but without the transpose a row has numbers of several positions: "
            "bring the positions before the heads first.",
        ),
        Mistake(
            heads_interleaved,
            "The heads' numbers alternate; each head's should stay together: (heads, width) in "
            "that order before they are joined.",
        ),
        Mistake(
            heads_added,
            "The heads are added up; they should lie side by side (the paper's Concat).",
        ),
    ),
)


# Multi-head attention ------------------------------------------------------------------------


def _split(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def _parts(arguments: tuple[Any, ...]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]:
    """Heads' queries, keys and values, the last matrix, and the mask."""
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask = arguments
    q, k, v = query @ w_query, key @ w_key, value @ w_value
    return _split(q, n_heads), _split(k, n_heads), _split(v, n_heads), w_output, mask


def a_single_head(*arguments: Any) -> Tensor:
    query, key, value, w_query, w_key, w_value, w_output, _, mask = arguments
    return solutions.multi_head_attention(
        query, key, value, w_query, w_key, w_value, w_output, 1, mask
    )


def mixed_positions(*arguments: Any) -> Tensor:
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask = arguments
    batch = query.size(0)
    q, k, v = (
        (x @ w).reshape(batch, n_heads, x.size(1), -1)
        for x, w in ((query, w_query), (key, w_key), (value, w_value))
    )
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return heads.transpose(1, 2).flatten(2) @ w_output


def joined_wrongly(*arguments: Any) -> Tensor:
    q, k, v, w_output, mask = _parts(arguments)
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return heads.reshape(heads.size(0), heads.size(2), -1) @ w_output


def scaled_by_the_whole_width(*arguments: Any) -> Tensor:
    q, k, v, w_output, mask = _parts(arguments)
    heads, _ = scaled_dot_product_attention(q / arguments[7] ** 0.5, k, v, mask)
    return heads.transpose(1, 2).flatten(2) @ w_output


def _by_softmax(arguments: tuple[Any, ...], fill: float) -> Tensor:
    """Heads whose hidden scores get a number, and nothing else."""
    q, k, v, w_output, mask = _parts(arguments)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores if mask is None else scores.masked_fill(~mask, fill)
    return (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2) @ w_output


def a_large_negative_fill(*arguments: Any) -> Tensor:
    return _by_softmax(arguments, -1e9)


def minus_infinity_alone(*arguments: Any) -> Tensor:
    return _by_softmax(arguments, -math.inf)


def no_mask(*arguments: Any) -> Tensor:
    return solutions.multi_head_attention(*arguments[:8])


def keys_and_values_of_the_query(*arguments: Any) -> Tensor:
    query = arguments[0]
    return solutions.multi_head_attention(query, query, query, *arguments[3:])


def values_of_the_keys(*arguments: Any) -> Tensor:
    query, key, _, *others = arguments
    return solutions.multi_head_attention(query, key, key, *others)


def without_w_output(*arguments: Any) -> Tensor:
    q, k, v, _, mask = _parts(arguments)
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return heads.transpose(1, 2).flatten(2)


def _maybe_mask(draw: Draw) -> Tensor | None:
    return draw.open_mask("batch 1 query key") if draw.seed else None


def _self_attention(draw: Draw) -> Inputs:
    x = draw.normal("batch query d_model")
    mask = draw.open_mask("batch 1 query query")
    return {"query": x, "key": x.clone(), "value": x.clone(), "mask": mask}


def _blind_query(draw: Draw) -> Inputs:
    mask = draw.open_mask("batch 1 query key")
    mask[..., 0, :] = False
    return {"mask": mask}


def _one_row_for_all_queries(draw: Draw) -> Inputs:
    """A mask with one row for all queries, as padding has it."""
    return {"mask": draw.open_mask("batch 1 1 key")}


def _far_scores(draw: Draw) -> Inputs:
    """Scores far apart, of which the largest may be hidden."""
    mask = draw.open_mask("batch 1 query key", 0.3)
    return {"query": 200 * draw.normal("batch query d_model"), "mask": mask}


MULTI_HEAD = Exercise(
    solution=solutions.multi_head_attention,
    chapter="architecture/multi_head_attention",
    title="All heads at once, over given matrices",
    difficulty=3,
    minutes=30,
    hints=(
        "Project, cut into heads, attend, join, project: five steps, and the middle one you have.",
        "`query @ w_query` projects for all heads at once; then `unflatten(-1, (n_heads, -1))` and "
        "`transpose(1, 2)` make (batch, heads, query, d_k) of it.",
        "`scaled_dot_product_attention` carries leading axes along and divides by the root of one "
        "head's width. After it `transpose(1, 2).flatten(2)`, then `@ w_output`.",
    ),
    properties=(),
    sizes={
        "batch": (1, 2, 3),
        "query": (3, 4, 2),
        "key": (5, 5, 6),
        "d_model": (8, 10, 7),
        "h_d_k": (6, 6, 8),
        "h_d_v": (4, 9, 10),
    },
    values={"n_heads": lambda draw: (2, 3, 2)[draw.level], "mask": _maybe_mask},
    edges=(
        _self_attention,
        lambda draw: {"n_heads": 1},
        _blind_query,
        _one_row_for_all_queries,
        _far_scores,
    ),
    mistakes=(
        Mistake(
            a_single_head,
            "All channels form one head here: n_heads changes nothing. Cut queries, keys and "
            "values into heads before they attend.",
        ),
        Mistake(
            mixed_positions,
            "The heads are cut with one reshape, which mixes positions: first cut the channels "
            "into (heads, width), then swap positions and heads.",
        ),
        Mistake(
            joined_wrongly,
            "The heads are joined without swapping heads and positions back, so that a row has "
            "numbers of several positions: transpose(1, 2) comes before flatten(2).",
        ),
        Mistake(
            scaled_by_the_whole_width,
            "The scores are divided by the root of the width of all heads together; d_k is the "
            "width of one head.",
        ),
        Mistake(
            a_large_negative_fill,
            "A query that may attend nowhere looks everywhere: all its scores are the same large "
            "negative number. Fill its weights with 0 after the softmax.",
            erratum=10,
        ),
        Mistake(
            minus_infinity_alone,
            "A query that may attend nowhere gives NaN: all its scores are minus infinity, and 0/0 "
            "is no number. Fill its weights with 0 after the softmax.",
            erratum=10,
        ),
        Mistake(no_mask, "The mask does not get to the attention: hidden keys are looked at."),
        Mistake(
            keys_and_values_of_the_query,
            "Keys and values are made from the query's vectors; they come from `key` and `value`, "
            "or else no decoder could look at the encoder's output.",
        ),
        Mistake(
            values_of_the_keys,
            "The values are made from `key`; they come from `value`. In a Transformer both are the "
            "same vectors, so this would not show there.",
        ),
        Mistake(
            without_w_output,
            "The heads lie side by side, and the last product is missing: @ w_output mixes them "
            "and brings them back to d_model.",
        ),
    ),
)
