"""One step of a search: the logits after one more token, in three ways that give the same.

`RecomputedSteps` runs the decoder over the whole prefix, as training does. `CachedSteps` runs it
over the new position only (see cache.py). `FusedSteps` does this with less around it. A recurrent
decoder has `RecurrentSteps`, which keep its state; an ensemble has the steps of all its models.
What is kept is right for known parts only, so a model with others is recomputed.
"""

from typing import Protocol, TypeGuard, cast, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from transformer.cache import KeyValueCache
from transformer.compared.seq2seq import Seq2Seq
from transformer.decoding.ensemble import Ensemble, Searchable, mean_of
from transformer.decoding.fused import FusedSteps, all_rows, is_plain
from transformer.decoding.known_parts import is_called_in_halves, is_known
from transformer.masks import padding_mask
from transformer.model import EncoderDecoder, Transformer

Logits = Float[Tensor, "rows vocab"]
Prefixes = Int[Tensor, "rows len"]


@runtime_checkable
class Steps(Protocol):
    """Gives the logits of the next token, and is told which prefixes are continued.

    The rows are prefixes of outputs; those of one sentence stand below each other.
    """

    def __call__(self, output: Prefixes) -> Logits:
        """The logits after each prefix, which has grown by one token since the last call."""

    def select(self, sentences: Tensor) -> None:
        """Keep these sentences, each with all its rows."""

    def reorder(self, rows: Tensor) -> None:
        """Put the rows into another order, each within its sentence."""


def start_decoding(
    model: Searchable, src: Int[Tensor, "batch src_len"], rows: int = 1, use_cache: bool = True
) -> Steps:
    """Encode the sources, and make ready for `rows` prefixes of each output."""
    if _is_plain_ensemble(model):
        return EnsembleSteps([start_decoding(one, src, rows, use_cache) for one in model.models])
    if not use_cache or not is_known(model):
        return RecomputedSteps(model, src, rows, in_halves=is_called_in_halves(model))
    if is_plain(model):
        return FusedSteps(cast(Transformer, model), src, rows)
    if hasattr(model.decoder, "layers"):  # a compiled model is of another type, but has the parts
        return CachedSteps(cast(Transformer, model), src, rows)
    return RecurrentSteps(cast(Seq2Seq, model), src, rows)


class RecomputedSteps:
    """Nothing is kept: every position is computed anew at each step, as in training.

    A model that is not called `in_halves`, encoder and decoder, reads the source anew as well.
    """

    def __init__(
        self, model: Searchable, src: Tensor, rows: int = 1, *, in_halves: bool = True
    ) -> None:
        self.model, self.rows, self.in_halves = cast(EncoderDecoder, model), rows, in_halves
        self.src = self.memory = _repeated(src, rows)
        if in_halves:
            self.memory = _repeated(self.model.encode(src), rows)

    def __call__(self, output: Prefixes) -> Logits:
        """The logits after each prefix."""
        if not self.in_halves:
            return self.model(self.src, output)[:, -1]
        hidden = self.model.decode(output, self.memory, self.src)
        return self.model.logits(hidden[:, -1])

    def select(self, sentences: Tensor) -> None:
        """Keep these sentences, each with all its rows."""
        rows = all_rows(sentences, self.rows)
        self.src, self.memory = self.src[rows], self.memory[rows]

    def reorder(self, rows: Tensor) -> None:
        """Nothing is kept, so nothing gets out of order."""


class CachedSteps(RecomputedSteps):
    """`model.decode` with a cache, whichever known parts the model has."""

    model: Transformer

    def __init__(self, model: Transformer, src: Tensor, rows: int = 1) -> None:
        super().__init__(model, src, rows)
        self.cache = KeyValueCache(len(model.decoder.layers))

    def __call__(self, output: Prefixes) -> Logits:
        """The logits after each prefix."""
        seen = padding_mask(output, self.model.config.pad_id)
        last = output[:, -1:]
        hidden = self.model.decode(last, self.memory, self.src, tgt_mask=seen, cache=self.cache)
        return self.model.logits(hidden[:, -1])

    def select(self, sentences: Tensor) -> None:
        """Keep these sentences, each with all its rows."""
        super().select(sentences)
        self.cache.select(all_rows(sentences, self.rows))

    def reorder(self, rows: Tensor) -> None:
        """Put the rows into another order, each within its sentence."""
        self.cache.reorder(rows)


class RecurrentSteps(RecomputedSteps):
    """A recurrent decoder's cache is its state: as large after a hundred words as after one."""

    model: Seq2Seq

    def __init__(self, model: Seq2Seq, src: Tensor, rows: int = 1) -> None:
        super().__init__(model, src, rows)
        self.state: Tensor | None = None

    def __call__(self, output: Prefixes) -> Logits:
        """The logits after each prefix."""
        hidden, self.state, _ = self.model.run(output[:, -1:], self.memory, self.src, self.state)
        return self.model.logits(hidden[:, -1])

    def select(self, sentences: Tensor) -> None:
        """Keep these sentences, each with all its rows."""
        super().select(sentences)
        self.reorder(all_rows(sentences, self.rows))

    def reorder(self, rows: Tensor) -> None:
        """Put the rows into another order, each within its sentence."""
        if self.state is not None:
            self.state = self.state[rows]


class EnsembleSteps:
    """The mean of what the models of an ensemble expect next, each with a cache of its own."""

    def __init__(self, parts: list[Steps]) -> None:
        self.parts = parts

    def __call__(self, output: Prefixes) -> Logits:
        """The logarithm of the mean probability of each token after each prefix."""
        return mean_of([part(output) for part in self.parts])

    def select(self, sentences: Tensor) -> None:
        """Keep these sentences, each with all its rows."""
        for part in self.parts:
            part.select(sentences)

    def reorder(self, rows: Tensor) -> None:
        """Put the rows into another order, each within its sentence."""
        for part in self.parts:
            part.reorder(rows)


def _is_plain_ensemble(model: Searchable) -> TypeGuard[Ensemble]:
    """Whether it is the mean of its models, and nobody interferes."""
    hooked = model._forward_hooks or model._forward_pre_hooks or "forward" in vars(model)
    return type(model) is Ensemble and not hooked


def _repeated(x: Tensor, rows: int) -> Tensor:
    return x.repeat_interleave(rows, dim=0) if rows > 1 else x
