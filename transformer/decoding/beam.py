"""Beam search: at each step the few best beginnings, not only one (section 6.1)."""

import math
from bisect import insort
from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.decoding.hypothesis import Hypothesis
from transformer.decoding.loop import check_limits
from transformer.decoding.step import start_decoding
from transformer.decoding.tree import Step, steps
from transformer.introspect import pause_recording
from transformer.model import Transformer


def penalty(length: int, alpha: float) -> float:
    """What a sum of log-probabilities is divided by: ((5 + length) / 6)^alpha.

    The paper takes it from Wu et al. (2016), equation 14, with alpha 0.6. Each token lowers the
    sum, so without it short outputs would win.
    """
    return ((5 + length) / 6) ** alpha


def beam_search(
    model: Transformer,
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
    """Translate a batch of sentences, keeping `beam_size` beginnings of each.

    Every step extends the beginnings by every token. Of the `beam_size` most probable results,
    those that the end mark ends are finished; the most probable others live on, again `beam_size`
    of them. A sentence is done when as many hypotheses are finished, or when no living beginning
    could become better than its `n_best` best ones, were all further tokens certain.

    Args:
        src: source tokens, padded with the model's pad_id.
        beam_size: how many beginnings live on; 1 is greedy search.
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
    training = model.training
    model.eval()
    try:
        with pause_recording(model), torch.inference_mode():
            return _search(
                model, src, beam_size, length_penalty, n_best, bos_id, eos_id, max_len, watch
            )
    finally:
        model.train(training)


def _search(
    model: Transformer,
    src: Tensor,
    beam_size: int,
    alpha: float,
    n_best: int,
    bos_id: int,
    eos_id: int,
    max_len: int,
    watch: Callable[[Step], None] | None,
) -> list[list[Hypothesis]]:
    n_sentences = src.size(0)
    decoder = start_decoding(model, src, beam_size)
    # The beginnings of a sentence stand below each other: row = sentence * beam_size + beginning.
    output = src.new_full((n_sentences * beam_size, 1), bos_id)
    score = torch.full((n_sentences, beam_size), -math.inf, device=src.device)
    score[:, 0] = 0.0  # at first they are all the same, so one is enough
    active = list(range(n_sentences))
    found: list[list[Hypothesis]] = [[] for _ in active]

    def goes_on(hypotheses: list[Hypothesis], hope: float) -> bool:
        enough = len(hypotheses) >= n_best and hope <= hypotheses[n_best - 1].score
        return not enough and len(hypotheses) < beam_size

    for length in range(1, max_len + 1):
        log_probs = decoder(output).float().log_softmax(dim=-1)
        # A beginning has one end, so of twice as many results at least half go on; and no
        # beginning has more than all of these among them.
        n_results = 2 * beam_size
        values, tokens = log_probs.topk(min(n_results, log_probs.size(1)))
        total = score[:, :, None] + values.unflatten(0, score.shape)
        before, (result, place) = score, total.flatten(1).topk(n_results)
        beginning, token = place // total.size(2), tokens.view(len(score), -1).gather(1, place)
        ended = token == eos_id
        results = (result / penalty(length, alpha)).masked_fill(~ended, -math.inf)[:, :beam_size]
        _keep_best(found, active, output, beginning, results)
        score, order = result.masked_fill(ended, -math.inf).topk(beam_size)

        # At best, all further tokens are certain, and the largest penalty divides the sum.
        hopes = (score[:, 0] / penalty(max_len, alpha)).tolist()
        going = [j for j, i in enumerate(active) if goes_on(found[i], hopes[j])]
        if watch is not None:
            for step in steps(
                length=length,
                cut=length == max_len,
                penalty=penalty(length, alpha),
                active=active,
                going=going,
                output=output,
                before=before,
                log_prob=values.view(len(active), -1).gather(1, place),
                total=result,
                beginning=beginning,
                token=token,
                ended=ended,
                order=order,
            ):
                watch(step)
        beginning, token = beginning.gather(1, order), token.gather(1, order)
        active = [active[j] for j in going]
        if not active:
            break
        if len(going) < len(score):
            output = output.unflatten(0, score.shape)[going].flatten(0, 1)
            score, beginning, token = score[going], beginning[going], token[going]
            decoder.select(torch.tensor(going, device=src.device))
        first = beam_size * torch.arange(len(active), device=src.device)
        rows = (first[:, None] + beginning).flatten()
        decoder.reorder(rows)
        output = torch.cat([output[rows], token.flatten()[:, None]], dim=1)
    else:
        whole = torch.arange(beam_size, device=src.device).expand_as(score)
        _keep_best(found, active, output, whole, score / penalty(max_len, alpha))
    return [hypotheses[:n_best] for hypotheses in found]


def _keep_best(
    found: list[list[Hypothesis]],
    active: list[int],
    output: Tensor,
    beginning: Tensor,
    score: Tensor,
) -> None:
    """Put hypotheses among the best of their sentences; those of probability 0 are none.

    `score` is (active sentences, hypotheses), `beginning` says from which beginning each comes.
    """
    beam_size = len(output) // len(active)
    rows = beginning[:, : score.size(1)].tolist()
    for place, (i, scores) in enumerate(zip(active, score.tolist(), strict=True)):
        for value, row in zip(scores, rows[place], strict=True):
            if value > -math.inf:
                tokens = output[place * beam_size + row, 1:].tolist()
                insort(found[i], Hypothesis(tokens, value), key=lambda h: -h.score)
                del found[i][beam_size:]
