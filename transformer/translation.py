"""Text in, text out: a trained model together with its tokenizer, and its scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.data.vocabulary import BOS_ID, EOS_ID
from transformer.decoding import beam_search, greedy_search
from transformer.introspect import record_attention
from transformer.model import Transformer
from transformer.text import Tokenizer, load_tokenizer, save_tokenizer
from transformer.training.batching import pad, token_batches
from transformer.training.checkpoints import load_model, save_model

# Section 6.1: the output may be as long as the input and 50 tokens more.
EXTRA_LENGTH = 50


@dataclass(frozen=True)
class Scores:
    """How well a set of translations agrees with its references.

    Attributes:
        bleu: sacreBLEU's corpus BLEU, 0 to 100.
        signature: how it was counted; figures with different signatures do not compare.
        exact: the share of translations that equal their reference, 0 to 1.
        n_sentences: how many there were.
    """

    bleu: float
    signature: str
    exact: float
    n_sentences: int

    def to_dict(self) -> dict[str, Any]:
        """Rounded, ready for JSON."""
        return {
            "bleu": round(self.bleu, 2),
            "signature": self.signature,
            "exact": round(self.exact, 4),
            "n_sentences": self.n_sentences,
        }


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

    Raises:
        ValueError: the tokenizer does not fit the model's vocabulary.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        sizes = {model.config.src_vocab_size, model.config.tgt_vocab_size}
        if sizes != {tokenizer.vocab_size}:
            raise ValueError(
                f"the tokenizer has {tokenizer.vocab_size} tokens, but the model's vocabularies "
                f"have {sorted(sizes)}; they do not belong together"
            )
        self.model = model
        self.tokenizer = tokenizer

    def translate(
        self,
        texts: Sequence[str],
        *,
        beam_size: int = 1,
        length_penalty: float = 0.6,
        max_tokens: int = 4096,
    ) -> list[str]:
        """Translate sentences, in batches of at most `max_tokens` tokens.

        Args:
            texts: the sentences.
            beam_size: how wide the search is; 1 is greedy search, the paper's is 4.
            length_penalty: alpha of section 6.1, where beam_size is more than 1.
            max_tokens: counts each beginning of a beam.

        Raises:
            ValueError: a sentence is empty or too long; the message gives its number.
        """
        if beam_size < 1:
            raise ValueError(f"beam_size ({beam_size}) must be at least 1")
        sources = [self._encode(text, f"sentence {i}") for i, text in enumerate(texts, 1)]
        device = next(self.model.parameters()).device
        outputs = [""] * len(sources)
        # A wide beam does not forbid a sentence.
        budget = max([max_tokens // beam_size, *(len(ids) + 1 for ids in sources)])
        for indices in token_batches([(ids, ()) for ids in sources], budget):
            src = pad([[*sources[i], EOS_ID] for i in indices], self.model.config.pad_id)
            limit = min(src.size(1) + EXTRA_LENGTH, self.model.config.max_len)
            search: dict[str, Any] = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": limit}
            if beam_size == 1:
                found = greedy_search(self.model, src.to(device), **search)
            else:
                search |= {"beam_size": beam_size, "length_penalty": length_penalty}
                found = beam_search(self.model, src.to(device), **search)
            for i, hypotheses in zip(indices, found, strict=True):
                outputs[i] = self.tokenizer.decode(hypotheses[0].tokens)
        return outputs

    def evaluate(
        self, sources: Sequence[str], references: Sequence[str], *, beam_size: int = 1
    ) -> Scores:
        """Translate and compare with one reference each."""
        if not sources or len(sources) != len(references):
            raise ValueError(
                f"{len(sources)} sentences and {len(references)} references; give as many of both"
            )
        return score(self.translate(sources, beam_size=beam_size), references)

    def attention(self, source: str, target: str | None = None) -> Attention:
        """The attention weights for a sentence and its translation (the model's own if None).

        The source's tokens end in the end mark; the target's are what the decoder reads.
        """
        src_ids = [*self._encode(source, "the source"), EOS_ID]
        if target is None:
            target = self.translate([source])[0]
        # What a search of full length writes last, it never reads.
        tgt_ids = [BOS_ID, *self.tokenizer.encode(target)][: self.model.config.max_len]
        device = next(self.model.parameters()).device
        src, tgt = torch.tensor([src_ids], device=device), torch.tensor([tgt_ids], device=device)
        with torch.no_grad(), record_attention(self.model.eval()) as recorded:
            self.model(src, tgt)
        return Attention(
            source=self.tokenizer.pieces(src_ids),
            target=self.tokenizer.pieces(tgt_ids),
            weights={name: weights[0].cpu() for name, weights in recorded.items()},
        )

    def save(self, folder: Path | str) -> None:
        """Write model.safetensors and tokenizer.json."""
        save_model(Path(folder, "model.safetensors"), self.model)
        save_tokenizer(Path(folder, "tokenizer.json"), self.tokenizer)

    @classmethod
    def load(cls, folder: Path | str) -> "Translator":
        """Read what `save` or a training run has left in a folder."""
        tokenizer = load_tokenizer(Path(folder, "tokenizer.json"))
        return cls(load_model(Path(folder, "model.safetensors")), tokenizer)

    def _encode(self, text: str, name: str) -> list[int]:
        ids = self.tokenizer.encode(text)
        limit = self.model.config.max_len - 1  # one place for the end mark
        if not text.strip():
            raise ValueError(f"{name} is empty; there is nothing to translate")
        if len(ids) > limit:
            raise ValueError(
                f"{name} has {len(ids)} tokens, more than the model takes ({limit}); split it"
            )
        return ids


def score(translations: Sequence[str], references: Sequence[str]) -> Scores:
    """Corpus BLEU with its signature, and the share of exact matches."""
    from sacrebleu.metrics import BLEU

    # force: the toy tasks' texts are tokenised by nature, and a warning about it would mislead.
    metric = BLEU(force=True)
    bleu = metric.corpus_score(list(translations), [list(references)]).score
    pairs = zip(translations, references, strict=True)
    exact = sum(translation == reference for translation, reference in pairs)
    signature = str(metric.get_signature())
    return Scores(bleu, signature, exact / len(references), len(references))
