"""Greedy search and a step of beam search: what is asked, and what goes wrong."""

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Inputs, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import decoding as solutions

Logits = Callable[[list[int]], Tensor]
VOCAB, BOS, EOS = 7, 1, 2


def no_marks_in_the_output(case: Case) -> str | None:
    """The output begins after bos_id and stops before eos_id."""
    bos_id, eos_id, output = case.inputs["bos_id"], case.inputs["eos_id"], list(case.answer)
    if eos_id in output:
        return f"eos_id ({eos_id}) is in the output, {output}; leave it out."
    if output[:1] == [bos_id]:
        return f"The output, {output}, begins with bos_id ({bos_id}); leave it out."
    return None


def at_most_max_len(case: Case) -> str | None:
    """There are at most max_len tokens."""
    most, length = case.inputs["max_len"], len(case.answer)
    return f"The output has {length} tokens, and max_len is {most}." if length > most else None


def keeps_the_start(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    return [bos_id, *solutions.greedy_search(next_logits, bos_id, eos_id, max_len)]


def keeps_the_end(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    output = solutions.greedy_search(next_logits, bos_id, eos_id, max_len)
    return output + [eos_id] * (len(output) < max_len)


def never_stops(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    return solutions.greedy_search(next_logits, bos_id, -1, max_len)


def without_any_start(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    output = solutions.greedy_search(next_logits, bos_id, eos_id, max_len)
    return [token for token in output if token != bos_id]


def reads_the_last_token_only(
    next_logits: Logits, bos_id: int, eos_id: int, max_len: int
) -> list[int]:
    return solutions.greedy_search(lambda prefix: next_logits(prefix[-1:]), bos_id, eos_id, max_len)


def reads_no_start(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    return solutions.greedy_search(
        lambda prefix: next_logits(prefix[1:] or prefix), bos_id, eos_id, max_len
    )


def one_token_too_many(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    return solutions.greedy_search(next_logits, bos_id, eos_id, max_len + 1)


def the_start_counted(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    return solutions.greedy_search(next_logits, bos_id, eos_id, max_len - 1)


def the_least_probable(next_logits: Logits, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    return solutions.greedy_search(lambda prefix: -next_logits(prefix), bos_id, eos_id, max_len)


def token_ids(prefix: Any) -> list[int]:
    """What a search hands to its `next_logits`, in the check as with the reader's own model.

    Raises:
        TypeError: it is no row of whole numbers.
    """
    try:
        return [operator.index(token) for token in prefix]
    except TypeError:
        given = f"of type {type(prefix).__name__}"
        if isinstance(prefix, Tensor):
            given = f"a tensor of shape {tuple(prefix.shape)} and {prefix.dtype}"
        raise TypeError(
            f"next_logits takes a list of token ids, such as [1, 5, 4]; this is {given}"
        ) from None


def _small_model(seed: int, ends_after: int, start_again: bool = False) -> Logits:
    """Logits that depend on all of the prefix; after so many tokens the end mark is best.

    Where it is to start again, its second token is the start mark.
    """
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(VOCAB, VOCAB, generator=generator)

    def next_logits(prefix: Any) -> Tensor:
        """A small model of 7 tokens: takes a list of token ids, gives the next one's logits."""
        tokens = token_ids(prefix)
        fading = torch.tensor([0.8 ** (len(tokens) - i) for i in range(len(tokens))])
        logits = (fading[:, None] * table[tokens]).sum(0)
        logits[BOS] += 9 if start_again and len(tokens) == 2 else -9
        logits[EOS] += 9 if len(tokens) > ends_after else -9
        return logits

    return next_logits


GREEDY = Exercise(
    solution=solutions.greedy_search,
    chapter="translation/decoding",
    title="Write the most probable token, again and again",
    difficulty=2,
    minutes=15,
    hints=(
        "A list that begins with bos_id, and a loop of at most max_len rounds.",
        "In each round: the logits after the whole list, `argmax`, and a look whether that is "
        "eos_id before anything is appended.",
        "`int(...)` makes a number of a tensor of one; `[1:]` leaves bos_id out at the end.",
    ),
    properties=(no_marks_in_the_output, at_most_max_len),
    values={
        "next_logits": lambda draw: _small_model(
            10 * draw.seed + draw.level, (2, 3, 4)[draw.level]
        ),
        "bos_id": lambda draw: BOS,
        "eos_id": lambda draw: EOS,
        "max_len": lambda draw: (5, 3, 9)[draw.level],
    },
    edges=(
        lambda draw: {"next_logits": _small_model(7, 0)},
        lambda draw: {"next_logits": _small_model(7, 20), "max_len": 12},
        lambda draw: {"next_logits": _small_model(8, 20), "max_len": 1},
        lambda draw: {"next_logits": _small_model(7, 4, start_again=True)},
    ),
    differentiable=False,
    mistakes=(
        Mistake(keeps_the_start, "The output begins with bos_id; leave it out."),
        Mistake(keeps_the_end, "The output ends with eos_id; leave it out."),
        Mistake(
            without_any_start,
            "Every bos_id is left out. Only the first is no part of the output; where the model "
            "writes it, it is a token like any other.",
        ),
        Mistake(
            never_stops,
            "The search does not stop at eos_id: what comes after the end of a sentence means "
            "nothing.",
            erratum=18,
        ),
        Mistake(
            reads_the_last_token_only,
            "Only the last token is given to the model; the next one depends on the whole prefix.",
        ),
        Mistake(
            reads_no_start, "bos_id is not given to the model, and every prefix begins with it."
        ),
        Mistake(
            one_token_too_many,
            "The output may have max_len tokens, and yours may have one more: bos_id does not "
            "count.",
        ),
        Mistake(
            the_start_counted,
            "The search ends one token early: bos_id does not count among the max_len tokens.",
        ),
        Mistake(
            the_least_probable, "The least probable token is taken (argmin); take the largest."
        ),
    ),
)


# Beam search ---------------------------------------------------------------------------------

Three = tuple[Tensor, Tensor, Tensor]


def best_first(case: Case) -> str | None:
    """The sums are sorted, best first."""
    sums = case.answer[0]
    return None if (sums[:-1] >= sums[1:]).all() else "The sums are not sorted, the best one first."


def sums_of_a_prefix_and_a_token(case: Case) -> str | None:
    """Each sum is its prefix's sum plus its token's log-probability."""
    best, parent, token = case.answer
    totals, log_probs = case.inputs["totals"], case.inputs["log_probs"]
    beam, vocab = log_probs.shape
    for i, (row, column) in enumerate(zip(parent.tolist(), token.tolist(), strict=True)):
        if not 0 <= row < beam:
            return f"Candidate {i} has the prefix {row}, and there are prefixes 0 to {beam - 1}."
        if not 0 <= column < vocab:
            return f"Candidate {i} has the token {column}, and there are tokens 0 to {vocab - 1}."
        expected = (totals[row] + log_probs[row, column]).item()
        if abs(best[i].item() - expected) > 1e-3:
            return (
                f"Candidate {i} is said to be prefix {row} with token {column}, whose sum is "
                f"{number(expected)}, and its sum is said to be {number(best[i].item())}."
            )
    return None


def _candidates(sums: Tensor, beam_size: int) -> Three:
    best, index = sums.flatten().topk(beam_size)
    return best, index // sums.size(1), index % sums.size(1)


def without_the_totals(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    return _candidates(log_probs, beam_size)


def the_best_of_each_prefix(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    log_prob, token = log_probs.max(dim=-1)
    best, parent = (totals + log_prob).topk(min(beam_size, len(totals)))
    return best, parent, token[parent]


def the_best_prefix_only(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    row = int(totals.argmax())
    best, token = (totals[row] + log_probs[row]).topk(min(beam_size, log_probs.size(1)))
    return best, torch.full_like(token, row), token


def divided_by_the_beam(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    best, index = (totals[:, None] + log_probs).flatten().topk(beam_size)
    return best, index // len(totals), index % len(totals)


def parent_and_token_exchanged(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    best, parent, token = solutions.beam_step(totals, log_probs, beam_size)
    return best, token, parent


def multiplied(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    return _candidates(totals[:, None] * log_probs, beam_size)


def the_worst(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    best, parent, token = _candidates(-(totals[:, None] + log_probs), beam_size)
    return -best, parent, token


def too_few_of_each_prefix(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    """As many as there are prefixes."""
    best, token = log_probs.topk(min(len(totals), log_probs.size(1)))
    sums = totals[:, None] + best
    found, index = sums.flatten().topk(beam_size)
    return found, index // sums.size(1), token.flatten()[index]


def best_from_minus_ten_thousand(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    return _one_by_one(totals[:, None] + log_probs, beam_size, -1e4)


def best_from_zero(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    return _one_by_one(totals[:, None] + log_probs, beam_size, 0.0)


def _one_by_one(sums: Tensor, beam_size: int, start: float) -> Three:
    """The largest of those that are above a number, again and again."""
    left, found = sums.flatten().tolist(), []
    for _ in range(beam_size):
        best, index = start, 0
        for i, each in enumerate(left):
            if each > best:
                best, index = each, i
        found.append((best, index))
        left[index] = -math.inf
    indices = torch.tensor([index for _, index in found])
    largest = torch.tensor([best for best, _ in found])
    return largest, indices // sums.size(1), indices % sums.size(1)


def added_along_the_tokens(totals: Tensor, log_probs: Tensor, beam_size: int) -> Three:
    return _candidates(totals + log_probs, beam_size)


def _totals(draw: Draw) -> Tensor:
    return -draw.normal("beam").abs()


def _log_probs(draw: Draw) -> Tensor:
    return draw.normal("beam vocab", 2.0).log_softmax(dim=-1)


def _first_step(draw: Draw) -> Inputs:
    """At first all prefixes are the same, so only one may count."""
    log_probs = _log_probs(draw)[:1].expand(draw.size("beam"), -1).clone()
    totals = torch.full((draw.size("beam"),), -1e6)
    totals[0] = 0.0
    return {"totals": totals, "log_probs": log_probs}


def _one_prefix_has_all(draw: Draw) -> Inputs:
    """As a search begins: twice as many are asked for as there are prefixes, and one counts."""
    log_probs = draw.normal("4 10", 2.0).log_softmax(dim=-1)
    totals = torch.tensor([0.0, -math.inf, -math.inf, -math.inf])
    return {"totals": totals, "log_probs": log_probs, "beam_size": 8}


def _far_down(draw: Draw) -> Inputs:
    return {"totals": _totals(draw) - 20_000}


def _as_many_as_tokens(draw: Draw) -> Inputs:
    log_probs = draw.normal("beam beam", 2.0).log_softmax(dim=-1)
    return {"log_probs": log_probs}


BEAM = Exercise(
    solution=solutions.beam_step,
    chapter="translation/decoding",
    title="One step of beam search",
    difficulty=2,
    minutes=20,
    hints=(
        "All candidates form a matrix, (beam, vocab): a prefix's sum plus a token's "
        "log-probability. All of them compete with each other.",
        "`flatten().topk(beam_size)` gives the best sums and where they stood in one long row.",
        "In a row of beam * vocab numbers the prefix is index // vocab, and the token index % "
        "vocab.",
    ),
    returns=("the sums", "the prefixes", "the tokens"),
    differentiable=False,
    properties=(best_first, sums_of_a_prefix_and_a_token),
    sizes={"beam": (2, 3, 5), "vocab": (3, 5, 8)},
    values={
        "totals": _totals,
        "log_probs": _log_probs,
        "beam_size": lambda draw: (2, 3, 4)[draw.level],
    },
    edges=(
        _first_step,
        _as_many_as_tokens,
        lambda draw: {"beam_size": 1},
        _one_prefix_has_all,
        _far_down,
    ),
    mistakes=(
        Mistake(
            without_the_totals,
            "What the prefixes have cost so far is not counted: add `totals` to every row.",
        ),
        Mistake(
            the_best_of_each_prefix,
            "Each prefix gets one candidate, its best: two children of a good prefix may both be "
            "better than any child of a bad one.",
        ),
        Mistake(
            too_few_of_each_prefix,
            "Each prefix gets as many candidates as there are prefixes; beam_size may be larger, "
            "and all of the best may be children of one prefix.",
        ),
        Mistake(
            best_from_minus_ten_thousand,
            "A best sum is looked for from a number on that sums may be below: begin with "
            "-math.inf, or let topk look.",
            also=(best_from_zero,),
        ),
        Mistake(
            the_best_prefix_only,
            "Only the best prefix is extended; the others' candidates compete with its.",
        ),
        Mistake(
            divided_by_the_beam,
            "The place in the flat row is divided by the number of prefixes; a row has as many "
            "numbers as there are tokens: divide by the vocabulary.",
        ),
        Mistake(
            parent_and_token_exchanged,
            "Prefixes and tokens are swapped: first the row, then the token.",
        ),
        Mistake(
            multiplied,
            "Log-probabilities are multiplied; a product of probabilities is a sum of logarithms.",
        ),
        Mistake(the_worst, "These are the worst candidates: topk gives the largest sums."),
        Mistake(
            added_along_the_tokens,
            "`totals` is added along the tokens: totals[:, None] gives every row its own sum.",
        ),
    ),
)
