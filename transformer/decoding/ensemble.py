"""Several models that translate together, as the ensembles of the paper's Table 2 do."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.model import EncoderDecoder


class Ensemble(nn.Module):
    """At every step the mean of the probabilities that its models give to the next token.

    The mean of models, where `average_models` is one model of mean weights: for runs from other
    seeds, whose weights have nothing to do with each other. It costs as much as all its models.

    It is searched like one model (`beam_search`, `Translator(model, tokenizer, others)`); the
    models are trained one by one.

    Args:
        models: of one vocabulary, on one device; sizes and what they are made of may differ.

    Attributes:
        config: of the model that takes the shortest sentences.

    Raises:
        ValueError: there are no models, or their tokens or devices are not the same.
    """

    def __init__(self, models: Sequence[EncoderDecoder]) -> None:
        super().__init__()
        if not models:
            raise ValueError("an ensemble needs models; give at least one")
        self.models: Sequence[EncoderDecoder] = nn.ModuleList(models)  # type: ignore[assignment]
        self.config = min((model.config for model in models), key=lambda config: config.max_len)
        for name in ("src_vocab_size", "tgt_vocab_size", "pad_id"):
            values = [getattr(model.config, name) for model in models]
            if len(set(values)) > 1:
                raise ValueError(
                    f"the models of an ensemble need the same tokens, but their {name} are "
                    f"{', '.join(map(str, values))}; train them with one tokenizer"
                )
        devices = [str(next(model.parameters()).device) for model in models]
        if len(set(devices)) > 1:
            raise ValueError(
                "the models of an ensemble need one device, but they are on "
                f"{', '.join(devices)}; move them together with model.to(device)"
            )

    def forward(
        self, src: Int[Tensor, "batch src_len"], tgt: Int[Tensor, "batch tgt_len"]
    ) -> Float[Tensor, "batch tgt_len tgt_vocab"]:
        """The logarithm of the mean probability of each token after each target position."""
        return mean_of([model(src, tgt) for model in self.models])


Searchable = EncoderDecoder | Ensemble


def mean_of(logits: Sequence[Float[Tensor, "*batch vocab"]]) -> Float[Tensor, "*batch vocab"]:
    """The logarithm of the mean of the probabilities; as logits they give just these."""
    precise = torch.promote_types(logits[0].dtype, torch.float32)
    log_probs = torch.stack([one.log_softmax(dim=-1, dtype=precise) for one in logits])
    return log_probs.logsumexp(dim=0) - math.log(len(logits))
