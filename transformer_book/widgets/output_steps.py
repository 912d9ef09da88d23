"""One output, token by token, with all that its decoder considered: what `DecoderAtWork` shows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.decoding import EXTRA_LENGTH
from transformer.decoding.generate import generate, searching
from transformer.decoding.sampling import likely_part
from transformer.decoding.steps import start_decoding
from transformer.introspect import record_attention
from transformer.text import BOS_ID, EOS_ID

from transformer_book.heads.measures import without_heads
from transformer_book.widgets.beam_explorer import Translates, tokens_of

N_CANDIDATES = 8
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
MOST_TOKENS = 120  # of a source: what is recorded of an output grows with both lengths
DIGITS = 4  # of each logarithm
ONE = 1000  # a weight of 1


@dataclass(frozen=True)
class OutputSteps:
    """An output and its steps.

    Attributes:
        source: the source's token ids, with the end mark.
        tokens: the output's, with the end mark if it ended.
        log_probs: at each step, of every token, given the source and the tokens before; by the
            model itself, without temperature.
        cross: where each head of the cross-attention looked at each step, layer by layer.
    """

    source: list[int]
    tokens: list[int]
    log_probs: Float[Tensor, "steps vocab"]
    cross: Float[Tensor, "steps heads source"]


def by_attention(silenced: Collection[str]) -> dict[str, list[int]]:
    """Heads such as "decoder.0.cross.3" as `without_heads` takes them.

    Raises:
        ValueError: one is named otherwise.
    """
    heads: dict[str, list[int]] = {}
    for name in silenced:
        attention, _, number = name.rpartition(".")
        if not number.isdecimal():
            raise ValueError(f'{name!r} names no head; name one as "decoder.0.cross.3"')
        heads.setdefault(attention, []).append(int(number))
    return heads


def source_of(translator: Translates, sentence: str, most: int = MOST_TOKENS) -> list[int]:
    """A sentence's token ids with the end mark, at most so many without it.

    Raises:
        ValueError: it has no tokens, or too many.
    """
    ids = tokens_of(translator, sentence)
    if not sentence.strip() or not ids:
        raise ValueError("the sentence is empty; there is nothing to translate")
    limit = min(most, translator.model.config.max_len - 1)
    if len(ids) > limit:
        raise ValueError(
            f"This is too long: {len(ids)} pieces, and {limit} can be shown. Shorten it."
        )
    return [*ids, EOS_ID]


def output_steps(
    translator: Translates,
    sentence: str,
    *,
    given: Sequence[int] = (),
    silenced: Collection[str] = (),
    temperature: float | None = None,
    top_k: int | None = None,
) -> OutputSteps:
    """Writes an output: first the given tokens, then the most probable ones, or drawn ones.

    Args:
        given: the first tokens of the output; an end mark among them ends it.
        silenced: the heads that say nothing, such as "decoder.0.cross.3".
        temperature: draw with this temperature, instead of taking the most probable token.
        top_k: draw from so many most probable tokens only.

    Raises:
        ValueError: the sentence has no tokens or too many, a given token is none of the model's,
            there is no such head, or a setting of the draw is out of range.
    """
    model, source = translator.model, source_of(translator, sentence)
    if temperature is not None and not temperature > 0:
        raise ValueError(f"temperature ({temperature}) must be a number above 0")
    last = model.config.tgt_vocab_size - 1
    if not all(0 <= token <= last for token in given):
        raise ValueError(f"given holds {list(given)}; the model's tokens are 0 to {last}")
    src = torch.tensor([source], device=next(model.parameters()).device)
    due = list(given)

    def choose(logits: Tensor) -> tuple[Tensor, Tensor]:
        log_probs = logits.log_softmax(dim=-1)
        token = log_probs.argmax(dim=-1)
        if due:
            token = torch.full_like(token, due.pop(0))
        elif temperature is not None:
            part = likely_part((log_probs / temperature).log_softmax(dim=-1), top_k)
            token = part.exp().multinomial(1)[:, 0]
        return token, log_probs.gather(1, token[:, None])[:, 0]

    limit = min(len(source) + EXTRA_LENGTH, model.config.max_len)
    with without_heads(model, by_attention(silenced)):
        with searching(model):
            limits = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": limit}
            (found,) = generate(start_decoding(model, src), src, choose, **limits)
            ended = len(found.tokens) < limit
            tokens = [*found.tokens, EOS_ID] if ended else found.tokens
        # All steps at once, as in training: the decoder reads all tokens but the last.
        read = src.new_tensor([[BOS_ID, *tokens[:-1]]])
        with torch.inference_mode(), record_attention(model.eval()) as weights:
            log_probs = model(src, read)[0].log_softmax(dim=-1)
    layers = [weights[f"decoder.{i}.cross"][0] for i in range(model.config.n_layers)]
    cross = torch.cat(layers).transpose(0, 1)
    return OutputSteps(source, tokens, log_probs.cpu(), cross.cpu())


def steps_state(translator: Translates, sentence: str, steps: OutputSteps) -> dict[str, Any]:
    """An output as a page gets it: rounded, and of each step the likely tokens only.

    "logs" are the logarithms of the model's own probabilities, best first; "sums" those of the
    sums of all tokens' probabilities to the power of 1/T, one for each of `TEMPERATURES`: with
    them a page knows each likely token's probability at that temperature. "written" are the
    logarithms of the tokens that were written, and "cross" has weights in thousandths.
    """
    pieces, log_probs = translator.tokenizer.pieces, steps.log_probs
    likely = log_probs.topk(min(N_CANDIDATES, log_probs.size(1)))
    sums = torch.stack([(log_probs / t).logsumexp(-1) for t in TEMPERATURES], dim=-1)
    written = log_probs[range(len(steps.tokens)), steps.tokens]
    return {
        "sentence": sentence,
        "source": pieces(steps.source),
        "tokens": steps.tokens,
        "pieces": pieces(steps.tokens),
        "written": _rounded(written),
        "ids": likely.indices.tolist(),
        "likely": [pieces(ids) for ids in likely.indices.tolist()],
        "logs": [_rounded(row) for row in likely.values],
        "sums": [_rounded(row) for row in sums],
        "cross": (steps.cross * ONE).round().int().tolist(),
    }


def _rounded(values: Tensor) -> list[float]:
    return [round(value, DIGITS) + 0.0 for value in values.tolist()]  # and no -0.0
