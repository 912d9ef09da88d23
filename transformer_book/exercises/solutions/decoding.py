"""Greedy search, and a step of beam search (section 6.1)."""

from collections.abc import Callable

from jaxtyping import Float, Int
from torch import Tensor


def greedy_search(
    next_logits: Callable[[list[int]], Tensor], bos_id: int, eos_id: int, max_len: int
) -> list[int]:
    """Write token by token, each time the most probable one.

    `next_logits(prefix)` gives the logits, (vocab,), of the token after a list of tokens, which
    begins with `bos_id`. The search ends when it finds `eos_id`, or with `max_len` tokens. The
    output is what comes after that first `bos_id`, without `eos_id`.
    """
    prefix = [bos_id]
    for _ in range(max_len):
        token = int(next_logits(prefix).argmax())
        if token == eos_id:
            break
        prefix.append(token)
    return prefix[1:]


def beam_step(
    totals: Float[Tensor, "beam"], log_probs: Float[Tensor, "beam vocab"], beam_size: int
) -> tuple[Float[Tensor, "best"], Int[Tensor, "best"], Int[Tensor, "best"]]:
    """Extend every prefix by every token, and keep the `beam_size` best.

    `totals` are the prefixes' sums of log-probabilities, `log_probs` those of each next token.
    Returns the new sums, best first; for each, the row of its prefix; and its token.
    """
    sums = totals[:, None] + log_probs
    best, index = sums.flatten().topk(beam_size)
    return best, index // sums.size(1), index % sums.size(1)
