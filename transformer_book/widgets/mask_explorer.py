"""Who may attend to whom (section 3.2.3), for a padded batch whose sentences the reader cuts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from jaxtyping import Bool
from torch import Tensor

from transformer.masks import causal_mask, padding_mask, target_mask

from transformer_book.widgets.attentions import KINDS
from transformer_book.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAD = "<pad>"
SHOWS = ("padding", "causal", "combined")
MOST_SENTENCES, MOST_TOKENS = 8, 64

SOURCE = (
    ("die", "Katze", "schläft"),
    ("der", "Hund", "schläft", "nicht"),
    ("heute", "spielen", "die", "Kinder", "mit", "dem", "Ball"),
)
TARGET = (
    ("<s>", "the", "cat", "sleeps"),
    ("<s>", "the", "dog", "does", "not", "sleep"),
    ("<s>", "today", "the", "children", "are", "playing", "ball"),
)


class MaskExplorer(Widget):
    """A small batch, and the masks of the three attentions for one of its sentences.

    Args:
        source: a token list for each sentence, without padding.
        target: what the decoder reads, a token list for each sentence, begun with `<s>`.

    Attributes:
        source_lengths, target_lengths: how many tokens are left of each sentence. The batch is
            padded up to the longest of what is left.
        sentence: the one whose masks are shown, counted from 0.
        kind: which attention: "encoder self", "decoder self" or "cross".
        show: which mask of the decoder's self-attention: "padding", "causal" or "combined".

    Raises:
        traitlets.TraitError: a setting is outside its range, or the sentences make no batch.
    """

    description = traitlets.Unicode(
        "The mask of an attention as a grid, queries in rows and keys in columns: padding is "
        "hidden from everyone, and in the decoder also what comes later."
    ).tag(sync=True)
    constants = handed_over(pad=PAD)
    source: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    target: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    source_lengths: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    target_lengths: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    kind = traitlets.Enum(list(KINDS), "decoder self").tag(sync=True)
    show = traitlets.Enum(SHOWS, "combined").tag(sync=True)

    def __init__(
        self,
        source: Sequence[Sequence[str]] = SOURCE,
        target: Sequence[Sequence[str]] = TARGET,
        **settings: Any,
    ) -> None:
        # A new batch starts with whole sentences, so the lengths come after it.
        names = ("source_lengths", "target_lengths", "source_length", "target_length")
        lengths = {name: settings.pop(name) for name in names if name in settings}
        super().__init__(source=list(source), target=list(target), **settings)
        for name, value in lengths.items():
            setattr(self, name, value)

    @property
    def source_length(self) -> int:
        """How many tokens are left of the shown sentence's source."""
        return self.source_lengths[self.sentence]

    @source_length.setter
    def source_length(self, length: int) -> None:
        self.source_lengths = _put(self.source_lengths, self.sentence, length)

    @property
    def target_length(self) -> int:
        """How many tokens are left of the shown sentence's target."""
        return self.target_lengths[self.sentence]

    @target_length.setter
    def target_length(self, length: int) -> None:
        self.target_lengths = _put(self.target_lengths, self.sentence, length)

    @traitlets.validate("source", "target")
    def _is_a_batch(self, proposal: dict[str, Any]) -> list[list[str]]:
        name, value = proposal["trait"].name, proposal["value"]
        if not 1 <= len(value) <= MOST_SENTENCES:
            raise traitlets.TraitError(
                f"{name} has {len(value)} sentences; give 1 to {MOST_SENTENCES}"
            )
        for sentence in value:
            _check_sentence(name, sentence)
        if len(self.source) != len(self.target):
            raise traitlets.TraitError(
                f"source has {len(self.source)} sentences and target {len(self.target)}; give "
                "both the same number, in one `with widget.hold_trait_notifications():`"
            )
        return [list(sentence) for sentence in value]

    @traitlets.observe("source", "target")
    def _whole_sentences(self, change: dict[str, Any]) -> None:
        name = change["name"]
        self.set_trait(f"{name}_lengths", [len(sentence) for sentence in change["new"]])
        self.sentence = min(self.sentence, len(change["new"]) - 1)

    @traitlets.validate("source_lengths", "target_lengths")
    def _leaves_something(self, proposal: dict[str, Any]) -> list[int]:
        name, lengths = proposal["trait"].name, proposal["value"]
        sentences = getattr(self, name.removesuffix("_lengths"))
        if len(lengths) != len(sentences):
            raise traitlets.TraitError(
                f"{name} has {len(lengths)} lengths for {len(sentences)} sentences; give one each"
            )
        for index, (length, sentence) in enumerate(zip(lengths, sentences, strict=True)):
            if not isinstance(length, int) or not 1 <= length <= len(sentence):
                raise traitlets.TraitError(
                    f"{name} leaves {length!r} tokens of sentence {index}, which has "
                    f"{len(sentence)}; leave 1 to {len(sentence)}"
                )
        return list(lengths)

    @traitlets.validate("sentence")
    def _is_in_the_batch(self, proposal: dict[str, Any]) -> int:
        sentence = proposal["value"]
        if not 0 <= sentence < len(self.source):
            raise traitlets.TraitError(
                f"sentence ({sentence}) must be 0 to {len(self.source) - 1}, one of the batch"
            )
        return sentence

    def padded(self, side: str) -> list[list[str]]:
        """The batch of a side ("source" or "target") as it is now, cut and padded."""
        lengths = getattr(self, f"{side}_lengths")
        width = max(lengths)
        return [
            [*sentence[:length], *[PAD] * (width - length)]
            for sentence, length in zip(getattr(self, side), lengths, strict=True)
        ]

    def tokens(self, kind: str | None = None) -> tuple[list[str], list[str]]:
        """The shown sentence's queries and keys in an attention, padding included."""
        queries, keys = KINDS[_one_of("kind", kind or self.kind, list(KINDS))]
        return self.padded(queries)[self.sentence], self.padded(keys)[self.sentence]

    def mask(self, kind: str | None = None, show: str | None = None) -> Bool[Tensor, "query key"]:
        """The shown sentence's mask, True = may attend.

        Args:
            kind: which attention; the one on show when None.
            show: which mask of the decoder's self-attention; the one on show when None.
        """
        kind = _one_of("kind", kind or self.kind, list(KINDS))
        show = _one_of("show", show or self.show, SHOWS)
        queries, keys = self.tokens(kind)
        ids = torch.tensor([[int(token != PAD) for token in keys]])
        if kind != "decoder self" or show == "padding":
            mask = padding_mask(ids, pad_id=0)
        elif show == "causal":
            mask = causal_mask(len(keys))
        else:
            mask = target_mask(ids, pad_id=0)
        return mask[0, 0].expand(len(queries), len(keys))

    def twin(self) -> "Figure":
        """The mask on paper."""
        from transformer_book.figures.masks import attention_masks

        queries, keys = self.tokens()
        decoder = self.kind == "decoder self"
        title = f"decoder self: {self.show}" if decoder else self.kind
        # The causal mask hides no key for being padding.
        pad = "" if decoder and self.show == "causal" else PAD
        return attention_masks({title: (self.mask().numpy(), queries, keys)}, pad=pad)


def _check_sentence(name: str, sentence: object) -> None:
    if not isinstance(sentence, (list, tuple)):
        raise traitlets.TraitError(f"{name} has {sentence!r}; give each sentence as a token list")
    if not 1 <= len(sentence) <= MOST_TOKENS:
        raise traitlets.TraitError(
            f"{name} has a sentence of {len(sentence)} tokens; give 1 to {MOST_TOKENS}"
        )
    for token in sentence:
        if not isinstance(token, str) or not token:
            raise traitlets.TraitError(f"{name} has the token {token!r}; give non-empty strings")
        if token == PAD:
            raise traitlets.TraitError(
                f"{name} holds {PAD}; give the sentences without padding, the widget adds it"
            )


def _one_of(name: str, value: str, names: Sequence[str]) -> str:
    if value not in names:
        raise ValueError(f"{name} ({value!r}) must be one of {', '.join(map(repr, names))}")
    return value


def _put(lengths: Sequence[int], index: int, length: int) -> list[int]:
    """A new list, because traits notice no change inside one."""
    return [length if i == index else other for i, other in enumerate(lengths)]
