"""A trained Transformer taken apart: a sentence as the sound and the broken model translate it."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import traitlets

from transformer.model import Transformer
from transformer.text import EOS_ID, Tokenizer

from transformer_book.widgets.base import AskedAgain, Foretold, Widget, handed_over
from transformer_book.widgets.beam_explorer import Translates
from transformer_book.widgets.breaking import EXTRA, broken, label_of, parts_of, write
from transformer_book.widgets.output_steps import source_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_TOKENS = 40  # of a source: longer ones could not be seen in two pictures side by side
ONE = 100  # a weight of 1 as the page gets it
FEW = 4  # parts: with fewer, paper shows them for every sentence
SPACE = "▁"


@runtime_checkable
class TranslatesToText(Translates, Protocol):
    """One whose tokenizer makes text of tokens too, such as a `Translator`."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer, which makes text of tokens too."""


class BrokenTranslator(Widget, AskedAgain, Foretold):
    """What a sound and a broken model write, and where one of their heads looks.

    It carries its sentences with each single part broken. Further sentences, and several parts
    broken at once, are a `question`, which the kernel answers, or on a page the model that `live`
    names. A broken model is a copy: the translator's own stays as it is. Weights are hundredths.

    With `variants` the second model reads another sentence instead, which differs from the first
    in a word, and nothing need be broken.

    Args:
        translator: a model and its tokenizer.
        sentences: what can be chosen.
        parts: what can be broken, as `breaking.parts_of` names it; all of it unless given, and
            nothing where there are variants.
        silent: the head that the button for one head silences, such as "decoder.2.cross.1"; an
            empty text leaves the button out.
        variants: what the second model may read in place of the one sentence.
        ask: a question to be answered before anything can be pressed, with its `answers`, of which
            `right` is what comes out, and the sentence `why`. That is said from when `about` is
            broken on (or, where there are variants, another sentence is read).
        settings: the traits sentence, variant, broken (the parts that are broken now), attention
            ("cross" or "encoder"), layer and head of the lines (counted from 0), and live, what
            `page_model` says of the model.

    Raises:
        ValueError: there are no sentences, one has no tokens or too many, the model has no such
            part, variants are of more than one sentence, or a question has no right answer.
    """

    description = traitlets.Unicode(
        "A sentence translated by a trained Transformer and by the same one with a part broken or "
        "a word changed, side by side, each with lines from its words to where a head looks."
    ).tag(sync=True)
    constants = handed_over(most_tokens=MOST_TOKENS, extra=EXTRA, one=ONE)
    sentence = traitlets.Unicode().tag(sync=True)
    variant = traitlets.Unicode().tag(sync=True)
    broken: "traitlets.List[str]" = traitlets.List(traitlets.Unicode()).tag(sync=True)
    silent = traitlets.Unicode().tag(sync=True)
    attention = traitlets.Enum(["cross", "encoder"], "cross").tag(sync=True)
    ask = traitlets.Unicode().tag(sync=True)
    about = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        translator: TranslatesToText,
        sentences: Iterable[str],
        *,
        parts: Collection[str] | None = None,
        silent: str | None = None,
        variants: Sequence[str] = (),
        attention: str = "cross",
        ask: str = "",
        answers: Sequence[str] = (),
        right: str = "",
        **settings: Any,
    ) -> None:
        if isinstance(sentences, str) or not (sentences := list(sentences)):
            raise ValueError(f"sentences ({sentences!r}) must be a list of at least one")
        if variants and len(sentences) > 1:
            raise ValueError(f"variants are of one sentence, not of {len(sentences)}; give one")
        self._translator, self._encoder = translator, attention == "encoder"
        model, config = translator.model, translator.model.config
        if silent is None:
            silent = "" if variants else f"decoder.{config.n_layers - 1}.cross.0"
        offered = list(parts_of(model) if parts is None and not variants else parts or ())
        runs = []
        for together in [[], *([part] for part in [*offered, *([silent] if silent else [])])]:
            one = broken(model, together)
            runs += [self._run(one, sentence, together) for sentence in (*sentences, *variants)]
        contents = {
            "layers": config.n_layers, "heads": config.n_heads, "sentences": list(sentences),
            "variants": list(variants), "parts": [[part, label_of(part)] for part in offered],
            "runs": runs,
        }  # fmt: skip
        settings = {"sentence": sentences[0], "layer": config.n_layers - 1, **settings}
        super().__init__(
            contents=contents, silent=silent, attention=attention, ask=ask,
            **self.judged(ask, answers, right), **settings,
        )  # fmt: skip

    def run(self, broken: Collection[str] = (), sentence: str | None = None) -> dict[str, Any]:
        """What is known of a sentence (the shown one unless given) with these parts broken.

        It has the pieces of "source" and "output", the output as "text", whether it "ended", and
        "weights": for each head its weights in hundredths, row by row, a row for each piece of the
        output, or of the source where the encoder's heads are shown.

        Raises:
            ValueError: nobody has asked for that yet.
        """
        wanted = self.sentence if sentence is None else sentence
        for run in self.contents["runs"]:
            if run["sentence"] == wanted and set(run["broken"]) == set(broken):
                return dict(run)
        raise ValueError(f"{wanted!r} with {sorted(broken)} broken is not there; ask for it first")

    def text(self, *broken: str, sentence: str | None = None) -> str:
        """The translation with these parts broken, as far as it was written."""
        text: str = self.run(broken, sentence)["text"]
        return text

    def weights(self, *broken: str, sentence: str | None = None) -> np.ndarray:
        """Where the chosen head looks with these parts broken: (rows, source), 0 to 1."""
        run = self.run(broken, sentence)
        n_heads = self.contents["heads"]
        cells = np.array(run["weights"][self.layer * n_heads + self.head]) / ONE
        return cells.reshape(-1, len(run["source"]))

    def translate(self, *broken: str, sentence: str | None = None) -> None:
        """Translate with these parts broken, as the front end asks for it.

        What is wrong becomes the message.
        """
        asked = self.sentence if sentence is None else sentence
        self._ask(broken=list(broken), sentence=asked)

    def twin(self) -> "Figure":
        """On paper: what is written with nothing broken and with each part, or both lines."""
        from transformer_book.figures.translation import moved_links, translation_table

        if self.contents["variants"]:
            variant = self.variant or self.contents["variants"][0]
            both = [self.run(self.broken, text) for text in (self.sentence, variant)]
            names = "source" if self._encoder else "output"
            return moved_links(
                [self.weights(*self.broken, sentence=run["sentence"]) for run in both],
                [[_plain(piece) for piece in run[names]] for run in both],
                [[_plain(piece) for piece in run["source"]] for run in both],
                titles=[f"{run['sentence']}\n{run['text']}" for run in both],
            )
        singles = [*(name for name, _ in self.contents["parts"]), self.silent]
        shown = self.contents["sentences"] if len(singles) < FEW else [self.sentence]
        table = {}
        for sentence in shown:
            found = {"nothing broken": self.run((), sentence)}
            found |= {label_of(part): self.run([part], sentence) for part in singles if part}
            table[sentence] = {
                name: run["text"] + ("" if run["ended"] else " …") for name, run in found.items()
            }
        return translation_table(table)

    def _run(self, model: Transformer, sentence: str, together: Collection[str]) -> dict[str, Any]:
        tokenizer = self._translator.tokenizer
        source = source_of(self._translator, sentence, MOST_TOKENS)
        found = write(model, source)
        ended = found.tokens[-1] == EOS_ID
        weights = found.encoder if self._encoder else found.cross
        return {
            "sentence": sentence, "broken": list(together), "source": tokenizer.pieces(source),
            "output": tokenizer.pieces(found.tokens), "ended": ended,
            "text": tokenizer.decode(found.tokens[:-1] if ended else found.tokens),
            "weights": (weights * ONE).round().int().flatten(1).tolist(),
        }  # fmt: skip

    @traitlets.observe("question")
    def _answer(self, change: Any) -> None:
        self.message = ""
        sentence, asked = self.question["sentence"], self.question["broken"]
        found = []
        parts: list[str]
        for parts in ([], asked):
            try:
                self.run(parts, sentence)
            except ValueError:
                try:
                    model = broken(self._translator.model, parts)
                    found.append(self._run(model, sentence, parts))
                except ValueError as error:
                    self.message = str(error)
                    return
        self.contents = {**self.contents, "runs": [*self.contents["runs"], *found]}


def _plain(piece: str) -> str:
    return piece.replace(SPACE, "") or piece
