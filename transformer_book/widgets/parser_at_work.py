"""A trained parser at work: the brackets that it writes, and the tree that grows of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import traitlets

from transformer.evaluation import MARKS, Bracketing, bracketing
from transformer.text.trees import read_tree, spans

from transformer_book.widgets.base import Widget, handed_over
from transformer_book.widgets.beam_explorer import Translates
from transformer_book.widgets.output_steps import source_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_WORDS = 24  # more could not be seen side by side
SENTENCES = {  # with a relative clause about an object, and with one about a subject
    "she knows that big women have my letters .": (
        "(S (NP XX )NP (VP XX (SBAR XX (S (NP XX XX )NP (VP XX (NP XX XX )NP )VP )S )SBAR )VP XX )S"
    ),
    "she sees the man who sleeps .": (
        "(S (NP XX )NP (VP XX (NP (NP XX XX )NP "
        "(SBAR (WHNP XX )WHNP (S (VP XX )VP )S )SBAR )NP )VP XX )S"
    ),
    "the man who sleeps sees me .": (
        "(S (NP (NP XX XX )NP (SBAR (WHNP XX )WHNP (S (VP XX )VP )S )SBAR )NP "
        "(VP XX (NP XX )NP )VP XX )S"
    ),
}


@runtime_checkable
class Parses(Translates, Protocol):
    """A model that writes trees, such as a `Translator` that was trained to."""

    def translate(self, sentences: Sequence[str], /) -> list[str]:
        """Each sentence's tree as brackets, with spaces between them."""


class ParserAtWork(Widget):
    """Sentences and the brackets that a model writes for them, token by token, as a tree.

    It carries its own sentences, with their true trees. A further `sentence` is parsed by the
    kernel, or on a page by the model that `live` names; of those only the last is kept.

    Args:
        parser: a model that writes trees as brackets, with its tokenizer.
        sentences: what can be chosen, each with its true tree, linearised.
        settings: the traits example (counted from 0), step (how many tokens are written; all of
            them unless given), question, and live, what `page_model` says of the model.

    Raises:
        ValueError: there are no sentences, or one has no words or too many.
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "A sentence as a trained parser brackets it: token by token a tree of boxes grows over its "
        "words. What the true tree lacks is marked, and bracketing F1 is counted."
    ).tag(sync=True)
    constants = handed_over(marks=sorted(MARKS), most_words=MOST_WORDS)
    question = traitlets.Unicode(
        "Which sentence does the parser get wrong, and at which bracket?"
    ).tag(sync=True)
    example = traitlets.Int(0, min=0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    contents = traitlets.Dict().tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    live = traitlets.Dict().tag(sync=True)

    def __init__(
        self, parser: Parses, sentences: Mapping[str, str] = SENTENCES, **settings: Any
    ) -> None:
        if not sentences:
            raise ValueError("there are no sentences; give at least one with its true tree")
        self._parser, self._true = parser, dict(sentences)
        examples = [self._parsed(sentence) for sentence in sentences]
        super().__init__(contents={"ready": len(examples), "examples": examples}, **settings)
        if "step" not in settings:
            self._write_all()

    @property
    def shown(self) -> dict[str, Any]:
        """The chosen sentence: its words, its source tokens, what was written, its true tree."""
        example: dict[str, Any] = self.contents["examples"][self.example]
        return example

    def score(self) -> Bracketing | None:
        """What was written for it as the module judges it; None where no true tree is known."""
        words, _, tokens, true = self.shown.values()
        return bracketing([" ".join(words)], [" ".join(tokens)], [true]) if true else None

    def twin(self) -> "Figure":
        """The tree of the tokens that are written, on paper."""
        import matplotlib.pyplot as plt

        from transformer_book.figures.parsing import constituency_tree

        words, _, tokens, true = self.shown.values()
        tree, well_formed = read_tree(tokens[: self.step], words)
        wanted = spans(read_tree(true.split(), words).tree) if true else spans(tree)
        ax = constituency_tree(tree, wrong={*spans(tree)} - {*wanted})
        said = "" if well_formed else "no tree, mended"
        if self.step >= len(tokens) and (score := self.score()):
            said = f"{said + ': ' if said else ''}F1 = {score.f1:.1f}"
        ax.set_title(said)
        return plt.gcf()

    def _parsed(self, sentence: str) -> dict[str, Any]:
        ids = source_of(self._parser, sentence, MOST_WORDS)[:-1]
        [output] = self._parser.translate([sentence])
        words = sentence.split()
        true = {" ".join(known.split()): brackets for known, brackets in self._true.items()}
        return {
            "words": words, "source": self._parser.tokenizer.pieces(ids),
            "tokens": output.split(), "brackets": true.get(" ".join(words), ""),
        }  # fmt: skip

    @traitlets.validate("example")
    def _is_there(self, proposal: dict[str, Any]) -> int:
        last = len(self.contents["examples"]) - 1
        if proposal["value"] > last:
            raise traitlets.TraitError(f"example ({proposal['value']}) must be 0 to {last}")
        return int(proposal["value"])

    @traitlets.observe("sentence")
    def _parse(self, change: Any) -> None:
        if not self.sentence.strip():
            return
        self.message = ""
        try:
            own = self._parsed(self.sentence)
        except ValueError as error:
            self.message = str(error)
            return
        ready = self.contents["ready"]
        with self.hold_sync():
            examples = [*self.contents["examples"][:ready], own]
            self.contents = {"ready": ready, "examples": examples}
            self.example = ready
            self._write_all()

    @traitlets.observe("example")
    def _write_all(self, change: Any = None) -> None:
        if self.contents:
            self.step = len(self.shown["tokens"])
