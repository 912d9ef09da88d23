"""Sampling: at each step a token drawn from the model's distribution, or from its likely part."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from transformer.decoding.ensemble import Searchable
from transformer.decoding.generate import Hypothesis, check_limits, generate, searching
from transformer.decoding.steps import start_decoding

ROUNDING = 1e-6  # so far may a sum of float32 be from the sum that it stands for, relatively


def sample(
    model: Searchable,
    src: Int[Tensor, "batch src_len"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    bos_id: int,
    eos_id: int,
    max_len: int,
    n_samples: int = 1,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """Draw translations of a batch of sentences, token by token.

    With the defaults an output is drawn with the probability that the model gives it. The logits
    are divided by the temperature first; of what is likely then, `top_k` and after it `top_p`
    keep a part (see `likely_part`), and one of its tokens is drawn.

    Args:
        src: source tokens, padded with the model's pad_id.
        temperature: below 1 the likely tokens get likelier; towards 0 it is greedy search.
        top_k: draw from this many most probable tokens only (Fan et al., 2018).
        top_p: draw from the fewest most probable tokens that have this probability together
            (Holtzman et al., 2020).
        eos_id: the end mark; -1 for none, then every hypothesis has max_len tokens.
        max_len: the most tokens that a hypothesis may have.
        n_samples: how many hypotheses to draw for each sentence.
        generator: makes the draws reproducible, for the same batch; on the model's device.

    Returns:
        For each sentence `n_samples` hypotheses, in the order drawn. A score is the sum of the
        model's own log-probabilities, without temperature or limits, so that scores compare
        with those of the searches.

    Raises:
        ValueError: a setting is out of range.
    """
    check_limits(model, bos_id, eos_id, max_len)
    if not 0 < temperature < math.inf:
        raise ValueError(
            f"temperature ({temperature}) must be a number above 0; for 0 use greedy search"
        )
    _check_limits_of_part(top_k, top_p)
    if n_samples < 1:
        raise ValueError(f"n_samples ({n_samples}) must be at least 1")

    def draw(logits: Tensor) -> tuple[Tensor, Tensor]:
        # From 0 down, so that no temperature makes a number too large: the likeliest stay at 0.
        below = logits - logits.amax(dim=-1, keepdim=True)
        smallest = torch.finfo(logits.dtype).tiny
        part = likely_part((below / max(temperature, smallest)).log_softmax(dim=-1), top_k, top_p)
        token = part.exp().multinomial(1, generator=generator)
        return token[:, 0], logits.log_softmax(dim=-1).gather(1, token)[:, 0]

    with searching(model):
        src = src.repeat_interleave(n_samples, dim=0)
        limits = {"bos_id": bos_id, "eos_id": eos_id, "max_len": max_len}
        drawn = generate(start_decoding(model, src), src, draw, **limits)
    return [drawn[i : i + n_samples] for i in range(0, len(drawn), n_samples)]


def likely_part(
    log_probs: Float[Tensor, "*batch vocab"], top_k: int | None = None, top_p: float | None = None
) -> Float[Tensor, "*batch vocab"]:
    """The log-probabilities of the likely tokens, summing to 1 again; -inf for the others.

    Args:
        top_k: how many tokens stay; a vocabulary that is smaller stays whole.
        top_p: of these, the fewest most probable ones stay whose probabilities reach this sum.

    Raises:
        ValueError: a limit is out of range.
    """
    _check_limits_of_part(top_k, top_p)
    ordered, index = log_probs.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        ordered[..., top_k:] = -math.inf
    if top_p is not None and top_p < 1:
        reached = ordered.float().softmax(dim=-1).cumsum(dim=-1) >= top_p * (1 - ROUNDING)
        # Once the tokens before have reached top_p, a token is not needed; the first always is.
        unneeded = F.pad(reached[..., :-1], (1, 0))
        ordered = ordered.masked_fill(unneeded, -math.inf)
    return torch.empty_like(ordered).scatter_(-1, index, ordered).log_softmax(dim=-1)


def _check_limits_of_part(top_k: int | None, top_p: float | None) -> None:
    if top_k is not None and top_k < 1:
        raise ValueError(
            f"top_k ({top_k}) must be at least 1; leave it out to draw from all tokens"
        )
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(
            f"top_p ({top_p}) must be above 0 and at most 1; leave it out to draw from all tokens"
        )
