"""What a run reads: the same batches in the same order as ever, made ahead and from arrays."""

import math
import random
import threading
from dataclasses import astuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import VOCAB, small_model
from tests.transformer.training.trainers import random_pairs, small_config, small_trainer
from transformer.text.batching import TokenPairs, make_batch, token_batches
from transformer.training import Trainer
from transformer.training.distributed import Workers
from transformer.training.loader import BatchLoader, one_ahead

MARKS = {"bos_id": 1, "eos_id": 2, "pad_id": 0}
CPU, CUDA = torch.device("cpu"), torch.device("cuda")
sentences = st.lists(st.integers(4, 99), max_size=12)
corpora = st.lists(st.tuples(sentences, sentences), max_size=80)


def loader(pairs=None, device=CPU, compiled=False, **settings) -> BatchLoader:
    config = small_config(**settings)
    pairs = random_pairs() if pairs is None else pairs
    return BatchLoader(pairs, config, MARKS, Workers(), device, compiled=compiled)


# The order, in plain Python: runs that were begun with it are continued ------------------------


def plain_batches(pairs, max_tokens, seed, pool):
    """Shuffle, sort within pools, fill, choose the order that pads less, shuffle the batches."""
    sides = [(len(source) + 1, len(target) + 1) for source, target in pairs]
    order, rng = list(range(len(pairs))), random.Random(seed)
    if seed is None:
        yield from plain_fill(by_longer(order, sides), sides, max_tokens)
        return
    rng.shuffle(order)
    average = max(1, sum(map(max, sides)) // max(1, len(sides)))
    step = max(1, pool * max_tokens // average)
    for start in range(0, len(order), step):
        chunk = order[start : start + step]
        filled = [
            plain_fill(by_longer(chunk, sides), sides, max_tokens),
            plain_fill(in_strips(chunk, sides, max_tokens), sides, max_tokens),
        ]
        batches = min(
            filled,
            key=lambda batches: sum(
                len(b) * (max(sides[i][0] for i in b) + max(sides[i][1] for i in b))
                for b in batches
            ),
        )
        rng.shuffle(batches)
        yield from batches


def by_longer(indices, sides):
    return sorted(indices, key=lambda i: (max(sides[i]), sides[i][0]))


def in_strips(indices, sides, max_tokens):
    n_strips = max(1, round(math.sqrt(sum(max(sides[i]) for i in indices) / max_tokens)))
    n_tokens, before = sum(sides[i][1] for i in indices), 0
    strips = [[] for _ in range(n_strips)]
    for i in sorted(indices, key=lambda i: (sides[i][1], sides[i][0])):
        strips[before * n_strips // n_tokens].append(i)
        before += sides[i][1]
    return [
        i
        for number, strip in enumerate(strips)
        for i in sorted(strip, key=lambda i: sides[i], reverse=number % 2 == 1)
    ]


def plain_fill(order, sides, max_tokens):
    batches, longest = [], 0
    for i in order:
        grown = max(longest, *sides[i])
        if batches and (len(batches[-1]) + 1) * grown <= max_tokens:
            batches[-1].append(i)
            longest = grown
        else:
            batches.append([i])
            longest = max(sides[i])
    return batches


@given(corpora, st.integers(13, 80), st.none() | st.integers(0, 1000), st.integers(1, 5))
def test_batches_and_their_order_are_those_of_the_plain_sort(pairs, max_tokens, seed, pool):
    expected = list(plain_batches(pairs, max_tokens, seed, pool))
    assert list(token_batches(pairs, max_tokens, seed=seed, pool=pool)) == expected
    arrays = TokenPairs(pairs)
    assert list(token_batches(arrays, max_tokens, seed=seed, pool=pool)) == expected


@pytest.mark.parametrize("seed", [0, 1])
def test_so_they_are_in_several_pools_of_a_larger_corpus(seed):
    rng = random.Random(seed)
    lengths = [min(60, 1 + round(rng.lognormvariate(2.5, 0.7))) for _ in range(6000)]
    pairs = [([5] * n, [5] * max(1, round(n * rng.uniform(0.7, 1.4)))) for n in lengths]
    for pool in (3, 1000):
        expected = list(plain_batches(pairs, 500, seed, pool))
        assert list(token_batches(pairs, 500, seed=seed, pool=pool)) == expected


# Padding -------------------------------------------------------------------------------------


def plain_batch(pairs):
    src = [[*source, 2] for source, _ in pairs]
    tgt_in = [[1, *target] for _, target in pairs]
    tgt_out = [[*target, 2] for _, target in pairs]
    return tuple(
        torch.tensor([[*row, *[0] * (max(map(len, rows)) - len(row))] for row in rows])
        for rows in (src, tgt_in, tgt_out)
    )


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=9))
def test_a_batch_holds_what_the_rows_hold(pairs):
    for given_pairs in (pairs, list(TokenPairs(pairs))):
        batch = make_batch(given_pairs, **MARKS)
        found = astuple(batch)[:3]
        for tensor, expected in zip(found, plain_batch(pairs), strict=True):
            assert tensor.dtype == torch.int64
            assert torch.equal(tensor, expected)
        assert batch.n_tokens == sum(len(target) + 1 for _, target in pairs)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=9))
def test_lengths_that_8_divides_hold_nothing_but_more_padding(pairs):
    narrow, wide = make_batch(pairs, **MARKS), make_batch(pairs, **MARKS, multiple=8)
    for name in ("src", "tgt_in", "tgt_out"):
        short, long = getattr(narrow, name), getattr(wide, name)
        assert long.size(1) % 8 == 0
        assert long.size(1) - short.size(1) < 8
        assert torch.equal(long[:, : short.size(1)], short)
        assert not long[:, short.size(1) :].any()
    assert wide.n_tokens == narrow.n_tokens


def test_only_a_model_compiled_for_cuda_reads_such_lengths(monkeypatch):
    monkeypatch.setattr(Tensor, "pin_memory", lambda self: self)
    for device, compiled, multiple in (
        (CUDA, True, 8),
        (CUDA, False, 1),
        (CPU, True, 1),
        (CPU, False, 1),
    ):
        (batch,) = next(iter(loader(device=device, compiled=compiled)))
        assert batch.src.size(1) % multiple == 0
        assert loader(device=device, compiled=compiled).multiple == multiple


def test_a_token_takes_four_bytes_and_comes_back_as_it_was():
    pairs = random_pairs(40)
    arrays = TokenPairs(pairs)
    assert [(list(source), list(target)) for source, target in arrays] == pairs
    assert [list(source) for source, _ in arrays[3:9]] == [source for source, _ in pairs[3:9]]
    assert len(arrays) == 40
    assert arrays.src.tokens.dtype == np.int32
    assert arrays.src.tokens.nbytes == 4 * sum(len(source) for source, _ in pairs)


def test_pairs_are_read_one_after_the_other_and_tables_are_not_copied():
    alive, most = 0, 0

    class Sentence(list):
        def __init__(self, tokens):
            nonlocal alive, most
            super().__init__(tokens)
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    pairs = random_pairs(40)
    arrays = TokenPairs((Sentence(source), Sentence(target)) for source, target in pairs)
    assert [(list(source), list(target)) for source, target in arrays] == pairs
    assert most <= 4  # a pair, and the one before it
    assert TokenPairs.of(arrays) is arrays
    assert loader(pairs=arrays).pairs is arrays


def test_for_a_cuda_gpu_batches_lie_in_pinned_memory(monkeypatch):
    pinned = []
    monkeypatch.setattr(Tensor, "pin_memory", lambda self: (pinned.append(self), self)[1])
    next(iter(loader(device=CPU)))
    assert pinned == []
    (batch,) = next(iter(loader(device=CUDA)))
    assert all(any(t is p for p in pinned) for t in (batch.src, batch.tgt_in, batch.tgt_out))


# One step ahead ------------------------------------------------------------------------------


def test_the_next_step_is_made_by_another_thread_while_this_one_is_used():
    made, asked = [], threading.Event()

    def items():
        for i in range(10**9):
            made.append((i, threading.current_thread()))
            if i == 1:
                asked.set()
            yield i

    ahead = one_ahead(items())
    assert next(ahead) == 0
    assert asked.wait(10)  # nobody has asked for the second one
    assert [next(ahead), next(ahead)] == [1, 2]
    thread = made[0][1]
    assert thread is not threading.current_thread()
    assert {maker for _, maker in made} == {thread}
    ahead.close()
    assert not thread.is_alive()
    assert len(made) <= 4


def test_only_what_was_taken_is_counted_so_that_a_checkpoint_misses_nothing():
    reader = loader(accumulate=2)
    steps = iter(reader)
    assert (reader.batches_seen, reader.pairs_seen) == (0, 0)
    batches = next(steps)
    assert reader.batches_seen == 2
    assert reader.pairs_seen == sum(len(batch.src) for batch in batches)
    taken = [next(steps) for _ in range(4)]
    state = reader.state_dict()
    steps.close()

    again = loader(accumulate=2)
    again.load_state_dict(state)
    one, other = next(iter(again)), loader(accumulate=2)
    reference = iter(other)
    for _ in range(5):
        last = next(reference)
    expected = next(reference)
    assert all(torch.equal(a.src, b.src) for a, b in zip(taken[-1], last, strict=True))
    assert all(torch.equal(a.src, b.src) for a, b in zip(one, expected, strict=True))


def test_a_pair_that_is_too_long_is_found_before_the_first_step():
    message = (
        r"sentence pair 1 has 61 tokens, more than the model takes \(32\) and more than a batch"
    )
    with pytest.raises(ValueError, match=message):
        small_trainer(pairs=[([5], [5]), ([5] * 60, [5])])
    small_trainer(pairs=[([5], [5]), ([5] * 31, [5] * 31)], steps=1).train()


def test_compiled_batches_are_not_padded_beyond_what_the_model_takes():
    batches = loader(pairs=[([5] * 29, [5])], device=CUDA, compiled=True)
    assert batches.multiple == 8
    batches.require_lengths(32)
    assert batches.multiple == 8
    batches.require_lengths(31)
    assert batches.multiple == 1


def test_what_goes_wrong_in_the_thread_is_said_by_the_run_and_the_thread_ends(monkeypatch):
    before = threading.active_count()
    trainer = small_trainer()
    monkeypatch.setattr(trainer.loader, "_local_batch", lambda indices: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        trainer.train()
    small_trainer(steps=2).train()
    assert threading.active_count() == before


# Token ids -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        (([5, VOCAB], [5]), f"source token id {VOCAB} of sentence pair 2 is out of range: the "),
        (([5], [-1]), "target token id -1 of sentence pair 2 is out of range: the target vocab"),
    ],
)
def test_an_id_that_is_no_token_is_found_before_it_reaches_the_device(pair, sentence):
    pairs = [([5], [5]), ([], []), pair, ([5], [5])]
    moved = []
    model = small_model(dtype=torch.float32)
    model.to = lambda device: moved.append(device)
    with pytest.raises(ValueError, match=f"^{sentence}.*{VOCAB} tokens, 0 to {VOCAB - 1}$"):
        Trainer(model, pairs, small_config(), device="cpu", show_progress=False)
    assert moved == []


def test_marks_and_ids_that_fit_nowhere_are_refused_too():
    model = small_model(dtype=torch.float32)
    with pytest.raises(ValueError, match="target token id 50 of a mark is out of range"):
        Trainer(model, random_pairs(), small_config(), bos_id=50, device="cpu")
    with pytest.raises(ValueError, match="a token id is no number of 32 bits"):
        Trainer(model, [([2**40], [5])], small_config(), device="cpu")
