"""A model of two directions that finds out which of them is meant, and says when it is unsure."""

import copy
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from transformer.data.everyday import LANGUAGES, direction
from transformer.decoding import Hypothesis, greedy_search
from transformer.decoding.beam import penalty
from transformer.decoding.ensemble import Searchable
from transformer.decoding.generate import searching
from transformer.model import Transformer
from transformer.support.files import write_atomically
from transformer.text import BOS_ID, EOS_ID, Tokenizer, normalize
from transformer.text.batching import Lengths, pad, token_batches
from transformer.text.sentences import texts_of
from transformer.translation import Translator

from transformer_book.heads.measures import log_probabilities

FILE = "both_ways.json"  # beside a model's weights
STEPS = 20  # of a leaning to a nat: whole numbers are as good, and small in a page
ARROWS = tuple(f"{direction(language)} " for language in LANGUAGES)
# Of reading back, chosen on validation pairs (measurements/reading_back.py).
CANDIDATES = 12
BACKWARD = 0.2
PER_TOKEN = 0.0
ALPHA = 0.6  # of the length penalty, as the search has it


def without_direction(text: str) -> str:
    """The sentence without what asks for a language at its head."""
    return next((text.removeprefix(arrow) for arrow in ARROWS if text.startswith(arrow)), text)


@dataclass(frozen=True)
class BothWays:
    """What a model of both directions has to know beside its weights.

    Attributes:
        leaning: for each token, how much likelier it is in German than in English, as the logarithm
            of a ratio, in twentieths.
        unsure_below: the mean log-probability of a translation's tokens, the end mark among them,
            below which a reader is warned.
    """

    leaning: tuple[int, ...]
    unsure_below: float

    def language(self, ids: Iterable[int]) -> str:
        """The language in which the tokens are likelier, each for itself: "de" or "en"."""
        return "de" if sum(self.leaning[i] for i in ids) > 0 else "en"

    def save(self, folder: Path) -> None:
        """Write it beside the model."""
        write_atomically(folder / FILE, (json.dumps(asdict(self)) + "\n").encode())

    @classmethod
    def load(cls, folder: Path) -> "BothWays":
        """Read what `save` has written."""
        read = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return cls(tuple(read["leaning"]), read["unsure_below"])


def leaning(tokenizer: Tokenizer, german: Iterable[str], english: Iterable[str]) -> tuple[int, ...]:
    """How much each token leans to German, counted in texts of both languages (see `BothWays`)."""
    logs = []
    for sentences in (german, english):
        counts = [0.5] * tokenizer.vocab_size  # a token that was not met may still come
        for sentence in texts_of(sentences, "sentences"):
            for i in tokenizer.encode(sentence):
                counts[i] += 1
        logs.append([math.log(count / sum(counts)) for count in counts])
    return tuple(round(STEPS * (de - en)) for de, en in zip(*logs, strict=True))


class Candidate(NamedTuple):
    """A translation y of x that beam search has finished, and what reading it back says of it.

    Attributes:
        text: y.
        forward: log P(y | x), divided by the length penalty of y: the score of beam search.
        backward: log P(x | y), divided by that of x: the same model in the other direction.
        length: how many tokens y has, its end mark among them.
    """

    text: str
    forward: float
    backward: float
    length: int

    def score(self, backward: float = BACKWARD, per_token: float = PER_TOKEN) -> float:
        """What Yee, Dauphin and Auli (2019) rank by, without a language model of its own."""
        read = backward * self.backward if backward else 0.0  # minus infinity times 0 is no number
        return self.forward + read + per_token * self.length


class TwoWayTranslator(Translator):
    """A translator that reads German and English, and puts the direction before the sentence.

    A sentence that begins with a direction, as in "→de Good morning.", keeps it.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, ways: BothWays) -> None:
        super().__init__(model, tokenizer)
        self.ways = ways

    @classmethod
    def load(cls, folder: Path | str) -> "TwoWayTranslator":
        """Read a model with what `BothWays.save` has left beside it."""
        found = Translator.load(folder)
        return cls(found.model, found.tokenizer, BothWays.load(Path(folder)))

    def asked(self, text: str) -> str:
        """The sentence with its direction before it: into the language that it is not in."""
        text = normalize(text)
        if not text or text.startswith(ARROWS):
            return text
        german = self.ways.language(self.tokenizer.encode(text)) == "de"
        return f"{direction('en' if german else 'de')} {text}"

    def rerank(self, texts: Iterable[str], beam_size: int = CANDIDATES) -> list[str]:
        """Translate by noisy-channel reranking: the candidate of a beam that reads back best.

        An empty text has an empty translation. Errors as in `translate`.
        """
        found = self.candidates(texts, beam_size)
        return [max(each, key=Candidate.score).text if each else "" for each in found]

    def candidates(
        self, texts: Iterable[str], beam_size: int = CANDIDATES, *, max_tokens: int = 4096
    ) -> list[list[Candidate]]:
        """What a beam finishes for each text, each read back once; best first, as the beam has it.

        One that is too long to be read back has a `backward` of minus infinity.

        Raises:
            ValueError: a text is too long; the message gives its number.
        """
        texts = [self.asked(text) for text in texts_of(texts, "texts")]
        found = self.n_best(
            texts, beam_size, beam_size=beam_size, length_penalty=ALPHA, max_tokens=max_tokens
        )
        rows = [(i, text, score) for i, each in enumerate(found) for text, score in each]
        backward = self._read_back([(texts[i], text) for i, text, _ in rows], max_tokens)
        read: list[list[Candidate]] = [[] for _ in texts]
        for (i, text, score), back in zip(rows, backward, strict=True):
            length = len(self.tokenizer.encode(text)) + 1
            read[i].append(Candidate(text, score, back, length))
        return read

    def _read_back(self, pairs: list[tuple[str, str]], max_tokens: int) -> list[float]:
        """The penalised log-probability of each first text, arrow and all, given the second."""
        encode = self.tokenizer.encode
        other = dict(zip(ARROWS, reversed(ARROWS), strict=True))
        tokens = [
            (encode(other[asked[: len(ARROWS[0])]] + text), encode(without_direction(asked)))
            for asked, text in pairs
        ]
        fitting = [
            i for i, (src, _) in enumerate(tokens) if len(src) < self.searched.config.max_len
        ]
        found = [-math.inf] * len(pairs)
        lengths = Lengths.of([tokens[i] for i in fitting])
        budget = max(max_tokens, lengths.longer.max(initial=0))
        for group in token_batches(lengths, budget):
            chosen = [fitting[k] for k in group]
            src = pad([[*tokens[i][0], EOS_ID] for i in chosen], self.model.config.pad_id)
            tgt = pad([[BOS_ID, *tokens[i][1], EOS_ID] for i in chosen], self.model.config.pad_id)
            with searching(self.model):
                logs = log_probabilities(self.model, src.to(self._device), tgt.to(self._device))
            for i, total in zip(chosen, logs.sum(-1).tolist(), strict=True):
                found[i] = total / penalty(len(tokens[i][1]) + 1, ALPHA)
        return found

    def confidence(self, texts: Iterable[str]) -> list[float]:
        """The mean log-probability of the tokens that greedy search finds for each text.

        The end mark is one of the tokens.

        Raises:
            ValueError: a text is too long, or empty.
        """
        texts = texts_of(texts, "texts")
        if not all(map(normalize, texts)):
            raise ValueError("a text is empty; there is nothing to be sure of")
        return [best[0][1] for best in self.search(texts, _with_means)]

    def unsure(self, texts: Iterable[str]) -> list[bool]:
        """Whether readers are warned of the translation of each text. Errors as in `confidence`."""
        return [mean < self.ways.unsure_below for mean in self.confidence(texts)]

    def _encode(self, text: str, name: str) -> list[int]:
        return super()._encode(self.asked(text), name)


def _with_means(model: Searchable, src: Tensor, **limits: Any) -> list[list[Hypothesis]]:
    """Greedy search, whose scores are means over the tokens and the end mark."""
    return [
        [Hypothesis(h.tokens, h.score / (len(h.tokens) + 1)) for h in found]
        for found in greedy_search(model, src, **limits)
    ]


def with_model(translator: Translator, model: Transformer) -> Translator:
    """The same translator, of its own kind, with another model of the same vocabulary."""
    changed = copy.copy(translator)
    changed.model = changed.searched = model
    return changed
