"""A watched search is the same search, and its tree holds all that it considered."""

import itertools
import math
from typing import Any

import pytest
import torch

from tests.helpers import BOS, EOS, MARKS, decided_model, log_probabilities, padded_sources
from transformer.decoding import SearchTree, beam_search
from transformer.decoding.beam import penalty
from transformer.decoding.tree import Step

N_SENTENCES, MAX_LEN = 6, 15


def searched(**settings: Any):
    """A search and its tree."""
    model, src, tree = decided_model(30), padded_sources(N_SENTENCES, 30), SearchTree()
    settings = {"beam_size": 3, "max_len": MAX_LEN, **MARKS, **settings}
    return model, src, beam_search(model, src, watch=tree, **settings), tree


@pytest.mark.parametrize("settings", [{}, {"beam_size": 1}, {"length_penalty": 0.0}, {"n_best": 3}])
def test_watching_changes_nothing(settings):
    model, src, found, _ = searched(**settings)
    unwatched = beam_search(model, src, **{"beam_size": 3, "max_len": MAX_LEN, **MARKS, **settings})
    assert found == unwatched


@pytest.mark.slow
@pytest.mark.parametrize("eos_id", [EOS, -1])
@pytest.mark.parametrize("beam_size", [1, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_the_best_finished_nodes_are_the_searchs_result(beam_size, alpha, eos_id):
    _, _, found, tree = searched(
        beam_size=beam_size, n_best=beam_size, length_penalty=alpha, eos_id=eos_id
    )
    cut = 0
    for i, hypotheses in enumerate(found):
        ends = tree.finished(i)[:beam_size]
        tokens = [[t for t in tree.tokens(i, end) if t != eos_id] for end in ends]
        assert tokens == [h.tokens for h in hypotheses]
        assert [tree.nodes[i][end].score for end in ends] == pytest.approx(
            [h.score for h in hypotheses], abs=1e-6
        )
        cut += tree.steps[i][-1].cut
    if eos_id < 0:
        assert cut == N_SENTENCES
    elif beam_size > 1:  # greedily, this model finds no end
        assert cut < N_SENTENCES


@pytest.mark.slow
def test_every_nodes_numbers_are_the_models():
    model, src, _, tree = searched()
    for i in range(N_SENTENCES):
        nodes = tree.nodes[i]
        for place, node in enumerate(nodes[1:], 1):
            tokens, parent = tree.tokens(i, place), nodes[node.parent]
            assert len(tokens) == node.length == parent.length + 1
            assert node.total == pytest.approx(parent.total + node.log_prob, abs=1e-5)
            assert node.score == pytest.approx(node.total / penalty(node.length, 0.6))
            if EOS not in tokens:
                (total,) = log_probabilities(model, src[i : i + 1], [tokens], ended=False)
                assert node.total == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_candidates_are_the_most_probable_of_all_extensions(beam_size):
    model, src, _, tree = searched(beam_size=beam_size)
    for i in range(N_SENTENCES):
        before = {(): 0.0}
        for step in tree.steps[i]:
            read = torch.tensor([[BOS, *tokens] for tokens in step.prefixes])
            with torch.no_grad():
                logits = model(src[i : i + 1].expand(len(read), -1), read)[:, -1]
            totals = logits.float().log_softmax(-1).tolist()
            every = sorted(
                (before[tokens] + value for tokens, row in zip(step.prefixes, totals, strict=True)
                 for value in row), reverse=True,
            )  # fmt: skip
            assert [c.total for c in step.candidates] == pytest.approx(
                every[: 2 * beam_size], abs=1e-4
            )
            living = [step.candidates[place] for place in step.living]
            before = {(*step.prefixes[c.parent], c.token): c.total for c in living}


def test_fates_follow_from_the_order_and_the_end_mark():
    seen = set()
    for beam_size in (1, 3):
        _, _, _, tree = searched(beam_size=beam_size, n_best=beam_size)
        for steps in tree.steps.values():
            assert [step.length for step in steps] == list(range(1, len(steps) + 1))
            assert [step.continues for step in steps] == [True] * (len(steps) - 1) + [False]
            for step in steps:
                others = [p for p, c in enumerate(step.candidates) if c.token != EOS]
                assert step.living == others[:beam_size]
                for place, c in enumerate(step.candidates):
                    fate = "lives" if place in step.living else "dropped"
                    if c.token == EOS and place < beam_size:
                        fate = "finished"
                    assert c.fate == fate
                    seen.add((c.fate, c.token == EOS))
            for step, following in itertools.pairwise(steps):
                living = [step.candidates[place] for place in step.living]
                assert following.prefixes == [(*step.prefixes[c.parent], c.token) for c in living]
    assert seen == {
        ("lives", False), ("dropped", False), ("finished", True), ("dropped", True)
    }  # fmt: skip


def test_what_has_no_probability_is_no_candidate():
    steps: list[Step] = []
    beam_search(
        decided_model(4),
        torch.tensor([[3, 2]]),
        beam_size=6,
        max_len=3,
        watch=steps.append,
        **MARKS,
    )
    assert len(steps[0].prefixes) == 1
    assert len(steps[0].candidates) == 4
    assert len(steps[0].living) == len(steps[1].prefixes) == 3
    assert all(c.total > -math.inf for step in steps for c in step.candidates)


def test_a_tree_of_another_search_is_not_continued():
    model, src, _, tree = searched()
    with pytest.raises(ValueError, match="step 1 of sentence 0 does not follow the . steps seen"):
        beam_search(model, src, max_len=5, watch=tree, **MARKS)
