"""Byte-pair encoding by hand: the merges of the `tokenizers` library, and what each step says."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import models, trainers

from transformer.data.multi30k import load_multi30k
from transformer.text import BPETokenizer, normalize
from transformer.text.bpe import (
    Pair,
    alphabet,
    apply_merges,
    learn_merges,
    merge_pair,
    merge_steps,
    token_count,
    word_counts,
)

SENNRICH = {"low": 5, "lowest": 2, "newer": 6, "wider": 3}

few_letters = st.text("abc", min_size=1, max_size=8)
any_letters = st.text(min_size=1, max_size=6)
counted = st.dictionaries(few_letters | any_letters, st.integers(1, 9), min_size=1, max_size=8)


def library(counts: Mapping[str, int], n_merges: int) -> tokenizers.Tokenizer:
    """The library's tokenizer with so many merges; each word is a text of its own."""
    backend = tokenizers.Tokenizer(models.BPE())
    size = len(alphabet(counts)) + n_merges
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False)
    backend.train_from_iterator((w for w, n in counts.items() for _ in range(n)), trainer)
    return backend


def merges_of(json_text: str) -> list[Pair]:
    return [(left, right) for left, right in json.loads(json_text)["model"]["merges"]]


@pytest.mark.parametrize("form", ["{}", "{}▁", "▁{}"])
@pytest.mark.parametrize("n_merges", [0, 1, 10, 99])
def test_the_example_of_sennrich_merges_as_the_library(form: str, n_merges: int) -> None:
    counts = {form.format(word): count for word, count in SENNRICH.items()}
    merges = learn_merges(counts, n_merges)
    assert merges == merges_of(library(counts, n_merges).to_str())
    assert len(merges) == min(n_merges, len(learn_merges(counts, 100)))


def test_the_example_of_sennrich_by_hand() -> None:
    counts = {f"{word}▁": count for word, count in SENNRICH.items()}
    steps = list(merge_steps(counts))
    assert [(step.pair, step.count) for step in steps[:4]] == [
        (("e", "r"), 9),  # newer 6, wider 3
        (("er", "▁"), 9),
        (("l", "o"), 7),  # low 5, lowest 2
        (("lo", "w"), 7),
    ]
    assert steps[3].words == {
        "low▁": ("low", "▁"),
        "lowest▁": ("low", "e", "s", "t", "▁"),
        "newer▁": ("n", "e", "w", "er▁"),
        "wider▁": ("w", "i", "d", "er▁"),
    }
    # The paper's unseen word.
    assert apply_merges("lower▁", [step.pair for step in steps[:4]]) == ("low", "er▁")


@pytest.mark.slow
@given(counts=counted, n_merges=st.integers(0, 40))
@example(counts={"aaaa": 1, "aaaaa": 2, "aa": 1}, n_merges=9)
@example(counts={"abab": 1, "ba": 2}, n_merges=9)
@example(counts={"😀▁x": 2, "￿▁x": 2}, n_merges=9)  # Unicode's order is not UTF-16's
def test_any_words_merge_as_the_library(counts: dict[str, int], n_merges: int) -> None:
    assert learn_merges(counts, n_merges) == merges_of(library(counts, n_merges).to_str())


@given(counts=counted, new=st.lists(few_letters, min_size=1), n_merges=st.integers(0, 40))
def test_new_words_are_split_as_by_the_library(
    counts: dict[str, int], new: list[str], n_merges: int
) -> None:
    backend, merges = library(counts, n_merges), learn_merges(counts, n_merges)
    known = set(alphabet(counts))  # the library drops other characters
    for word in [*counts, *("".join(c for c in word if c in known) for word in new)]:
        assert list(apply_merges(word, merges)) == backend.encode(word).tokens


@given(counts=counted)
def test_each_step_says_what_was_there(counts: dict[str, int]) -> None:
    words = {word: tuple(word) for word in counts}
    merges: list[Pair] = []
    for step in merge_steps(counts):
        seen = Counter(p for word, n in counts.items() for p in list(pairwise(words[word])) * n)
        assert step.candidates == seen
        assert next(iter(step.candidates)) == step.pair
        assert step.count == seen[step.pair] == max(seen.values())
        merges.append(step.pair)
        words = dict(step.words)
        assert words == {word: apply_merges(word, merges) for word in counts}
    assert all(len(pieces) == 1 for pieces in words.values())


@given(word=any_letters, counts=counted)
def test_pieces_spell_the_word(word: str, counts: dict[str, int]) -> None:
    assert "".join(apply_merges(word, learn_merges(counts, 20))) == word


def test_a_merge_joins_from_left_to_right() -> None:
    assert merge_pair("aaa", ("a", "a")) == ("aa", "a")
    assert merge_pair(["a", "b", "a", "b"], ("a", "b")) == ("ab", "ab")
    assert merge_pair((), ("a", "b")) == ()


def test_text_becomes_counted_words_with_their_space() -> None:
    counts = word_counts("low  new low\n")
    assert counts == {"▁low": 2, "▁new": 1}
    assert alphabet(counts) == ["e", "l", "n", "o", "w", "▁"]
    assert token_count(counts, {"▁low": ("▁low",), "▁new": ("▁", "new")}) == 4


@pytest.mark.parametrize("counts", [{"": 1}, {"a": 0}, {"a": -1}, {"a": True}])
def test_counts_that_make_no_sense_are_named(counts: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="give words a count of at least 1"):
        learn_merges(counts, 1)


def test_a_negative_number_of_merges_is_refused() -> None:
    with pytest.raises(ValueError, match=r"n_merges \(-1\) must be at least 0"):
        learn_merges(SENNRICH, -1)


@pytest.mark.slow
def test_real_text_merges_and_splits_as_the_library(real_data) -> None:
    corpus = load_multi30k(real_data / "multi30k")
    texts = [*corpus.train.source, *corpus.train.target]
    tokenizer = BPETokenizer.train(texts, 1000)
    theirs = merges_of(tokenizer.to_json())
    assert len(theirs) > 600
    backend = tokenizer._backend
    split = backend.pre_tokenizer.pre_tokenize_str
    counts = Counter(word for text in texts for word, _ in split(f" {normalize(text)}"))
    merges = learn_merges(counts, len(theirs))
    assert merges == theirs

    unseen = {w for t in corpus.tests["test_2018_flickr"].source for w, _ in split(f" {t}")}
    known = set(alphabet(counts))
    unseen = {word for word in unseen - set(counts) if set(word) <= known}
    assert len(unseen) > 400
    for word in sorted(unseen)[::4]:
        assert list(apply_merges(word, merges)) == [t.value for t in backend.model.tokenize(word)]
