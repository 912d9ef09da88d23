"""Holds a model of the reader's parts against ours: the same outputs, gradients and searches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.decoding import beam_search, greedy_search
from transformer.introspect import record_attention
from transformer.model import Transformer
from transformer.text.bpe import SPACE, apply_merges, learn_merges, word_counts
from transformer.training import label_smoothing_loss, noam_rate

from transformer_book.exercises.track.model import OwnTransformer, build
from transformer_book.exercises.track.parts import Parts
from transformer_book.exercises.track.search import beam, greedy

CLOSE = 1e-4  # what rounding may make of a difference; the numbers are about 1
MARKS: dict[str, Any] = {"bos_id": 1, "eos_id": 2, "max_len": 8}
TEXT = "es war einmal ein müller der war arm aber er hatte eine schöne tochter"


@dataclass(frozen=True)
class Finding:
    """One thing that was compared.

    Attributes:
        holds: whether it is so.
        sentence: what holds, or what does not.
    """

    holds: bool
    sentence: str

    def __str__(self) -> str:
        """The sentence behind a ✓ or a ✗."""
        return f"{'✓' if self.holds else '✗'} {self.sentence}"


@dataclass(frozen=True)
class Both:
    """The reader's model and ours with the same weights, and a batch with padding."""

    own: OwnTransformer
    ours: Transformer
    src: Tensor
    tgt: Tensor

    @classmethod
    def of(cls, parts: Parts) -> "Both":
        """Small models with four layers; their weights and the batch are drawn with a seed."""
        config = TransformerConfig.tiny(src_vocab_size=30, norm="post", dropout=0.0)
        own = build(config, parts).eval()
        torch.manual_seed(0)
        ours = Transformer(config).eval()
        ours.load_state_dict(own.state_dict())
        src, tgt = torch.randint(4, 30, (4, 9)), torch.randint(4, 30, (4, 7))
        src[1, 5:], tgt[2, 4:] = config.pad_id, config.pad_id
        return cls(own, ours, src, tgt)


def the_outputs(both: Both) -> bool:
    """The logits are those of our model."""
    logits = (model(both.src, both.tgt) for model in (both.own, both.ours))
    return _close(*logits)


def the_gradients(both: Both) -> bool:
    """The loss and the gradients of all weights are those of our model."""
    target, pad_id = both.tgt.roll(-1, dims=1), both.ours.config.pad_id
    loss = both.own.parts["label_smoothing_loss"](both.own(both.src, both.tgt), target, 0.1, pad_id)
    expected, _ = label_smoothing_loss(both.ours(both.src, both.tgt), target, 0.1, pad_id)
    pairs = zip(_gradients(both.own, loss), _gradients(both.ours, expected), strict=True)
    return _close(loss, expected) and all(_close(one, other) for one, other in pairs)


def the_future(both: Both) -> bool:
    """Another token at the end changes nothing before it."""
    changed = both.tgt.clone()
    changed[:, -1] = changed[:, -1] % 20 + 5
    before, after = both.own(both.src, both.tgt), both.own(both.src, changed)
    return _close(before[:, :-1], after[:, :-1])


def the_padding(both: Both) -> bool:
    """More padding changes nothing."""
    longer = torch.nn.functional.pad(both.src, (0, 3), value=both.own.config.pad_id)
    return _close(both.own(both.src, both.tgt), both.own(longer, both.tgt))


def the_weights(both: Both) -> bool:
    """The attention weights of all heads are those of our model."""
    recorded = []
    for model in (both.own, both.ours):
        with record_attention(model) as weights:
            model(both.src, both.tgt)
        recorded.append(weights)
    return all(_close(recorded[0][name], recorded[1][name]) for name in recorded[1])


def the_rates(both: Both) -> bool:
    """The learning rates of 500 steps are ours."""
    rate, d_model = both.own.parts["noam_rate"], both.own.config.d_model
    ours = [noam_rate(step, d_model, 100) for step in range(1, 501)]
    yours = [float(rate(step, d_model, 100)) for step in range(1, 501)]
    return bool(torch.allclose(torch.tensor(yours), torch.tensor(ours), rtol=CLOSE))


def the_searches(both: Both) -> bool:
    """Greedy search and a beam of 4 write what ours write."""
    for source in both.src:
        ids = source[source != both.own.config.pad_id]
        best = greedy_search(both.ours, ids[None], **MARKS)[0][0]
        widest = beam_search(both.ours, ids[None], **MARKS)[0][0]
        own = beam(both.own, ids.tolist(), **MARKS)
        if greedy(both.own, ids.tolist(), **MARKS) != best.tokens or own.tokens != widest.tokens:
            return False
        if abs(own.score - widest.score) > CLOSE * abs(widest.score):
            return False
    return True


def the_merges(both: Both) -> bool:
    """Words are cut into subwords as ours are."""
    merges, merge = learn_merges(word_counts(TEXT), 30), both.own.parts["merge_pair"]
    for word in TEXT.split():
        pieces = [*(SPACE + word)]
        for pair in merges:
            pieces = list(merge(pieces, pair))
        if tuple(pieces) != apply_merges(SPACE + word, merges):
            return False
    return True


Property = Callable[[Both], bool]
PROPERTIES: tuple[Property, ...] = (
    the_outputs, the_gradients, the_future, the_padding,
    the_weights, the_rates, the_searches, the_merges,
)  # fmt: skip


def same_as_ours(parts: Parts) -> Iterator[Finding]:
    """What holds of a model of these parts that holds of ours, one after another."""
    parts.begin()
    try:
        both = Both.of(parts)
    except Exception as error:
        yield Finding(False, f"No model can be built: {type(error).__name__}: {error}")
        return
    for holds in PROPERTIES:
        sentence = (holds.__doc__ or "").strip()
        try:
            is_true = holds(both)
        except Exception as error:
            yield Finding(False, f"{sentence} But it raises {type(error).__name__}: {error}")
            continue
        yield Finding(is_true, sentence if is_true else f"This does not hold: {sentence}")


def _close(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=CLOSE, atol=CLOSE)


def _gradients(model: Transformer, loss: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, [*model.parameters()])
