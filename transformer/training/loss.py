"""Label smoothing (section 5.4), and the loss on sentences that the model does not learn from."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from transformer.decoding.ensemble import Searchable
from transformer.model import EncoderDecoder
from transformer.text import BOS_ID, EOS_ID
from transformer.text.batching import TokenPair, make_batch, token_batches

# The logits of 25,000 tokens and a vocabulary of 37,000 are 3.7 GB in float32, and the loss holds
# four such tensors: logits, their logarithms, and the gradients of both. Of so many numbers at
# once, half a GB, they take 2 GB.
MOST_LOGITS = 2**27


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


class ModelWithLoss(nn.Module):
    """Tokens in, loss out: what is compiled, and what several processes share.

    In one piece with the model, a compiler need not write the logits in float32 at all. Where
    nobody compiles and there are many of them, they are computed in slices.
    """

    def __init__(self, model: EncoderDecoder, smoothing: float) -> None:
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(
        self,
        src: Int[Tensor, "batch src_len"],
        tgt_in: Int[Tensor, "batch tgt_len"],
        tgt_out: Int[Tensor, "batch tgt_len"],
    ) -> Float[Tensor, ""]:
        """The loss summed over the tokens of `tgt_out` that are not padding."""
        model, vocab_size = self.model, self.model.config.tgt_vocab_size
        if torch.compiler.is_compiling() or tgt_out.numel() * vocab_size <= MOST_LOGITS:
            return self._loss(model(src, tgt_in), tgt_out)
        hidden = model.decode(tgt_in, model.encode(src), src)
        return self.in_slices(hidden, tgt_out, max(1, MOST_LOGITS // vocab_size))

    def in_slices(
        self,
        hidden: Float[Tensor, "batch tgt_len d_model"],
        target: Int[Tensor, "batch tgt_len"],
        size: int,
    ) -> Float[Tensor, ""]:
        """The same, with the logits of `size` tokens at a time.

        Those of a slice are thrown away and computed again in the backward pass: one product more,
        in place of the memory for all of them.
        """
        slices = zip(hidden.flatten(0, 1).split(size), target.flatten().split(size), strict=True)
        losses = [
            checkpoint(self._loss_of_hidden, *both, use_reentrant=False, preserve_rng_state=False)
            for both in slices
        ]
        return torch.stack(losses).sum()

    def _loss_of_hidden(self, hidden: Tensor, target: Tensor) -> Tensor:
        return self._loss(self.model.logits(hidden), target)

    def _loss(self, logits: Tensor, target: Tensor) -> Tensor:
        return label_smoothing_loss(logits, target, self.smoothing, self.model.config.pad_id)[0]


def smoothed_targets(
    target: Int[Tensor, "*batch"], vocab_size: int, smoothing: float
) -> Float[Tensor, "*batch vocab"]:
    """The distribution that the model is asked for: what `label_smoothing_loss` compares with."""
    _require_smoothing(smoothing)
    one_hot = F.one_hot(target, vocab_size).float()
    return (1 - smoothing) * one_hot + smoothing / vocab_size


@torch.no_grad()
def validation_loss(
    model: Searchable,
    pairs: Sequence[TokenPair],
    *,
    smoothing: float,
    bos_id: int = BOS_ID,
    eos_id: int = EOS_ID,
    max_tokens: int = 4096,
) -> dict[str, float]:
    """Losses per target token, in nats, and the perplexity; the model in evaluation mode.

    Args:
        model: computes in the mode that it is in.
        pairs: (source, target) token ids without marks.
        smoothing: of the training, so that `valid_loss` compares with its loss.
        max_tokens: the budget of a batch; a longer sentence is a batch by itself.

    Returns:
        valid_loss (against the smoothed targets), valid_nll (of the true tokens) and
        perplexity, which is e to the power of valid_nll.

    Raises:
        ValueError: there are no pairs, or one is longer than the model takes.
    """
    if not pairs:
        raise ValueError("there are no sentence pairs to compute a loss on; give at least one")
    device, pad_id = next(model.parameters()).device, model.config.pad_id
    budget = max(max_tokens, 1 + max(max(map(len, pair)) for pair in pairs))
    smoothed = nll = 0.0
    n_tokens = 0
    for indices in token_batches(pairs, budget):
        chosen = (pairs[i] for i in indices)
        batch = make_batch(chosen, bos_id=bos_id, eos_id=eos_id, pad_id=pad_id).to(device)
        logits = model(batch.src, batch.tgt_in)
        smoothed += float(label_smoothing_loss(logits, batch.tgt_out, smoothing, pad_id)[0])
        nll += float(label_smoothing_loss(logits, batch.tgt_out, 0.0, pad_id)[0])
        n_tokens += batch.n_tokens
    nll /= n_tokens
    return {
        "valid_loss": smoothed / n_tokens,
        "valid_nll": nll,
        "perplexity": math.exp(min(nll, 700.0)),  # e to the power of more is infinite
    }


def _require_smoothing(smoothing: float) -> None:
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing ({smoothing}) must be at least 0 and below 1")
