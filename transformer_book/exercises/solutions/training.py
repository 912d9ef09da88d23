"""The loss (section 5.4) and the learning rate (section 5.3)."""

from jaxtyping import Float, Int
from torch import Tensor


def label_smoothing_loss(
    logits: Float[Tensor, "batch len vocab"],
    target: Int[Tensor, "batch len"],
    smoothing: float,
    pad_id: int,
) -> Float[Tensor, ""]:
    """Cross-entropy against 1 - smoothing of the true token and smoothing of the uniform one.

    The uniform distribution covers the whole vocabulary, the true token too. The loss is the sum,
    in nats, over all tokens of the target that are not padding.
    """
    log_probs = logits.log_softmax(dim=-1)
    true = log_probs.gather(-1, target[..., None]).squeeze(-1)
    loss = -(1 - smoothing) * true - smoothing * log_probs.mean(dim=-1)
    return loss[target != pad_id].sum()


def noam_rate(step: int, d_model: int, warmup: int) -> float:
    """Equation 3: the learning rate of a step, counted from 1."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
