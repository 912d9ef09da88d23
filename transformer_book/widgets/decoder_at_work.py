"""The decoder while it translates: at each step its candidates, and where its heads look."""

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from transformer.text import EOS_ID, SPACE

from transformer_book.widgets.attentions import text_of
from transformer_book.widgets.base import AskedAgain, Widget, handed_over
from transformer_book.widgets.beam_explorer import Translates
from transformer_book.widgets.output_steps import (
    MOST_TOKENS,
    N_CANDIDATES,
    ONE,
    TEMPERATURES,
    output_steps,
    steps_state,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOP_K = (0, 1, 2, 3, 5, N_CANDIDATES)  # 0: all tokens
PRESSES = ("this head", "the others of its layer", "the others of its kind")


class DecoderAtWork(Widget, AskedAgain):
    """A translation token by token: its likely tokens, the cross-attention, what else could be.

    It carries the steps of its first sentences. Further ones, other tokens and silenced heads are
    a `question`, which the kernel answers, or on a page the model that `live` names. The kernel
    computes itself, in place of handing the packed model over: so any model can be shown, and no
    megabytes go through Jupyter. Logarithms have four decimals, weights are thousandths.

    Args:
        translator: a model and its tokenizer.
        sentences: what to translate first: one sentence, or two that stand beside each other.
        given: for each sentence the tokens that its output begins with; none if left out.
        silenced: heads that say nothing, such as "decoder.0.cross.3".
        settings: the traits step (1 is the first token), view, layer and head of the lines
            (counted from 0), temperature, top_k (0: all), beside (whether the second sentence is
            shown), and live, what `page_model` says of the model.

    Raises:
        ValueError: there are no sentences or more than two, or one has no tokens or too many; a
            given token is none of the model's, or there is no such head.
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "A translation token by token: at each step the most probable tokens as bars, and where "
        "the heads of the cross-attention look in the source."
    ).tag(sync=True)
    constants = handed_over(
        temperatures=list(TEMPERATURES), top_k=list(TOP_K), most_tokens=MOST_TOKENS,
        candidates=N_CANDIDATES,
    )  # fmt: skip
    step = traitlets.Int(1, min=1).tag(sync=True)
    view = traitlets.Enum(["lines", "matrix"], "lines").tag(sync=True)
    presses = traitlets.Enum(PRESSES, PRESSES[0]).tag(sync=True)
    keep = traitlets.Bool(False).tag(sync=True)
    temperature = traitlets.Enum(TEMPERATURES, 1.0).tag(sync=True)
    top_k = traitlets.Enum(TOP_K, 0).tag(sync=True)
    beside = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        translator: Translates,
        sentences: str | Sequence[str],
        *,
        given: Sequence[Sequence[int]] = (),
        silenced: Collection[str] = (),
        **settings: Any,
    ) -> None:
        texts = [sentences] if isinstance(sentences, str) else list(sentences)
        if not 1 <= len(texts) <= 2:
            raise ValueError(f"there are {len(texts)} sentences; give one or two")
        self._translator = translator
        config = translator.model.config
        starts = [*given, *([()] * (len(texts) - len(given)))]
        runs = [
            self._run({"sentence": text, "given": start}, list(silenced), 0)
            for text, start in zip(texts, starts, strict=True)
        ]
        marked = any(SPACE in piece for run in runs for piece in run["source"] + run["pieces"])
        contents = {
            "layers": config.n_layers, "heads": config.n_heads, "vocab": config.tgt_vocab_size,
            "end": EOS_ID, "marked": marked, "runs": runs,
        }  # fmt: skip
        if ways := getattr(translator, "ways", None):  # of a model of two directions
            contents["unsure_below"] = ways.unsure_below
        super().__init__(contents=contents, **settings)

    def run(self, sentence: int = 0) -> dict[str, Any]:
        """All that is known of the output of a sentence; see `output_steps.steps_state`."""
        run: dict[str, Any] = self.contents["runs"][sentence]
        return run

    def text(self, sentence: int = 0) -> str:
        """The whole output, the end mark left out."""
        run = self.run(sentence)
        pieces = [p for p, t in zip(run["pieces"], run["tokens"], strict=True) if t != EOS_ID]
        return text_of(pieces, self.contents["marked"])

    def log_probability(self, sentence: int = 0) -> float:
        """The sum of the logarithms of all tokens that were written, by the model itself."""
        return math.fsum(self.run(sentence)["written"])

    def candidates(self, sentence: int = 0) -> list[dict[str, Any]]:
        """The likely tokens of the shown step, best first.

        Each has its token id, its piece, its "probability" by the model itself, and the one with
        which it is "drawn", after temperature and top-k.
        """
        run = self.run(sentence)
        at = min(self.step, len(run["tokens"])) - 1
        logs = run["logs"][at]
        drawn = [math.exp(log / self.temperature) for log in logs]
        whole = math.exp(run["sums"][at][TEMPERATURES.index(self.temperature)])
        if self.top_k:
            whole = math.fsum(drawn[: self.top_k])
        columns = zip(run["ids"][at], run["likely"][at], logs, drawn, strict=True)
        return [
            {"token": token, "piece": piece, "probability": math.exp(log),
             "drawn": power / whole if i < self.top_k or not self.top_k else 0.0}
            for i, (token, piece, log, power) in enumerate(columns)
        ]  # fmt: skip

    def ask(self, *, silenced: Collection[str] = (), **asked: Any) -> None:
        """Translate anew, as the front end asks for it; what is wrong becomes the message.

        Args:
            silenced: heads that say nothing.
            asked: sentence and given of the first output; temperature and top_k of a draw.
        """
        run = {"at": 0, "sentence": self.run()["sentence"], "given": [], **asked}
        self._ask(runs=[run], silenced=list(silenced))

    def twin(self) -> "Figure":
        """The shown step on paper, of one sentence or of both."""
        from transformer_book.figures.decoder import decoder_steps

        runs = self.contents["runs"][: 2 if self.beside else 1]
        head = self.layer * self.contents["heads"] + self.head
        steps = []
        for sentence, run in enumerate(runs):
            at = min(self.step, len(run["tokens"])) - 1
            steps.append({
                "source": run["source"], "target": run["pieces"][: at + 1],
                "weights": [weight / ONE for weight in run["cross"][at][head]],
                "likely": {c["piece"]: c["probability"] for c in self.candidates(sentence)},
            })  # fmt: skip
        return decoder_steps(steps, head=f"layer {self.layer + 1}, head {self.head + 1}")

    def _run(self, asked: dict[str, Any], silenced: list[str], number: int) -> dict[str, Any]:
        sentence, given = asked["sentence"], list(asked["given"])
        temperature, top_k = asked.get("temperature"), asked.get("top_k") or 0
        steps = output_steps(
            self._translator, sentence, given=given, silenced=silenced, temperature=temperature,
            top_k=top_k or None,
        )  # fmt: skip
        return {
            **steps_state(self._translator, sentence, steps), "number": number, "done": True,
            "given": len(given), "silenced": silenced,
            "drawn": [] if temperature is None else [temperature, top_k],
        }  # fmt: skip

    @traitlets.observe("question")
    def _answer(self, change: Any) -> None:
        self.message = ""
        runs = list(self.contents["runs"])
        try:
            for asked in self.question.get("runs", []):
                run = self._run(asked, self.question["silenced"], self.question["number"])
                runs[asked["at"] : asked["at"] + 1] = [run]
        except ValueError as error:
            self.message = str(error)
            return
        self.contents = {**self.contents, "runs": runs}
