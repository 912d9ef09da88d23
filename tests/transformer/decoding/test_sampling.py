"""Samples follow the model's distribution, and only the part of it that the settings leave."""

import math
from collections import Counter
from typing import Any

import pytest
import torch

from tests.helpers import (
    BOS,
    EOS,
    MARKS,
    decided_model,
    lively_model,
    log_probabilities,
    padded_sources,
    sentences,
)
from transformer.decoding import greedy_search, sample
from transformer.decoding.sampling import likely_part
from transformer.introspect import record_attention

MAX_LEN = 7


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "settings",
    [{"temperature": 1e-7}, {"top_k": 1}, {"top_p": 1e-6}, {"temperature": 5.0, "top_k": 1}],
)
def test_what_leaves_one_token_is_greedy_search(settings):
    for seed in range(4):
        model, src = lively_model(seed), sentences([6, 1, 3, 6, 2], seed, extra=2)
        (drawn, expected) = (
            sample(model, src, max_len=MAX_LEN, generator=seeded(), **settings, **MARKS),
            greedy_search(model, src, max_len=MAX_LEN, **MARKS),
        )
        for (one,), (other,) in zip(drawn, expected, strict=True):
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=1e-4)


@torch.no_grad()
def whole_distribution(model, row, temperature, max_len):
    """The probability of every output, from the whole model at each step."""
    outputs, growing = {}, {(): 1.0}
    for length in range(max_len):
        longer = {}
        for tokens, probability in growing.items():
            logits = model(row, torch.tensor([[BOS, *tokens]]))[0, -1] / temperature
            for token, p in enumerate(logits.softmax(-1).tolist()):
                goes_on = token != EOS and length < max_len - 1
                end = tokens if token == EOS else (*tokens, token)
                (longer if goes_on else outputs)[end] = probability * p
        growing = longer
    return outputs


@pytest.mark.parametrize("temperature", [1.0, 0.6, 2.0])
def test_outputs_are_drawn_as_often_as_the_model_finds_them_probable(temperature):
    model, row = decided_model(5), torch.tensor([[3, 4, 2]])
    expected = whole_distribution(model, row, temperature, max_len=3)
    assert sum(expected.values()) == pytest.approx(1)
    n = 6000
    (drawn,) = sample(
        model, row, temperature=temperature, max_len=3, n_samples=n, generator=seeded(), **MARKS
    )
    counts = Counter(tuple(h.tokens) for h in drawn)
    # Pearson's statistic; outputs that are expected fewer than 8 times count as one.
    likely = {tokens: n * p for tokens, p in expected.items() if n * p >= 8}
    rest = n - sum(likely.values())
    differences = [(counts[tokens] - m, m) for tokens, m in likely.items()]
    if rest > 0:
        differences.append((n - sum(counts[tokens] for tokens in likely) - rest, max(rest, 8.0)))
    statistic = sum(difference**2 / m for difference, m in differences)
    freedom = len(differences) - 1
    assert freedom > 8
    assert statistic < freedom + 4 * math.sqrt(2 * freedom)


def test_a_score_is_the_models_own_whatever_the_settings():
    model, src = decided_model(30), padded_sources(4, 30)
    ended = 0
    for settings in ({}, {"temperature": 0.7, "top_k": 5}, {"top_p": 0.8}):
        drawn = sample(
            model, src, max_len=12, n_samples=5, generator=seeded(3), **settings, **MARKS
        )
        for i, hypotheses in enumerate(drawn):
            assert len(hypotheses) == 5
            for h in hypotheses:
                assert EOS not in h.tokens
                end = len(h.tokens) < 12
                ended += end
                (total,) = log_probabilities(model, src[i : i + 1], [h.tokens], end)
                assert h.score == pytest.approx(total, abs=1e-3)
    assert ended


@pytest.mark.slow
def test_only_likely_tokens_are_drawn():
    model, row = decided_model(12), torch.tensor([[3, 4, 2]])
    with torch.no_grad():
        probs = model(row, torch.tensor([[BOS]]))[0, -1].softmax(-1)
    ordered, tokens = probs.sort(descending=True)
    needed = int((ordered.cumsum(0) < 0.95).sum()) + 1
    assert 2 < needed < 11
    for settings, expected in (
        ({"top_k": 3}, tokens[:3]),
        ({"top_p": 0.95}, tokens[:needed]),
        ({"top_k": 2, "top_p": 0.99}, tokens[:2]),
        ({}, tokens),
    ):
        (drawn,) = sample(
            model, row, bos_id=BOS, eos_id=-1, max_len=1, n_samples=20_000, generator=seeded(1),
            **settings,
        )  # fmt: skip
        assert {h.tokens[0] for h in drawn} == set(expected.tolist())


@pytest.mark.parametrize(
    ("top_k", "top_p", "expected"),
    [
        (None, None, [0.1, 0.4, 0.2, 0.3]),
        (9, 1.0, [0.1, 0.4, 0.2, 0.3]),
        (2, None, [0, 4 / 7, 0, 3 / 7]),
        (None, 0.65, [0, 4 / 7, 0, 3 / 7]),
        (None, 0.75, [0, 4 / 9, 2 / 9, 3 / 9]),
        (None, 0.1, [0, 1, 0, 0]),
        (2, 0.5, [0, 1, 0, 0]),  # of the two, the first has 4/7 already
    ],
)
def test_the_likely_part_by_hand(top_k, top_p, expected):
    log_probs = torch.tensor([[0.1, 0.4, 0.2, 0.3]], dtype=torch.float64).log()
    part = likely_part(log_probs, top_k, top_p).exp()
    torch.testing.assert_close(part, torch.tensor([expected], dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_sum_that_is_just_reached_needs_no_further_token(dtype):
    def kept(probs, top_p):
        log_probs = torch.tensor(probs, dtype=dtype).log()
        return int((likely_part(log_probs, top_p=top_p) > -math.inf).sum())

    assert kept([0.5, 0.3, 0.1, 0.1], 0.8) == 2
    assert kept([0.1, 0.3, 0.1, 0.5], 0.9) == 3
    assert kept([0.5, 0.29999, 0.1, 0.10001], 0.8) == 3
    for n in (1, 3, 4, 7, 10, 100, 1000):
        for k in range(1, n + 1, max(1, n // 20)):
            assert kept([1 / n] * n, k / n) == k
            assert kept([1 / n] * n, (k - 0.01) / n) == k


def test_a_generator_makes_it_reproducible_and_the_seed_matters():
    model, src = decided_model(30), padded_sources(5, 30)
    settings: dict[str, Any] = {"max_len": 8, **MARKS}
    one, same, other = (
        sample(model, src, generator=seeded(seed), **settings) for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_samples_of_a_sentence_and_of_a_batch_differ_from_each_other():
    model, row = decided_model(30), torch.tensor([[3, 4, 2]])
    (drawn,) = sample(model, row, max_len=8, n_samples=20, generator=seeded(), **MARKS)
    assert len({tuple(h.tokens) for h in drawn}) > 10
    batch = sample(model, row.expand(20, -1), max_len=8, generator=seeded(), **MARKS)
    assert [h.tokens for (h,) in batch] == [h.tokens for h in drawn]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0.0}, r"temperature \(0.0\) must be a number above 0; for 0 use greedy"),
        ({"temperature": -1.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"top_k": 0}, r"top_k \(0\) must be at least 1"),
        ({"top_p": 0.0}, r"top_p \(0.0\) must be above 0 and at most 1"),
        ({"top_p": 1.5}, r"top_p \(1.5\)"),
        ({"top_p": float("nan")}, "top_p"),
        ({"n_samples": 0}, r"n_samples \(0\) must be at least 1"),
        ({"max_len": 0}, r"max_len \(0\) must be between 1 and"),
        ({"eos_id": 30}, r"eos_id \(30\) must be a token"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        sample(decided_model(30), padded_sources(1, 30), **{**MARKS, "max_len": 5, **settings})


def test_the_model_is_left_as_it_was():
    model = decided_model(12).train()
    with record_attention(model) as weights:
        sample(model, padded_sources(2, 12), max_len=3, **MARKS)
    assert model.training
    assert weights == {}
