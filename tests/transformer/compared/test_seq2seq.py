"""The recurrent encoder and decoder: what they read, what they cannot see, and what they write."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import (
    BOS,
    EOS,
    MARKS,
    PAD,
    VOCAB,
    assert_same_steps,
    same,
    seeds,
    sentence_lengths,
    sentences,
)
from transformer.compared.seq2seq import AdditiveAttention, Seq2Seq, Seq2SeqConfig
from transformer.data.copy_task import CopyTask
from transformer.decoding import beam_search, greedy_search, sample
from transformer.decoding.steps import RecomputedSteps, RecurrentSteps, start_decoding
from transformer.training import Trainer, TrainingConfig

both = pytest.mark.parametrize("attention", [False, True])


def small_seq2seq(seed: int = 0, **changes) -> Seq2Seq:
    torch.manual_seed(seed)
    sizes = {"src_vocab_size": VOCAB, "tgt_vocab_size": VOCAB, "d_model": 16, "max_len": 32}
    return Seq2Seq(Seq2SeqConfig(**{**sizes, "dropout": 0.0, **changes})).double().eval()


@both
@given(seeds, sentence_lengths, st.integers(0, 3))
@settings(max_examples=15)
@torch.no_grad()
def test_padding_changes_nothing(attention, seed, lengths, extra):
    model = small_seq2seq(seed, attention=attention)
    src, tgt = sentences(lengths, seed), sentences([4] * len(lengths), seed + 1)
    wider = torch.nn.functional.pad(src, (0, extra), value=PAD)
    logits = model(src, tgt)
    same(model(wider, tgt), logits)
    for row, length in enumerate(lengths):  # nor do the neighbours
        same(model(src[row : row + 1, :length], tgt[row : row + 1])[0], logits[row])


@both
@torch.no_grad()
def test_no_position_sees_what_it_is_asked_for(attention):
    model, src = small_seq2seq(attention=attention), sentences([5])
    tgt = torch.tensor([[BOS, 4, 5, 6]])
    changed = torch.tensor([[BOS, 4, 7, 8]])
    before, after = model(src, tgt), model(src, changed)
    same(after[:, :2], before[:, :2])
    assert (after[:, 2:] - before[:, 2:]).abs().amax(-1).min() > 1e-3


@both
@torch.no_grad()
def test_the_encoder_reads_in_both_directions(attention):
    model = small_seq2seq(attention=attention)
    memory = model.encode(torch.tensor([[4, 5, 6], [4, 5, 7], [8, 5, 6]]))
    half = model.config.d_model // 2
    same(memory[0, :2, :half], memory[1, :2, :half])  # from the left, the last word comes last
    same(memory[0, 1:, half:], memory[2, 1:, half:])
    assert not torch.allclose(memory[0, 0, half:], memory[1, 0, half:])
    assert not torch.allclose(memory[0, 2, :half], memory[2, 2, :half])


@torch.no_grad()
def test_without_attention_the_decoder_knows_one_vector_of_the_source():
    """Two sources with the same summary have the same logits, whatever their other states are."""
    model, src, tgt = small_seq2seq(attention=False), sentences([4]), sentences([3], seed=1)
    memory = model.encode(src)
    other = memory.clone()
    half = model.config.d_model // 2
    other[:, :-1, :half] = 0.0
    other[:, 1:, half:] = 0.0
    same(model.decode(tgt, other, src), model.decode(tgt, memory, src))
    looking = small_seq2seq(attention=True)
    memory = looking.encode(src)
    other = memory.clone()
    other[:, 1:-1] = 0.0
    assert not torch.allclose(looking.decode(tgt, other, src), looking.decode(tgt, memory, src))


@torch.no_grad()
def test_attention_is_bahdanaus_formula_word_by_word():
    torch.manual_seed(0)
    attention = AdditiveAttention(6).double()
    state, memory = torch.randn(6).double(), torch.randn(4, 6).double()
    w, u, v = attention.w_query.weight, attention.w_key.weight, attention.v.weight[0]
    scores = torch.stack([v @ torch.tanh(w @ state + u @ h) for h in memory[:3]])
    expected = scores.exp() / scores.exp().sum()
    mask = torch.tensor([[True, True, True, False]])
    keys = attention.w_key(memory[None])
    context, weights = attention(state[None], keys, memory[None], mask)
    same(weights, torch.cat([expected, torch.zeros(1).double()])[None])
    same(context, (expected @ memory[:3])[None])


@torch.no_grad()
def test_alignment_has_a_row_of_weights_for_each_word():
    model, src = small_seq2seq(), sentences([5, 3])
    weights = model.alignment(src, sentences([4, 4], seed=1))
    assert weights.shape == (2, 4, 5)
    same(weights.sum(-1), torch.ones(2, 4).double())
    assert (weights[1, :, 3:] == 0).all()  # padding
    with pytest.raises(ValueError, match="no attention; build it with attention=True"):
        small_seq2seq(attention=False).alignment(src, src)


@both
@given(seeds, sentence_lengths, st.integers(1, 3), st.data())
@settings(max_examples=15)
@torch.no_grad()
def test_going_on_from_the_state_is_reading_the_prefix_again(attention, seed, lengths, rows, data):
    """Whichever prefixes are continued."""
    model, src = small_seq2seq(seed, attention=attention), sentences(lengths, seed)
    ways = [way(model, src, rows) for way in (RecomputedSteps, RecurrentSteps)]
    assert_same_steps(ways, len(lengths), rows, seed, data, most_steps=6)


@both
def test_the_searches_are_the_transformers_own(attention):
    model, src = small_seq2seq(attention=attention), sentences([5, 3, 4])
    assert isinstance(start_decoding(model, src), RecurrentSteps)
    limits = {**MARKS, "max_len": 6}
    greedy = greedy_search(model, src, **limits)
    assert greedy == greedy_search(model, src, **limits, use_cache=False)
    narrow = beam_search(model, src, beam_size=1, length_penalty=0.0, **limits)
    assert [h[0].tokens for h in narrow] == [h[0].tokens for h in greedy]
    wide = beam_search(model, src, beam_size=VOCAB, length_penalty=0.0, **limits)
    assert all(w[0].score >= g[0].score - 1e-9 for w, g in zip(wide, greedy, strict=True))
    assert len(sample(model, src, **limits, n_samples=2)[0]) == 2
    assert not model.training


def test_every_weight_learns():
    model = small_seq2seq().train()
    model(sentences([5, 3]), sentences([4, 2], seed=1)).square().mean().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in model.parameters())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 15}, "must be even"),
        ({"d_model": 0}, "d_model .0. must be at least 1"),
        ({"tgt_vocab_size": 14}, "use a joint vocabulary"),
        ({"dropout": 1.0}, "dropout .1.0. must be at least 0 and below 1"),
        ({"pad_id": 13}, "pad_id .13. must be a token"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        small_seq2seq(**changes)


def test_settings_survive_json():
    config = small_seq2seq().config
    assert Seq2SeqConfig(**config.to_dict()) == config
    assert EOS != PAD


@pytest.mark.slow
@both
def test_the_same_trainer_teaches_it(attention, tmp_path):
    """Short sequences fit through one vector as well."""
    torch.manual_seed(0)
    task = CopyTask(n_symbols=5, min_length=1, max_length=3)
    sizes = {"src_vocab_size": task.vocab_size, "tgt_vocab_size": task.vocab_size}
    model = Seq2Seq(Seq2SeqConfig(**sizes, d_model=32, attention=attention, dropout=0.0))
    settings = TrainingConfig(steps=150, max_tokens=256, warmup=30, factor=0.5, clip=1.0)
    with pytest.raises(ValueError, match="a run folder is for a Transformer"):
        Trainer(model, task.pairs(1, seed=0), settings, run_dir=tmp_path)
    metrics = Trainer(
        model, task.pairs(2000, seed=0), settings, device="cpu", show_progress=False
    ).train()
    assert metrics[-1]["loss"] < 0.5 * metrics[0]["loss"]
    test = task.pairs(100, seed=1)
    src = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([*source, EOS]) for source, _ in test], batch_first=True
    )
    found = greedy_search(model, src, **MARKS, max_len=5)
    right = sum(h[0].tokens == target for h, (_, target) in zip(found, test, strict=True))
    assert right > 90
