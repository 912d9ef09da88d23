"""Batches: nothing lost, nothing doubled, the budget kept, little padding."""

import gzip
import random
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.tasks import TASKS
from transformer.training import Batch, make_batch, padding_share, token_batches

MARKS = {"bos_id": 1, "eos_id": 2, "pad_id": 0}
sentences = st.lists(st.integers(4, 99), max_size=12)
corpora = st.lists(st.tuples(sentences, sentences), max_size=60)
budgets = st.integers(13, 80)
maybe_seeds = st.none() | st.integers(0, 1000)
pools = st.integers(1, 5)


def numbered(n: int, seed: int = 0) -> list[tuple[list[int], list[int]]]:
    """Pairs of random lengths, 1 to 30 words."""
    rng = random.Random(seed)
    return [([5] * rng.randint(1, 30), [6] * rng.randint(1, 30)) for _ in range(n)]


@given(corpora, budgets, maybe_seeds, pools)
def test_each_pair_comes_exactly_once(pairs, max_tokens, seed, pool):
    batches = list(token_batches(pairs, max_tokens, seed=seed, pool=pool))
    assert Counter(i for batch in batches for i in batch) == Counter(range(len(pairs)))
    assert all(batches)


@given(corpora, budgets, maybe_seeds, pools)
def test_no_rectangle_exceeds_the_budget_on_either_side(pairs, max_tokens, seed, pool):
    for indices in token_batches(pairs, max_tokens, seed=seed, pool=pool):
        batch = make_batch((pairs[i] for i in indices), **MARKS)
        assert batch.src.numel() <= max_tokens
        assert batch.tgt_in.numel() <= max_tokens
        assert batch.tgt_out.numel() <= max_tokens


@given(corpora, budgets, maybe_seeds)
def test_the_same_seed_gives_the_same_batches(pairs, max_tokens, seed):
    first = list(token_batches(pairs, max_tokens, seed=seed))
    assert first == list(token_batches(pairs, max_tokens, seed=seed))


def test_batches_do_not_depend_on_anybody_elses_dice():
    pairs = numbered(300)
    random.seed(1)
    first = list(token_batches(pairs, 100, seed=7))
    random.seed(2)
    torch.manual_seed(2)
    assert first == list(token_batches(pairs, 100, seed=7))


def test_another_seed_gives_other_batches_in_another_order():
    pairs = numbered(300)
    first, second = (list(token_batches(pairs, 100, seed=seed, pool=4)) for seed in (0, 1))
    assert first != second
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in second}


def test_shuffled_batches_do_not_come_by_length():
    pairs = numbered(500)
    longest = [
        max(max(map(len, pairs[i])) for i in batch) for batch in token_batches(pairs, 100, seed=0)
    ]
    assert longest != sorted(longest)
    halves = longest[: len(longest) // 2], longest[len(longest) // 2 :]
    early, late = (sum(half) / len(half) for half in halves)
    assert abs(early - late) < 5  # lengths run from 1 to 30


def test_without_a_seed_batches_run_from_short_to_long():
    pairs = numbered(200)
    batches = list(token_batches(pairs, 100))
    longest = [max(max(map(len, pairs[i])) for i in batch) for batch in batches]
    assert longest == sorted(longest)


def test_batches_are_filled():
    pairs = numbered(2000)
    batches = list(token_batches(pairs, 600, seed=0))
    sizes = [len(batch) * (1 + max(max(map(len, pairs[i])) for i in batch)) for batch in batches]
    assert sum(sizes) / len(sizes) > 0.9 * 600


def multi30k_lengths(folder, side):
    with gzip.open(folder / "multi30k" / f"train.{side}.gz", "rt", encoding="utf-8") as file:
        return [[5] * len(line.split()) for line in file]


@pytest.mark.parametrize("seed", [None, 0])
def test_little_padding_on_real_sentence_lengths(real_data, seed):
    pairs = list(
        zip(multi30k_lengths(real_data, "de"), multi30k_lengths(real_data, "en"), strict=True)
    )
    batches = token_batches(pairs, 4096, seed=seed)
    made = [make_batch((pairs[i] for i in indices), **MARKS) for indices in batches]
    assert padding_share(made, 0) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["multi30k", "iwslt16"])
def test_less_than_5_per_cent_of_padding_in_the_batches_of_a_run(real_data, corpus):
    task = TASKS[corpus].build(real_data / corpus)
    batches = token_batches(task.pairs, task.training.max_tokens, seed=0)
    made = [make_batch((task.pairs[i] for i in indices), **MARKS) for indices in batches]
    assert padding_share(made, 0) < 0.05


@pytest.mark.slow
def test_sides_that_differ_are_sorted_by_both():
    rng = random.Random(0)
    pairs = [([5] * rng.randint(1, 30), [5] * rng.randint(1, 30)) for _ in range(20_000)]
    made = [
        make_batch((pairs[i] for i in indices), **MARKS)
        for indices in token_batches(pairs, 300, seed=0)
    ]
    by_one_side = [
        make_batch((pairs[i] for i in indices), **MARKS) for indices in token_batches(pairs, 300)
    ]
    assert padding_share(made, 0) < 0.5 * padding_share(by_one_side, 0)


def test_padding_share_by_hand():
    # Source 3 + 1 and 1 + 1 places in a rectangle of 2 x 4, target 1 + 1 and 2 + 1 in 2 x 3:
    # 3 of the 14 places are padding.
    batch = make_batch([([7, 8, 9], [7]), ([7], [8, 9])], **MARKS)
    assert padding_share([batch], 0) == pytest.approx(3 / 14)
    assert padding_share([], 0) == 0.0


def test_a_sentence_longer_than_the_budget_is_an_error():
    pairs = [([5], [5]), ([5] * 3, [5] * 40)]
    message = r"sentence pair 1 has 41 tokens, more than a batch may hold \(40\); raise max_tokens"
    for seed in (None, 0):
        with pytest.raises(ValueError, match=message):
            token_batches(pairs, 40, seed=seed)
        assert sum(map(len, token_batches(pairs, 41, seed=seed))) == 2


def test_marks_and_shift_of_a_batch_by_hand():
    batch = make_batch([([7, 8], [9, 10, 11]), ([7], [9])], **MARKS)
    assert batch.src.tolist() == [[7, 8, 2], [7, 2, 0]]
    assert batch.tgt_in.tolist() == [[1, 9, 10, 11], [1, 9, 0, 0]]
    assert batch.tgt_out.tolist() == [[9, 10, 11, 2], [9, 2, 0, 0]]
    assert batch.n_tokens == 6


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8))
def test_the_decoder_reads_the_token_before_the_one_it_is_asked_for(pairs):
    batch = make_batch(pairs, **MARKS)
    asked = batch.tgt_out != 0
    assert batch.n_tokens == asked.sum()
    assert torch.equal(batch.tgt_in[:, 1:][asked[:, 1:]], batch.tgt_out[:, :-1][asked[:, 1:]])
    assert (batch.tgt_in[:, 0] == 1).all()


def test_a_batch_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="a batch needs at least one sentence pair"):
        make_batch([], **MARKS)


def test_a_batch_moves_to_a_device_whole():
    batch = make_batch([([7, 8], [9])], **MARKS)
    moved = batch.to(torch.device("meta"))
    assert isinstance(moved, Batch)
    assert {t.device.type for t in (moved.src, moved.tgt_in, moved.tgt_out)} == {"meta"}
    assert moved.n_tokens == batch.n_tokens


@pytest.mark.parametrize(("device", "waits"), [("cpu", True), ("mps", True), ("cuda:1", False)])
def test_only_a_copy_to_cuda_is_not_waited_for(monkeypatch, device, waits):
    batch, copies = make_batch([([5, 6], [7])], **MARKS), []

    def to(tensor, device, *, non_blocking=False):
        copies.append((str(device), not non_blocking))
        return tensor

    monkeypatch.setattr(torch.Tensor, "to", to)
    batch.to(torch.device(device))
    assert copies == 3 * [(device, waits)]
