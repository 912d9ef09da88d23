"""Text in, text out: a trained model together with its tokenizer, and its scores."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from transformer.decoding import EXTRA_LENGTH, Hypothesis, beam_search, greedy_search, sample
from transformer.decoding.ensemble import Ensemble, Searchable
from transformer.evaluation import Scores, score
from transformer.introspect import record_attention
from transformer.model import Transformer
from transformer.support.devices import enough_memory
from transformer.text import (
    BOS_ID,
    EOS_ID,
    Tokenizer,
    load_tokenizer,
    normalize,
    save_tokenizer,
)
from transformer.text.batching import Lengths, pad, token_batches
from transformer.text.sentences import texts_of
from transformer.weights import load_model, save_model

# One of decoding's searches, its own settings given: (model, src, bos_id=, eos_id=, max_len=).
Search = Callable[..., list[list[Hypothesis]]]


@dataclass(frozen=True)
class Attention:
    """The weights of one translation.

    Attributes:
        source, target: the tokens that are keys and queries; target begins with the start mark.
        weights: "encoder.0.self", "decoder.0.self", "decoder.0.cross" -> (heads, query, key).
    """

    source: list[str]
    target: list[str]
    weights: dict[str, Tensor]


class Translator:
    """A model and its (joint) tokenizer.

    Args:
        model: translates.
        tokenizer: of both languages.
        others: models of the same vocabulary that translate together with it (see `Ensemble`).

    Raises:
        ValueError: the tokenizer does not fit the model's vocabulary, or the other models.
    """

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, others: Sequence[Transformer] = ()
    ) -> None:
        sizes = {model.config.src_vocab_size, model.config.tgt_vocab_size}
        if sizes != {tokenizer.vocab_size}:
            raise ValueError(
                f"the tokenizer has {tokenizer.vocab_size} tokens, but the model's vocabularies "
                f"have {sorted(sizes)}; they do not belong together"
            )
        self.model = model
        self.tokenizer = tokenizer
        self.searched: Searchable = Ensemble([model, *others]) if others else model

    def translate(
        self,
        texts: Iterable[str],
        *,
        beam_size: int = 1,
        length_penalty: float = 0.6,
        max_tokens: int = 4096,
        unit: str = "sentence",
    ) -> list[str]:
        """Translate sentences, in batches of at most `max_tokens` tokens.

        Args:
            texts: the sentences; an empty one has an empty translation.
            beam_size: how wide the search is; 1 is greedy search, the paper's is 4.
            length_penalty: alpha of section 6.1, where beam_size is more than 1.
            max_tokens: counts each prefix of a beam.
            unit: what an error message calls a text: "sentence 3", or "line 3" of a file.

        Raises:
            ValueError: a sentence is too long; the message gives its number.
        """
        if beam_size < 1:
            raise ValueError(f"beam_size ({beam_size}) must be at least 1")
        search: Search = greedy_search
        if beam_size != 1:
            search = partial(beam_search, beam_size=beam_size, length_penalty=length_penalty)
        hypotheses = self.search(texts, search, rows=beam_size, max_tokens=max_tokens, unit=unit)
        return [best[0][0] if best else "" for best in hypotheses]

    def search(
        self,
        texts: Iterable[str],
        search: Search,
        *,
        rows: int = 1,
        max_tokens: int = 4096,
        unit: str = "sentence",
    ) -> list[list[tuple[str, float]]]:
        """What a search finds for each sentence: its hypotheses as text, with their scores.

        Args:
            texts: the sentences; nothing is found for an empty one.
            search: any of `decoding`, its own settings bound: partial(beam_search, ...).
            rows: how many prefixes it keeps of each sentence; `max_tokens` counts each.
            max_tokens: of a batch.
            unit: what an error message calls a text.

        Raises:
            ValueError: a sentence is too long; the message gives its number.
        """
        texts = texts_of(texts, "texts")
        sources = {
            i: self._encode(text, f"{unit} {i + 1}")
            for i, text in enumerate(texts)
            if normalize(text)
        }
        numbers = list(sources)
        lengths = Lengths.of_sources([*sources.values()])
        outputs: list[list[tuple[str, float]]] = [[] for _ in texts]
        # A wide beam does not forbid a sentence.
        budget = max(max_tokens // max(rows, 1), lengths.longer.max(initial=0))
        for group in token_batches(lengths, budget):
            indices = [numbers[k] for k in group]
            src = pad([[*sources[i], EOS_ID] for i in indices], self.model.config.pad_id)
            max_len = min(src.size(1) + EXTRA_LENGTH, self.searched.config.max_len)
            self._require_known(src)
            limits = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": max_len}
            with enough_memory(self._memory_message(src.numel() * rows)):
                batch_hypotheses = search(self.searched, src.to(self._device), **limits)
            for i, hypotheses in zip(indices, batch_hypotheses, strict=True):
                # One line, whatever a model spells in bytes: it is scored as it is written.
                outputs[i] = [
                    (normalize(self.tokenizer.decode(h.tokens)), h.score) for h in hypotheses
                ]
        return outputs

    def n_best(
        self,
        texts: Iterable[str],
        n: int,
        *,
        beam_size: int = 4,
        length_penalty: float = 0.6,
        max_tokens: int = 4096,
    ) -> list[list[tuple[str, float]]]:
        """The `n` best hypotheses of beam search for each sentence, best first, with their scores.

        A score is a sum of log-probabilities divided by the length penalty. Different tokens may
        spell the same text, and then it comes more than once.

        Raises:
            ValueError: n is more than beam_size, or a sentence is too long.
        """
        search = partial(beam_search, beam_size=beam_size, length_penalty=length_penalty, n_best=n)
        return self.search(texts, search, rows=beam_size, max_tokens=max_tokens)

    def sample(
        self,
        texts: Iterable[str],
        *,
        n_samples: int = 1,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        max_tokens: int = 4096,
        unit: str = "sentence",
    ) -> list[list[tuple[str, float]]]:
        """`n_samples` translations of each sentence, drawn from the model, with their scores.

        Args:
            texts: the sentences; an empty one has no translations.
            temperature, top_k, top_p: see `decoding.sample`.
            seed: draws the same translations again, for the same texts and max_tokens.
            max_tokens: counts each sample.
            unit: what an error message calls a text.

        Returns:
            In the order drawn; a score is the sum of the model's own log-probabilities.

        Raises:
            ValueError: a setting is out of range, or a sentence is too long.
        """
        generator = None
        if seed is not None:
            if not 0 <= seed < 2**63:
                raise ValueError(f"seed ({seed}) must be a whole number from 0 to 2^63 - 1")
            generator = torch.Generator(self._device).manual_seed(seed)
        search = partial(
            sample, n_samples=n_samples, temperature=temperature, top_k=top_k, top_p=top_p,
            generator=generator,
        )  # fmt: skip
        return self.search(texts, search, rows=n_samples, max_tokens=max_tokens, unit=unit)

    def evaluate(
        self,
        sources: Iterable[str],
        references: Iterable[str],
        *others: Iterable[str],
        beam_size: int = 1,
        length_penalty: float = 0.6,
        max_tokens: int = 4096,
    ) -> Scores:
        """Translate, as `translate` does, and compare with one reference each, or with several."""
        sources, references = texts_of(sources, "sources"), texts_of(references, "references")
        if not sources or len(sources) != len(references):
            raise ValueError(
                f"{len(sources)} sentences and {len(references)} references; give as many of both"
            )
        translations = self.translate(
            sources, beam_size=beam_size, length_penalty=length_penalty, max_tokens=max_tokens
        )
        return score(translations, references, *others)

    def attention(self, source: str, target: str | None = None) -> Attention:
        """The attention weights for a sentence and its translation (the model's own if None).

        The source's tokens end in the end mark; the target's are what the decoder reads.

        Raises:
            ValueError: the source is empty or too long, or several models translate together.
        """
        self._require_one("has no heads of its own; ask one of its models")
        src_ids = [*self._encode(source, "the source"), EOS_ID]
        if target is None:
            target = self.translate([source])[0]
        # What a search of full length writes last, it never reads.
        tgt_ids = [BOS_ID, *self.tokenizer.encode(target)][: self.model.config.max_len]
        src, tgt = (torch.tensor([ids], device=self._device) for ids in (src_ids, tgt_ids))
        with torch.no_grad(), record_attention(self.model.eval()) as recorded:
            self.model(src, tgt)
        return Attention(
            source=self.tokenizer.pieces(src_ids),
            target=self.tokenizer.pieces(tgt_ids),
            weights={name: weights[0].cpu() for name, weights in recorded.items()},
        )

    def save(self, folder: Path | str) -> None:
        """Write model.safetensors and tokenizer.json.

        Raises:
            ValueError: several models translate together.
        """
        self._require_one("has no file of its own; save each of its models")
        save_tokenizer(Path(folder, "tokenizer.json"), self.tokenizer)  # the weights name it
        save_model(Path(folder, "model.safetensors"), self.model)

    @classmethod
    def load(cls, folder: Path | str) -> "Translator":
        """Read what `save` or a training run has left in a folder."""
        tokenizer = load_tokenizer(Path(folder, "tokenizer.json"))
        return cls(load_model(Path(folder, "model.safetensors")), tokenizer)

    def _require_one(self, why: str) -> None:
        if self.searched is not self.model:
            raise ValueError(f"an ensemble {why}")

    def _require_known(self, src: Tensor) -> None:
        """Refuse a tokenizer's mistake here: a GPU could compute nothing after it."""
        last = self.model.config.src_vocab_size - 1
        if not 0 <= int(src.min()) <= int(src.max()) <= last:
            raise ValueError(f"the tokenizer gave token ids that the model has not: 0 to {last}")

    def _memory_message(self, n_tokens: int) -> str:
        return (
            f"the memory of {self._device} does not hold a search over {n_tokens:,} tokens at "
            f"once; set max_tokens below that (--max-tokens {max(1, n_tokens // 2)}), or search "
            "with a narrower beam"
        )

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def _encode(self, text: str, name: str) -> list[int]:
        """The token ids; the message of what is wrong with the text calls it by the name."""
        if not normalize(text):
            raise ValueError(f"{name} is empty; there is nothing to translate")
        ids = self.tokenizer.encode(text)
        limit = self.searched.config.max_len - 1  # one place for the end mark
        if len(ids) > limit:
            raise ValueError(
                f"{name} has {len(ids)} tokens, more than the model takes ({limit}); split it"
            )
        return ids
