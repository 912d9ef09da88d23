"""Scores are sacreBLEU's, and equal to what the papers' formulas give when computed by hand."""

import math
import random
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest
import sacrebleu

from transformer.evaluation import (
    bleu_counts,
    bleu_tokens,
    paired_bootstrap,
    score,
    sentence_bleu,
    sentence_chrf,
)

WORDS = ["the", "a", "dog", "cat", "runs", "sleeps", "on", "in", "green", "blue", "meadow", "two"]


def corpus(n: int, noise: float, seed: int = 0) -> tuple[list[str], list[str]]:
    """References, and the same with words dropped, doubled and replaced."""
    generator = random.Random(seed)
    references, outputs = [], []
    for _ in range(n):
        words = generator.choices(WORDS, k=generator.randint(5, 12))
        references.append(" ".join(words))
        changed = [
            word if generator.random() > noise else generator.choice(["", f"{word} {word}", "fox"])
            for word in words
        ]
        outputs.append(" ".join(" ".join(changed).split()) or "fox")
    return outputs, references


def ngrams(items: list[str] | str, n: int) -> Counter[object]:
    return Counter(tuple(items[i : i + n]) for i in range(len(items) - n + 1))


def bleu_by_hand(outputs: list[str], references: list[str]) -> float:
    """Papineni et al. 2002, section 2.3, for texts whose words are tokens."""
    pairs = [(o.split(), r.split()) for o, r in zip(outputs, references, strict=True)]
    logs = []
    for n in range(1, 5):
        right = sum((ngrams(o, n) & ngrams(r, n)).total() for o, r in pairs)
        logs.append(math.log(right / sum(ngrams(o, n).total() for o, _ in pairs)))
    output_length, length = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    brevity = min(1.0, math.exp(1 - length / output_length))
    return 100 * brevity * math.exp(sum(logs) / 4)


def chrf_by_hand(output: str, reference: str) -> float:
    """Popović 2015: beta 2, up to six characters; orders that a side lacks are left out."""
    texts = "".join(output.split()), "".join(reference.split())
    values = []
    for n in range(1, 7):
        one, other = (ngrams(text, n) for text in texts)
        if one and other:
            right = (one & other).total()
            values.append((right / one.total(), right / other.total()))
    precision, recall = (sum(column) / len(values) for column in zip(*values, strict=True))
    return 100 * 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("seed", range(3))
def test_bleu_and_chrf_are_the_papers_formulas(seed: int) -> None:
    outputs, references = corpus(40, 0.2, seed)
    assert score(outputs, references).bleu == pytest.approx(bleu_by_hand(outputs, references))
    by_hand = [chrf_by_hand(o, r) for o, r in zip(outputs, references, strict=True)]
    assert sentence_chrf(outputs, references) == pytest.approx(by_hand)


def test_a_sentence_of_zeros_is_smoothed_and_a_short_one_has_fewer_lengths() -> None:
    outputs = ["the dog runs on", "the dog", "the a", "cat"]
    found = sentence_bleu(outputs, ["the dog runs"] * 4)
    brevity = np.exp(1 - 3 / 2)
    assert found == pytest.approx(
        [
            100 * (3 / 4 * 2 / 3 * 1 / 2 * 0.5) ** (1 / 4),
            100 * brevity,
            100 * brevity * (1 / 2 * 0.5) ** (1 / 2),
            0.0,
        ]
    )


def test_marks_are_words_of_their_own() -> None:
    assert bleu_tokens('"Well-known", he said: 3.5 & more.') == [
        '"', "Well-known", '"', ",", "he", "said", ":", "3.5", "&", "more", "."
    ]  # fmt: skip


def test_counts_of_the_sentences_add_up_to_the_corpus_bleu() -> None:
    outputs, references = corpus(40, 0.2)
    sums = np.sum(bleu_counts(outputs, references), axis=0)
    precisions = sums[2:6] / sums[6:10]
    brevity = min(1.0, math.exp(1 - sums[1] / sums[0]))
    assert 100 * brevity * math.exp(np.log(precisions).mean()) == pytest.approx(
        score(outputs, references).bleu
    )
    # A sentence of one word has no longer n-grams; the counts say so.
    assert bleu_counts(["the"], ["the cat"]) == [[1, 2, 1, 0, 0, 0, 1, 0, 0, 0]]


def test_scores_say_how_they_were_counted() -> None:
    references = ["the cat sat on the mat today", "a dog runs across the green meadow"]
    perfect = score(references, references)
    assert (perfect.bleu, perfect.chrf, perfect.exact) == pytest.approx((100, 100, 1))
    assert "tok:13a" in perfect.signature
    assert "nc:6" in perfect.chrf_signature
    half = score([references[0], "something else"], references)
    assert half.exact == 0.5
    assert 0 < half.bleu < 100
    assert half.to_dict() == {
        "bleu": round(half.bleu, 2),
        "signature": perfect.signature,
        "chrf": round(half.chrf, 2),
        "chrf_signature": perfect.chrf_signature,
        "exact": 0.5,
        "n_sentences": 2,
    }


CHINESE = "两只棕色的狗在雪地里玩耍。"
JAPANESE = "二匹の茶色い犬が雪の中で遊んでいる。"
MECAB = find_spec("MeCab") is not None and find_spec("ipadic") is not None


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [
        (CHINESE, "zh"),
        (JAPANESE, "ja-mecab" if MECAB else "char"),
        ("สุนัขสองตัวเล่นในหิมะ", "char"),
        ("두 마리의 갈색 개가 눈 속에서 놀고 있다.", "13a"),
        ("Две собаки играют в снегу.", "13a"),
    ],
)
def test_words_are_counted_by_the_tokenizer_for_the_script(
    text: str, tokenizer: str, capfd: pytest.CaptureFixture[str]
) -> None:
    metric = sacrebleu.BLEU(tokenize=tokenizer)
    changed = text[:4] + text[6:]
    for output in (text, changed):
        found = score([output], [text])
        assert found.bleu == pytest.approx(metric.corpus_score([output], [[text]]).score)
        assert found.signature == str(metric.get_signature())
        counts = bleu_counts([output], [text])[0]
        assert counts[:2] == [len(bleu_tokens(t, references=[text])) for t in (output, text)]
        assert sentence_bleu([output], [text]) == pytest.approx([found.bleu])
        resampled = paired_bootstrap({"one": [output] * 2}, [text] * 2, n_resamples=3)["one"]
        assert resampled["bleu"].mean == pytest.approx(found.bleu)
        assert f"tok:{metric.tokenizer_signature}" in resampled["bleu"].signature
    assert score([text], [text]).bleu == pytest.approx(100)
    assert bleu_tokens(text) == metric.tokenizer(text).split()
    assert capfd.readouterr() == ("", "")


def test_the_references_choose_the_tokenizer_and_not_the_outputs() -> None:
    english = "two brown dogs play in the deep snow"
    assert "tok:13a" in score([CHINESE] * 3, [english] * 3).signature
    assert "tok:zh" in score([english] * 3, [CHINESE] * 3).signature
    assert "tok:zh" in score([english] * 3, [CHINESE, "in 1998: Google", CHINESE]).signature
    assert "tok:13a" in score([english] * 3, [english, "北京", english]).signature
    assert bleu_tokens("两只狗", references=[english]) == ["两只狗"]


def test_several_references_are_counted_as_sacrebleu_counts_them() -> None:
    first, references = corpus(40, 0.2)
    second, third = corpus(40, 0.1)[0], corpus(40, 0.3, seed=1)[1]
    streams = [references, second, third]
    found = score(first, *streams)
    assert found.bleu == pytest.approx(sacrebleu.corpus_bleu(first, streams).score)
    assert found.chrf == pytest.approx(sacrebleu.corpus_chrf(first, streams).score)
    assert found.bleu > score(first, references).bleu
    for signature in (found.signature, found.chrf_signature):
        assert "nrefs:3" in signature
    assert "nrefs:1" in score(first, references).signature
    mixed = [streams[i % 3][i] for i in range(40)]
    assert (score(mixed, *streams).bleu, score(mixed, *streams).exact) == pytest.approx((100, 1))
    resampled = paired_bootstrap({"one": first}, *streams, n_resamples=50)["one"]["bleu"]
    assert resampled.mean == pytest.approx(found.bleu, abs=2)
    assert "nrefs:3" in resampled.signature
    with pytest.raises(ValueError, match="40 translations and 39 references"):
        score(first, references, second[1:])


def test_an_interval_is_that_of_a_bootstrap_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    outputs, references = corpus(60, 0.2)
    interval = paired_bootstrap({"one": outputs}, references, n_resamples=400)["one"]["bleu"]
    counts = np.array(bleu_counts(outputs, references))
    values = []
    for drawn in np.random.default_rng(7).choice(60, size=(400, 60)):
        sums = counts[drawn].sum(0)
        brevity = min(1.0, math.exp(1 - sums[1] / sums[0]))
        values.append(100 * brevity * math.exp(np.log(sums[2:6] / sums[6:10]).mean()))
    low, *_, high = sorted(values)[10:390]
    assert interval.mean == pytest.approx(np.mean(values), abs=1e-4)
    assert interval.half_width == pytest.approx((high - low) / 2, abs=1e-4)
    assert "bs:400" in interval.signature
    assert "seed:7" in interval.signature


def test_a_clear_difference_is_told_from_chance() -> None:
    good, references = corpus(60, 0.1)
    bad, _ = corpus(60, 0.5)
    # The better of two halves that are mixed of the same sentences is better by chance.
    mixed = [good[i] if i % 2 else bad[i] for i in range(60)]
    other = [bad[i] if i % 2 else good[i] for i in range(60)]
    apart = paired_bootstrap({"good": good, "bad": bad}, references, n_resamples=200)
    alike = paired_bootstrap({"mixed": mixed, "other": other}, references, n_resamples=200)
    for metric in ("bleu", "chrf"):
        assert apart["good"][metric].p_value is None
        assert apart["bad"][metric].p_value < 0.01
        assert alike["other"][metric].p_value > 0.05
        assert apart["good"][metric].mean > apart["bad"][metric].mean
    assert apart["good"]["bleu"].to_dict()["p_value"] is None
    assert apart["bad"]["bleu"].to_dict()["half_width"] > 0


def test_a_system_does_not_differ_from_itself() -> None:
    outputs, references = corpus(20, 0.3)
    systems = {"one": outputs, "again": outputs}
    found = paired_bootstrap(systems, references, n_resamples=50)["again"]
    assert [found[metric].p_value for metric in ("bleu", "chrf")] == [1.0, 1.0]


def test_resampling_is_the_same_each_time() -> None:
    outputs, references = corpus(20, 0.3)
    once = paired_bootstrap({"one": outputs}, references, n_resamples=50)
    assert once == paired_bootstrap({"one": outputs}, references, n_resamples=50)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 2), (2, 1)])
def test_as_many_translations_as_references_are_needed(n: int, m: int) -> None:
    outputs, references = ["a"] * n, ["a"] * m
    for count in (
        lambda: score(outputs, references),
        lambda: sentence_chrf(outputs, references),
        lambda: bleu_counts(outputs, references),
        lambda: sentence_bleu(outputs, references),
        lambda: paired_bootstrap({"one": outputs}, references),
    ):
        with pytest.raises(ValueError, match=f"{n} translations and {m} references"):
            count()


def test_something_must_be_compared() -> None:
    with pytest.raises(ValueError, match="no system"):
        paired_bootstrap({}, ["a"])
