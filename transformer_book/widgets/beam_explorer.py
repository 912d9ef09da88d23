"""Beam search step by step (section 6.1): the tree of its hypotheses, as it grows."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import torch
import traitlets

from transformer.decoding import EXTRA_LENGTH, SearchTree, beam_search
from transformer.decoding.beam import penalty
from transformer.model import Transformer
from transformer.text import SPACE

from transformer_book.widgets.attentions import text_of
from transformer_book.widgets.base import Number, Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PREFIXES = 8
MOST_ALPHA = 2.0
DIGITS = 5  # of each logarithm that the page gets


@runtime_checkable
class Tokens(Protocol):
    """What the explorer asks of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """The text's token ids, without marks."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id's token as it is shown."""


@runtime_checkable
class Translates(Protocol):
    """A model with its tokenizer, such as a `Translator`."""

    @property
    def model(self) -> Transformer:
        """The model."""

    @property
    def tokenizer(self) -> Tokens:
        """Its tokenizer."""


def tokens_of(translator: Translates, sentence: str) -> list[int]:
    """A sentence's tokens, after its direction where the model has two (`TwoWayTranslator`)."""
    return translator.tokenizer.encode(getattr(translator, "asked", str)(sentence))


class BeamExplorer(Widget):
    """The trees of beam search for some sentences and beam sizes, and the ranking of their ends.

    Every search asks for as many hypotheses as its beam is wide, so that there is something to
    rank; the best one is the same as when it asks for one. Output is limited to the source's
    tokens and `extra_length` more. The page gets numbers with five decimals; methods return the
    same.

    Args:
        translator: a model and its tokenizer.
        sentences: what to translate; with a kernel, or `live` on a page, readers can add their own.
        bos_id, eos_id: the start mark and the end mark.
        beam_sizes: for which beam sizes to search, rising.
        length_penalty: the alpha of the searches.
        extra_length: 50 in the paper.
        settings: the traits example (counted from 0), beam_size, step (0 is before the first),
            alpha, with which finished hypotheses are ranked, and live, what `page_model` says
            of the model.

    Raises:
        ValueError: there is nothing to search, or a sentence has no tokens or too many.
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "Beam search as a tree: at each step the most probable prefixes live on, others are "
        "dropped, and some are finished. The finished ones are ranked."
    ).tag(sync=True)
    example = traitlets.Int(0).tag(sync=True)
    beam_size = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    alpha = Number(0.6, min=0.0, max=MOST_ALPHA).tag(sync=True)
    contents = traitlets.Dict().tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    live = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        translator: Translates,
        sentences: Iterable[str],
        *,
        bos_id: int,
        eos_id: int,
        beam_sizes: Sequence[int] = (1, 2, 3, 4, 5),
        length_penalty: float = 0.6,
        extra_length: int = EXTRA_LENGTH,
        **settings: Any,
    ) -> None:
        sizes = list(beam_sizes)
        if (
            not sizes
            or sizes != sorted(set(sizes))
            or not 1 <= sizes[0] <= sizes[-1] <= MOST_PREFIXES
        ):
            raise ValueError(
                f"beam_sizes are {sizes}; give rising numbers from 1 to {MOST_PREFIXES}"
            )
        if isinstance(sentences, str) or not (sentences := list(sentences)):
            raise ValueError(f"sentences are {sentences!r}; give a list of one at least")
        self._translator, self._bos, self._eos = translator, bos_id, eos_id
        self._sizes, self._search_alpha, self._extra = sizes, length_penalty, extra_length
        self._trees: list[dict[int, SearchTree]] = []
        self._sources: list[str] = []
        for text in sentences:
            self._append(text)
        chosen = {"example": 0, "beam_size": sizes[-1], "step": 0}
        chosen |= {name: settings.pop(name) for name in list(chosen) if name in settings}
        super().__init__(contents=self._contents(), **settings)
        for name, value in chosen.items():
            setattr(self, name, value)

    @property
    def tree(self) -> SearchTree:
        """The shown search; its only sentence is number 0."""
        return self._trees[self.example][self.beam_size]

    @property
    def n_steps(self) -> int:
        """How many steps the shown search took."""
        return len(self.tree.steps[0])

    def candidates(self) -> list[dict[str, Any]]:
        """What the shown step considers: text, token, probability, total and fate, best first."""
        nodes = self.tree.nodes[0]
        return [
            {
                "text": self._text(self.tree.tokens(0, index)),
                "token": self._translator.tokenizer.pieces([node.token])[0],
                "log_prob": round(node.log_prob, DIGITS),
                "total": round(node.total, DIGITS),
                "fate": node.fate,
            }
            for index, node in enumerate(nodes)
            if node.length == self.step > 0
        ]

    def finished(self) -> list[dict[str, Any]]:
        """Hypotheses finished up to the shown step: text, length, total and score, best first.

        The score is the total divided by the penalty with the shown alpha.
        """
        nodes, hypotheses = self.tree.nodes[0], []
        for index in self.tree.finished(0):
            node = nodes[index]
            if node.length <= self.step:
                total = round(node.total, DIGITS)
                text = self._text(self.tree.tokens(0, index))
                score = total / penalty(node.length, self.alpha)
                one = {"text": text, "length": node.length, "total": total, "score": score}
                hypotheses.append({**one, "node": index})
        return sorted(hypotheses, key=lambda one: (-one["score"], one["node"]))

    def twin(self) -> "Figure":
        """The tree up to the shown step, on paper."""
        from transformer_book.figures.beam import search_tree
        from transformer_book.figures.style import figure_of

        nodes = [n for n in self.tree.nodes[0] if n.length <= self.step]
        finished = self.finished()
        ax = search_tree(
            [node.parent for node in nodes],
            ["<s>", *self._translator.tokenizer.pieces([node.token for node in nodes[1:]])],
            [node.total for node in nodes],
            [node.fate for node in nodes],
            best=finished[0]["node"] if finished else None,
        )
        return figure_of(ax)

    def _append(self, text: str) -> None:
        """Search for a further sentence."""
        number = len(self._sources) + 1
        model = self._translator.model
        ids = tokens_of(self._translator, text)
        limit = model.config.max_len - 1
        if not text.strip() or not ids:
            raise ValueError(f"sentence {number} is empty; there is nothing to translate")
        if len(ids) > limit:
            raise ValueError(
                f"sentence {number} has {len(ids)} tokens, more than the model takes ({limit})"
            )
        src = torch.tensor([[*ids, self._eos]], device=next(model.parameters()).device)
        max_len = min(src.size(1) + self._extra, model.config.max_len)
        trees = {}
        for size in self._sizes:
            trees[size] = SearchTree()
            beam_search(
                model, src, beam_size=size, n_best=size, length_penalty=self._search_alpha,
                bos_id=self._bos, eos_id=self._eos, max_len=max_len, watch=trees[size],
            )  # fmt: skip
        self._sources.append(text)
        self._trees.append(trees)

    def _contents(self) -> dict[str, Any]:
        """What the front end needs: each tree as columns, and the tokens by number."""
        every = [tree.nodes[0][1:] for trees in self._trees for tree in trees.values()]
        ids = sorted({node.token for nodes in every for node in nodes})
        number = {token: index for index, token in enumerate(ids)}
        pieces = self._translator.tokenizer.pieces(ids)
        examples = []
        for source, trees in zip(self._sources, self._trees, strict=True):
            columns = {}
            for size, tree in trees.items():
                nodes = tree.nodes[0][1:]
                columns[str(size)] = {
                    "parent": [node.parent for node in nodes],
                    "token": [number[node.token] for node in nodes],
                    "log_prob": [round(node.log_prob, DIGITS) for node in nodes],
                    "total": [round(node.total, DIGITS) for node in nodes],
                    "fate": "".join(node.fate[0] for node in nodes),
                    "cut": tree.steps[0][-1].cut,
                }
            examples.append({"source": source, "trees": columns})
        contents = {
            "alpha": self._search_alpha, "beam_sizes": self._sizes, "pieces": pieces,
            "end": number.get(self._eos, -1), "marked": any(SPACE in piece for piece in pieces),
            "examples": examples,
        }  # fmt: skip
        if ways := getattr(self._translator, "ways", None):  # of a model of two directions
            contents["unsure_below"] = ways.unsure_below
        return contents

    def _text(self, tokens: Sequence[int]) -> str:
        """Tokens as one text, the end mark left out."""
        pieces = self._translator.tokenizer.pieces([t for t in tokens if t != self._eos])
        return text_of(pieces, self.contents["marked"])

    @traitlets.validate("example", "beam_size", "step")
    def _is_there(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        offers: Sequence[int] = range(len(self._trees))
        if name == "beam_size":
            offers = self._sizes
        elif name == "step":
            # The front end moves step and beam size at once; their order is not ours.
            offers = range(
                max(len(t.steps[0]) for trees in self._trees for t in trees.values()) + 1
            )
        if value not in offers:
            raise traitlets.TraitError(f"{name} ({value}) must be {_range(offers)}")
        return value

    @traitlets.observe("example", "beam_size")
    def _stay_inside(self, change: Any) -> None:
        if self.beam_size:
            self.step = min(self.step, self.n_steps)

    @traitlets.observe("sentence")
    def _search(self, change: Any) -> None:
        if not self.sentence.strip():
            return
        self.message = ""
        try:
            self._append(self.sentence)
        except ValueError as error:
            self.message = str(error)
            return
        with self.hold_sync():
            self.contents = self._contents()
            self.example = len(self._trees) - 1


def _range(offers: Sequence[int]) -> str:
    if isinstance(offers, range):
        return f"0 to {offers[-1]}"
    return f"one of {', '.join(map(str, offers))}"
