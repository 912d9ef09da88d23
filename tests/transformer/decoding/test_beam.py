"""Beam search: exhaustive where the beam is wide, greedy where it is 1, blind to neighbours."""

import itertools

import pytest
import torch

from tests.helpers import BOS, EOS, MARKS, decided_model, log_probabilities, padded_sources
from transformer.decoding import beam_search, greedy_search
from transformer.decoding.beam import penalty
from transformer.decoding.generate import Hypothesis
from transformer.introspect import record_attention


def exhaustive(model, src, max_len, alpha):
    """All hypotheses that there are, best first."""
    others = [token for token in range(model.config.tgt_vocab_size) if token != EOS]
    found = []
    for n in range(max_len + 1):
        outputs, ended = list(itertools.product(others, repeat=n)), n < max_len
        totals = log_probabilities(model, src, outputs, ended)
        for tokens, total in zip(outputs, totals, strict=True):
            found.append(Hypothesis(list(tokens), total / penalty(n + ended, alpha)))
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_wide_beam_finds_what_an_exhaustive_search_finds(alpha, seed):
    model = decided_model(5, seed)
    src = torch.tensor([[3, 4, 2], [4, 2, 0]])
    found = beam_search(
        model, src, beam_size=150, length_penalty=alpha, max_len=3, n_best=10, **MARKS
    )
    for i, row in enumerate(([3, 4, 2], [4, 2])):
        expected = exhaustive(model, torch.tensor([row]), 3, alpha)[:10]
        assert [h.tokens for h in found[i]] == [h.tokens for h in expected]
        assert [h.score for h in found[i]] == pytest.approx([h.score for h in expected], abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy_search(seed):
    model, src = decided_model(30, seed), padded_sources(8, 30)
    beams = beam_search(model, src, beam_size=1, length_penalty=0.0, max_len=15, **MARKS)
    greedy = greedy_search(model, src, max_len=15, **MARKS)
    for (one,), (other,) in zip(beams, greedy, strict=True):
        assert one.tokens == other.tokens
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_scores_are_those_of_the_model_and_best_first():
    model, src = decided_model(30), padded_sources(6, 30)
    n_ended = 0
    for i, hypotheses in enumerate(beam_search(model, src, max_len=12, n_best=4, **MARKS)):
        assert 1 <= len(hypotheses) <= 4
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(h.tokens) for h in hypotheses}) == len(hypotheses)
        for h in hypotheses:
            assert EOS not in h.tokens
            ended = len(h.tokens) < 12
            n_ended += ended
            (total,) = log_probabilities(model, src[i : i + 1], [h.tokens], ended)
            assert h.score == pytest.approx(total / penalty(len(h.tokens) + ended, 0.6), abs=1e-4)
    assert n_ended


def test_neighbours_and_padding_change_nothing():
    model, src = decided_model(30), padded_sources(7, 30)
    together = beam_search(model, src, max_len=14, n_best=2, **MARKS)
    assert len({len(h[0].tokens) for h in together}) > 1  # they leave the batch one by one
    for i, row in enumerate(src):
        (alone,) = beam_search(model, row[row != 0][None], max_len=14, n_best=2, **MARKS)
        assert [h.tokens for h in alone] == [h.tokens for h in together[i]]


def test_a_wider_beam_finds_more_probable_outputs_on_the_whole():
    model, src = decided_model(30), padded_sources(24, 30)
    settings = {"length_penalty": 0.0, "max_len": 12, **MARKS}
    means = [
        sum(h[0].score for h in beam_search(model, src, beam_size=size, **settings)) / len(src)
        for size in (1, 4, 16)
    ]
    assert means[0] < means[1] < means[2]


def test_the_penalty_favours_longer_outputs():
    model, src = decided_model(30), padded_sources(24, 30)
    lengths = []
    for alpha in (0.0, 0.6, 2.0):
        found = beam_search(model, src, length_penalty=alpha, max_len=12, **MARKS)
        lengths.append(sum(len(hypotheses[0].tokens) for hypotheses in found))
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[2]


def test_without_an_end_mark_every_hypothesis_has_full_length():
    found = beam_search(
        decided_model(12), padded_sources(3, 12), bos_id=BOS, eos_id=-1, max_len=6, n_best=4
    )
    assert [len(h.tokens) for hypotheses in found for h in hypotheses] == [6] * 12


def test_the_penalty_is_equation_14():
    assert penalty(1, 0.6) == 1.0
    assert penalty(7, 1.0) == 2.0
    assert penalty(19, 0.5) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": 0}, r"beam_size \(0\) must be at least 1"),
        ({"n_best": 5}, r"n_best \(5\) must be between 1 and beam_size \(4\)"),
        ({"n_best": 0}, r"n_best \(0\) must be"),
        ({"length_penalty": -0.1}, r"length_penalty \(-0.1\) must be a number from 0 up"),
        ({"length_penalty": float("nan")}, "length_penalty"),
        ({"max_len": 0}, r"max_len \(0\) must be between 1 and"),
        ({"eos_id": 30}, r"eos_id \(30\) must be a token"),
    ],
)
def test_bad_settings_are_named(settings, message):
    model = decided_model(30)
    with pytest.raises(ValueError, match=message):
        beam_search(model, padded_sources(1, 30), **{**MARKS, "max_len": 5, **settings})


def test_the_model_is_left_as_it_was():
    model = decided_model(12).train()
    with record_attention(model) as weights:
        beam_search(model, padded_sources(2, 12), max_len=3, **MARKS)
    assert model.training
    assert weights == {}
