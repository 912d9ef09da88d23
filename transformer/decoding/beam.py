"""Beam search: at each step the few best prefixes, not only one (section 6.1)."""

import math
from bisect import insort
from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.decoding.ensemble import Searchable
from transformer.decoding.generate import Hypothesis, check_limits, searching
from transformer.decoding.steps import start_decoding
from transformer.decoding.tree import Candidates, Expansion, Step, steps_of


def penalty(length: int, alpha: float) -> float:
    """What a sum of log-probabilities is divided by: ((5 + length) / 6)^alpha.

    The paper takes it from Wu et al. (2016), equation 14, with alpha 0.6. Each token lowers the
    sum, so without it short outputs would win.
    """
    return ((5 + length) / 6) ** alpha


def beam_search(
    model: Searchable,
    src: Int[Tensor, "batch src_len"],
    *,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    bos_id: int,
    eos_id: int,
    max_len: int,
    n_best: int = 1,
    watch: Callable[[Step], None] | None = None,
) -> list[list[Hypothesis]]:
    """Translate a batch of sentences, keeping `beam_size` prefixes of each.

    Every step extends the prefixes by every token. Of the `beam_size` most probable candidates,
    those that the end mark ends are finished; the most probable others are the next prefixes,
    again `beam_size` of them. A sentence is done when as many hypotheses are finished, or when no
    prefix could become better than its `n_best` best ones, were all further tokens certain.

    Args:
        src: source tokens, padded with the model's pad_id.
        beam_size: how many prefixes are kept; 1 is greedy search.
        length_penalty: alpha of `penalty`; 0 compares plain sums.
        eos_id: the end mark; -1 for none, then every hypothesis has max_len tokens.
        max_len: the most tokens that a hypothesis may have.
        n_best: how many hypotheses to return, at most beam_size.
        watch: is given each `Step` of each sentence, e.g. a `SearchTree`.

    Returns:
        For each sentence its hypotheses, best first. A score is the sum of the log-probabilities,
        the end mark's too, divided by the penalty of their number.

    Raises:
        ValueError: a setting is out of range.
    """
    check_limits(model, bos_id, eos_id, max_len)
    if beam_size < 1:
        raise ValueError(f"beam_size ({beam_size}) must be at least 1")
    if not 1 <= n_best <= beam_size:
        raise ValueError(f"n_best ({n_best}) must be between 1 and beam_size ({beam_size})")
    if not 0 <= length_penalty < float("inf"):
        raise ValueError(f"length_penalty ({length_penalty}) must be a number from 0 up")
    with searching(model):
        return _search(
            model,
            src,
            watch,
            beam_size=beam_size,
            alpha=length_penalty,
            n_best=n_best,
            bos_id=bos_id,
            eos_id=eos_id,
            max_len=max_len,
        )


def _search(
    model: Searchable,
    src: Tensor,
    watch: Callable[[Step], None] | None,
    *,
    beam_size: int,
    alpha: float,
    n_best: int,
    bos_id: int,
    eos_id: int,
    max_len: int,
) -> list[list[Hypothesis]]:
    n_sentences = src.size(0)
    decoder = start_decoding(model, src, beam_size)
    # The prefixes of a sentence stand below each other: row = sentence * beam_size + prefix.
    output = src.new_full((n_sentences * beam_size, 1), bos_id)
    total = torch.full((n_sentences, beam_size), -math.inf, device=src.device)
    total[:, 0] = 0.0  # at first they are all the same, so one is enough
    active = list(range(n_sentences))
    finished: list[list[Hypothesis]] = [[] for _ in active]

    def continues(hypotheses: list[Hypothesis], bound: float) -> bool:
        enough = len(hypotheses) >= n_best and bound <= hypotheses[n_best - 1].score
        return not enough and len(hypotheses) < beam_size

    for length in range(1, max_len + 1):
        log_probs = decoder(output).float().log_softmax(dim=-1)
        candidates = _extend(total, log_probs, eos_id)
        divisor = penalty(length, alpha)
        scores = (candidates.total / divisor).masked_fill(~candidates.ended, -math.inf)
        _keep_best(finished, active, output, candidates.parent, scores[:, :beam_size])
        previous = total
        total, kept = candidates.total.masked_fill(candidates.ended, -math.inf).topk(beam_size)

        # At best, all further tokens are certain, and the largest penalty divides the sum.
        bounds = (total[:, 0] / penalty(max_len, alpha)).tolist()
        survivors = [j for j, i in enumerate(active) if continues(finished[i], bounds[j])]
        if watch is not None:
            cut = length == max_len
            step = Expansion(
                length, divisor, cut, active, survivors, output, previous, candidates, kept
            )
            for one in steps_of(step):
                watch(one)
        parent, token = candidates.parent.gather(1, kept), candidates.token.gather(1, kept)
        active = [active[j] for j in survivors]
        if not active:
            break
        if len(survivors) < len(total):
            output = output.unflatten(0, total.shape)[survivors].flatten(0, 1)
            total, parent, token = total[survivors], parent[survivors], token[survivors]
            decoder.select(torch.tensor(survivors, device=src.device))
        first = beam_size * torch.arange(len(active), device=src.device)
        rows = (first[:, None] + parent).flatten()
        decoder.reorder(rows)
        output = torch.cat([output[rows], token.flatten()[:, None]], dim=1)
    else:
        every = torch.arange(beam_size, device=src.device).expand_as(total)
        _keep_best(finished, active, output, every, total / penalty(max_len, alpha))
    return [hypotheses[:n_best] for hypotheses in finished]


def _extend(total: Tensor, log_probs: Tensor, eos_id: int) -> Candidates:
    """The most probable candidates of each sentence, twice as many as it has prefixes.

    `total` is (sentences, beam_size), `log_probs` is (sentences * beam_size, vocab). Only one
    candidate of a prefix ends it, so at least half of those returned do not end.
    """
    n_candidates = 2 * total.size(1)
    # No prefix can have more than all of them among them.
    log_prob, token = log_probs.topk(min(n_candidates, log_probs.size(1)))
    totals = total[:, :, None] + log_prob.unflatten(0, total.shape)
    best, index = totals.flatten(1).topk(n_candidates)
    parent = index // totals.size(2)
    token, log_prob = (x.view(len(total), -1).gather(1, index) for x in (token, log_prob))
    return Candidates(parent, token, log_prob, best, token == eos_id)


def _keep_best(
    found: list[list[Hypothesis]],
    active: list[int],
    output: Tensor,
    parent: Tensor,
    score: Tensor,
) -> None:
    """Put hypotheses among the best of their sentences; those of probability 0 are none.

    `score` is (active sentences, hypotheses), `parent` says which prefix each hypothesis is.
    """
    beam_size = len(output) // len(active)
    parents = parent[:, : score.size(1)].tolist()
    for j, (i, scores) in enumerate(zip(active, score.tolist(), strict=True)):
        for value, prefix in zip(scores, parents[j], strict=True):
            if value > -math.inf:
                tokens = output[j * beam_size + prefix, 1:].tolist()
                insort(found[i], Hypothesis(tokens, value), key=lambda h: -h.score)
                del found[i][beam_size:]
