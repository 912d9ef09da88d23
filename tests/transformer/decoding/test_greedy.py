"""Greedy search: the most probable token at every step, with a cache and without."""

import itertools
import math
from dataclasses import FrozenInstanceError

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import (
    BOS,
    EOS,
    PAD,
    VOCAB,
    lively_model,
    same,
    seeds,
    sentence_lengths,
    sentences,
    shapes,
    small_model,
)
from transformer.decoding import Hypothesis, greedy_search
from transformer.introspect import attention_modules, record_attention

MAX_LEN = 7

extra_padding = st.integers(0, 3)


def search(model, src, **options):
    """The hypotheses of a batch, one each."""
    found = greedy_search(
        model, src, **{"bos_id": BOS, "eos_id": EOS, "max_len": MAX_LEN, **options}
    )
    assert all(len(hypotheses) == 1 for hypotheses in found)
    return [hypotheses[0] for hypotheses in found]


@torch.no_grad()
def written_out(model, words, max_len=MAX_LEN):
    """One sentence, the whole model at every step: (tokens, score, did it end?)."""
    tokens, score = [], 0.0
    for _ in range(max_len):
        logits = model(torch.tensor([words]), torch.tensor([[BOS, *tokens]]))
        log_p = logits[0, -1].log_softmax(-1)
        best = int(log_p.argmax())
        score += float(log_p[best])
        if best == EOS:
            return tokens, score, True
        tokens.append(best)
    return tokens, score, False


def assert_same_hypotheses(actual, expected):
    assert [h.tokens for h in actual] == [h.tokens for h in expected]
    assert [h.score for h in actual] == pytest.approx([h.score for h in expected], abs=1e-4)


def script(monkeypatch, model, rows):
    """Let the model say `rows`, whatever it is asked; returns the batch sizes of its steps."""
    active, sizes = list(range(len(rows))), []

    def logits(hidden):
        step = len(sizes)
        sizes.append(hidden.size(0))
        said = [rows[i][step] for i in active]
        active[:] = [i for i, token in zip(active, said, strict=True) if token != EOS]
        return 5.0 * torch.nn.functional.one_hot(torch.tensor(said), VOCAB)

    monkeypatch.setattr(model, "logits", logits)
    return sizes


# Equality ------------------------------------------------------------------------------------


@pytest.mark.slow
@given(seeds, shapes, sentence_lengths, extra_padding)
@settings(max_examples=50)
def test_cached_and_recomputed_search_find_the_same(seed, shape, lengths, extra):
    model, src = lively_model(seed, **shape), sentences(lengths, seed, extra)
    assert_same_hypotheses(search(model, src, use_cache=True), search(model, src, use_cache=False))


@pytest.mark.slow
@given(seeds, shapes, sentence_lengths, extra_padding, st.booleans())
@settings(max_examples=25)
def test_finds_what_a_loop_over_the_whole_model_finds_for_each_sentence_alone(
    seed, shape, lengths, extra, use_cache
):
    model, src = lively_model(seed, **shape), sentences(lengths, seed, extra)
    found = search(model, src, use_cache=use_cache)
    assert len(found) == len(lengths)
    for hypothesis, row, length in zip(found, src.tolist(), lengths, strict=True):
        tokens, score, _ = written_out(model, row[:length])
        assert hypothesis.tokens == tokens
        assert hypothesis.score == pytest.approx(score, abs=1e-4)


@pytest.mark.slow
def test_the_random_models_of_these_tests_put_the_search_to_work():
    # Sentences that end, at different lengths, and such that do not, with different tokens in
    # them: else the tests above would prove little.
    found = [written_out(lively_model(seed), [5, 6, 7]) for seed in range(40)]
    ended = [tokens for tokens, _, end in found if end]
    assert 5 < len(ended) < 35
    assert len({len(tokens) for tokens in ended}) > 2
    assert sum(len(set(tokens)) > 2 for tokens, _, _ in found) > 8


@pytest.mark.parametrize("use_cache", [True, False])
def test_a_sentence_alone_is_translated_as_in_a_batch(use_cache):
    model, lengths = lively_model(4), [6, 1, 3, 6, 2]
    src = sentences(lengths, extra=2)
    together = search(model, src, use_cache=use_cache)
    alone = [
        search(model, row[None, :length], use_cache=use_cache)[0]
        for row, length in zip(src, lengths, strict=True)
    ]
    assert_same_hypotheses(together, alone)


@pytest.mark.slow
@given(seeds, sentence_lengths)
@settings(max_examples=25)
def test_the_score_is_what_teacher_forcing_gives_the_tokens(seed, lengths):
    model, src = lively_model(seed), sentences(lengths, seed)
    for i, hypothesis in enumerate(search(model, src)):
        ended = len(hypothesis.tokens) < MAX_LEN
        asked = [*hypothesis.tokens, EOS] if ended else hypothesis.tokens
        with torch.no_grad():
            logits = model(src[i : i + 1], torch.tensor([[BOS, *asked[:-1]]]))
        log_p = logits[0].log_softmax(-1).gather(-1, torch.tensor(asked)[:, None])
        assert hypothesis.score == pytest.approx(float(log_p.sum()), abs=1e-4)


# Where it ends -------------------------------------------------------------------------------


@pytest.mark.parametrize("use_cache", [True, False])
def test_stops_at_the_end_mark_and_takes_ended_sentences_out(monkeypatch, use_cache):
    model = small_model()
    rows = [[7, 8, EOS], [EOS], [4, 5, 6, EOS], [9, EOS]]
    sizes = script(monkeypatch, model, rows)
    found = search(model, sentences([3, 3, 3, 3]), use_cache=use_cache)
    assert [h.tokens for h in found] == [[7, 8], [], [4, 5, 6], [9]]
    assert sizes == [4, 3, 2, 1]  # and no step after the last end
    # Each step's log-probability, the end mark's included.
    per_token = 5 - math.log(math.exp(5) + VOCAB - 1)
    assert [h.score for h in found] == pytest.approx(
        [3 * per_token, per_token, 4 * per_token, 2 * per_token]
    )


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("max_len", [1, 2, 32])
def test_gives_up_after_max_len_tokens(monkeypatch, use_cache, max_len):
    model = small_model()
    endless = itertools.repeat(7)
    rows = [list(itertools.islice(endless, 40)), [5, EOS]]
    sizes = script(monkeypatch, model, rows)
    found = search(model, sentences([3, 3]), use_cache=use_cache, max_len=max_len)
    assert found[0].tokens == [7] * max_len
    assert found[1].tokens == [5]
    assert len(sizes) == max_len


def test_tokens_are_plain_numbers_without_marks():
    for hypothesis in search(lively_model(1), sentences([4, 2, 5])):
        assert isinstance(hypothesis, Hypothesis)
        assert all(type(token) is int for token in hypothesis.tokens)
        assert type(hypothesis.score) is float
        assert EOS not in hypothesis.tokens
        assert len(hypothesis.tokens) <= MAX_LEN


# What it leaves behind -----------------------------------------------------------------------


@pytest.mark.parametrize("training", [True, False])
def test_searches_in_evaluation_mode_and_puts_the_mode_back(training):
    model, src = lively_model(2, dropout=0.5), sentences([4, 3])
    expected = search(model.eval(), src)
    model.train(training)
    assert_same_hypotheses(search(model, src), expected)
    assert all(module.training == training for module in model.modules())


def test_an_error_puts_the_mode_and_the_recording_back():
    model = small_model().train()
    with record_attention(model):
        listeners = [module.on_weights for module in attention_modules(model).values()]
        with pytest.raises(ValueError, match="source token id 13 is out of range"):
            search(model, torch.tensor([[5, VOCAB]]))
        assert [m.on_weights for m in attention_modules(model).values()] == listeners
        assert None not in listeners
    assert model.training


def test_builds_no_graph_of_gradients():
    model = small_model().train()
    seen = []
    model.output.register_forward_hook(lambda *call: seen.append(call[-1].requires_grad))
    search(model, sentences([3]))
    assert seen and not any(seen)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("use_cache", [True, False])
def test_recording_leaves_the_weights_of_all_steps_of_all_sentences(use_cache):
    model, lengths = lively_model(36), [5, 2, 4]
    src = sentences(lengths)
    plain = search(model, src, use_cache=use_cache)
    assert [len(h.tokens) for h in plain] == [0, 4, MAX_LEN]  # at once, on the way, never
    with record_attention(model) as attention:
        assert_same_hypotheses(search(model, src, use_cache=use_cache), plain)

    steps = [min(len(h.tokens) + 1, MAX_LEN) for h in plain]  # bos and what was read after it
    longest = max(steps)
    for i in range(2):
        assert attention[f"encoder.{i}.self"].shape == (3, 2, 5, 5)
        assert attention[f"decoder.{i}.self"].shape == (3, 2, longest, longest)
        assert attention[f"decoder.{i}.cross"].shape == (3, 2, longest, 5)

    for row, (hypothesis, n, length) in enumerate(zip(plain, steps, lengths, strict=True)):
        prefix = torch.tensor([[BOS, *hypothesis.tokens][:n]])
        with record_attention(model) as alone:
            model(src[row : row + 1, :length], prefix)
        for name, weights in alone.items():
            queries, keys = weights.shape[2:]
            same(attention[name][row, :, :queries, :keys], weights[0], 1e-6)
            ones = torch.ones(2, queries, dtype=weights.dtype)
            same(attention[name][row, :, :queries].sum(-1), ones, 1e-6)


def test_the_search_itself_runs_on_the_fast_path_while_somebody_records():
    model, src = lively_model(3), sentences([3])
    calls = []
    with record_attention(model):
        module = model.decoder.layers[0].self_attention
        keep = module.on_weights
        module.on_weights = lambda weights: (calls.append(weights.shape), keep(weights))
        found = search(model, src)
    assert len(found[0].tokens) > 1
    assert len(calls) == 1  # the pass over the result


# Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("max_len", [0, -3, 33])
def test_a_length_that_does_not_fit_the_model_is_an_error(max_len):
    message = rf"max_len \({max_len}\) must be between 1 and the model's max_len \(32\)"
    with pytest.raises(ValueError, match=message):
        search(small_model(), sentences([3]), max_len=max_len)


def test_without_an_end_mark_every_hypothesis_is_as_long_as_allowed():
    found = search(small_model(), sentences([3, 5]), eos_id=-1)
    assert [len(hypothesis.tokens) for hypothesis in found] == [MAX_LEN, MAX_LEN]


@pytest.mark.parametrize(
    ("name", "token"), [("bos_id", -1), ("bos_id", VOCAB), ("eos_id", -2), ("eos_id", VOCAB)]
)
def test_marks_outside_the_vocabulary_are_errors(name, token):
    with pytest.raises(ValueError, match=rf"{name} \({token}\) must be a token of the target"):
        search(small_model(), sentences([3]), **{name: token})


@pytest.mark.parametrize("shape", [(0, 4), (2, 0)])
def test_an_empty_source_is_an_error(shape):
    with pytest.raises(ValueError, match="the source is empty"):
        search(small_model(), torch.zeros(shape, dtype=torch.long))


def test_a_source_longer_than_the_model_takes_is_an_error():
    with pytest.raises(ValueError, match=r"the source has 33 tokens, more than max_len \(32\)"):
        search(small_model(), sentences([33]))


def test_a_sentence_of_nothing_but_padding_gets_some_answer():
    found = search(small_model(), torch.tensor([[5, 6], [PAD, PAD]]))
    assert all(math.isfinite(h.score) for h in found)


def test_a_hypothesis_stays_as_it_was_found():
    found = Hypothesis([5, 6], -0.5)
    with pytest.raises(FrozenInstanceError):
        found.score = 0.0
