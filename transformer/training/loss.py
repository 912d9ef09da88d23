"""Label smoothing (section 5.4)."""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def label_smoothing_loss(
    logits: Float[Tensor, "*batch vocab"],
    target: Int[Tensor, "*batch"],
    smoothing: float,
    pad_id: int,
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """Cross-entropy against (1 - smoothing) of the true token and smoothing of the uniform one.

    The uniform distribution covers all of the vocabulary, the true token included (Szegedy et
    al. 2016, which the paper cites).

    Returns:
        The loss summed over the tokens that are not padding, in nats, and their number. Divide
        the one by the other only after summing both over everything that makes one step.

    Raises:
        ValueError: smoothing is not in [0, 1).
    """
    _require_smoothing(smoothing)
    loss = F.cross_entropy(
        logits.reshape(-1, logits.size(-1)).float(),
        target.reshape(-1),
        ignore_index=pad_id,
        reduction="sum",
        label_smoothing=smoothing,
    )
    return loss, (target != pad_id).sum()


def smoothed_targets(
    target: Int[Tensor, "*batch"], vocab_size: int, smoothing: float
) -> Float[Tensor, "*batch vocab"]:
    """The distribution that the model is asked for: what `label_smoothing_loss` compares with."""
    _require_smoothing(smoothing)
    one_hot = F.one_hot(target, vocab_size).float()
    return (1 - smoothing) * one_hot + smoothing / vocab_size


def _require_smoothing(smoothing: float) -> None:
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing ({smoothing}) must be at least 0 and below 1")
