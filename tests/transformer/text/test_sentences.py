"""A list of texts is asked for: one string is refused, and whatever gives strings is taken."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest
import torch

from transformer import Transformer, TransformerConfig
from transformer.data.everyday import asking_for
from transformer.data.parallel import ParallelText
from transformer.evaluation import (
    bleu_counts,
    bleu_tokens,
    bracketing,
    paired_bootstrap,
    score,
    sentence_bleu,
    sentence_chrf,
)
from transformer.text import BPETokenizer, WordTokenizer, unknown_words
from transformer.text.sentences import texts_of
from transformer.translation import Translator

from transformer_book.both_ways import leaning

WORDS = WordTokenizer(["a", "b"])
torch.manual_seed(0)
TRANSLATOR = Translator(
    Transformer(TransformerConfig.tiny(src_vocab_size=WORDS.vocab_size, n_layers=1, d_model=16)),
    WORDS,
)
LIST = ["a b", "b a b b"]
TAKERS: dict[str, Callable[[Iterable[str]], object]] = {
    "translate": TRANSLATOR.translate,
    "n_best": lambda texts: TRANSLATOR.n_best(texts, 2),
    "sample": lambda texts: TRANSLATOR.sample(texts, seed=1),
    "evaluate": lambda texts: TRANSLATOR.evaluate(texts, LIST),
    "evaluate, references": lambda texts: TRANSLATOR.evaluate(LIST, texts),
    "evaluate, others": lambda texts: TRANSLATOR.evaluate(LIST, LIST, texts),
    "score": lambda texts: score(texts, LIST),
    "score, references": lambda texts: score(LIST, texts),
    "score, others": lambda texts: score(LIST, LIST, texts),
    "sentence_chrf": lambda texts: sentence_chrf(texts, LIST),
    "sentence_chrf, references": lambda texts: sentence_chrf(LIST, texts),
    "sentence_bleu": lambda texts: sentence_bleu(texts, LIST),
    "bleu_counts": lambda texts: bleu_counts(LIST, texts),
    "bleu_tokens": lambda texts: bleu_tokens("a", references=texts),
    "bootstrap": lambda texts: paired_bootstrap({"one": texts}, LIST, n_resamples=2),
    "bootstrap, references": lambda texts: paired_bootstrap(
        {"one": LIST, "two": LIST}, texts, n_resamples=2
    ),
    "bracketing": lambda texts: bracketing(texts, LIST, LIST),
    "BPETokenizer": lambda texts: BPETokenizer.train(texts, 270).to_json(),
    "WordTokenizer": lambda words: WordTokenizer(
        word for text in texts_of(words, "") for word in text.split()
    ).to_json(),
    "unknown_words": lambda texts: unknown_words(WORDS, texts),
    "ParallelText": lambda texts: ParallelText(texts, LIST),  # type: ignore[arg-type]
    "ParallelText, target": lambda texts: ParallelText(LIST, texts),  # type: ignore[arg-type]
    "asking_for": lambda texts: asking_for("de", texts),
    "leaning": lambda texts: leaning(WORDS, texts, LIST),
}


@pytest.mark.parametrize("name", TAKERS)
def test_a_generator_is_as_good_as_a_list_and_one_string_is_refused(name: str) -> None:
    take = TAKERS[name]
    assert take(text for text in LIST) == take(tuple(LIST)) == take(LIST)
    with pytest.raises(ValueError, match="this is one string; give a list of"):
        take("ab")


@pytest.mark.parametrize("take", [WordTokenizer, WORDS.ids])
def test_words_are_a_list_too(take: Callable[[Iterable[str]], object]) -> None:
    with pytest.raises(ValueError, match=r"words: this is one string.*words: \['ab'\]"):
        take("ab")
    assert WORDS.ids(iter(["b", "c"])) == [5, 3]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", None], "sources: sentence 2 is no string but NoneType"),
        (["a", "b", ["c"]], "sentence 3 is no string but list"),
        ([b"a"], "sentence 1 is no string but bytes"),
        (b"a", "sources: this is one string"),
        (None, "sources: NoneType is no list; give a list of sentences"),
        (3, "int is no list"),
    ],
)
def test_what_is_no_text_is_named_with_its_number(texts: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        texts_of(texts, "sources")  # type: ignore[arg-type]


def test_whatever_gives_strings_is_a_list_of_them() -> None:
    for texts in (("a", "b"), {"a": 1, "b": 2}, iter("ab"), np.array(["a", "b"])):
        assert texts_of(texts, "texts") == ["a", "b"]
    assert texts_of([], "texts") == []
