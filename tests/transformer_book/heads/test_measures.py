"""Measures of heads: planted patterns are found, extremes have the values that they must."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import PAD, same, seeds, sentences, small_model
from transformer.decoding import greedy_search
from transformer.introspect import attention_modules, mass_on, record_attention
from transformer.training import label_smoothing_loss

from transformer_book.heads.measures import (
    alignment_error_rate,
    argmax_links,
    cut_padding,
    diagonal_links,
    entropy,
    evenness,
    head_distances,
    log_probabilities,
    loss_without_each_head,
    merge_words,
    share_at,
    uniform_weights,
    weight_on,
    without_heads,
    word_groups,
)

few = settings(max_examples=25)
sizes = st.integers(1, 7)


def random_weights(seed: int, heads: int, queries: int, keys: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores = 3 * torch.randn(heads, queries, keys, generator=generator, dtype=torch.float64)
    return scores.softmax(-1)


# Where a head looks


def test_identity_attention_is_all_on_the_same_position() -> None:
    weights = torch.eye(5)[None]
    assert [share_at(weights, offset).item() for offset in (-1, 0, 1)] == [0, 1, 0]


def test_a_previous_token_head_is_found_and_its_first_query_does_not_count() -> None:
    previous = torch.cat([torch.eye(5)[:1], torch.eye(5)[:-1]])[None]
    assert share_at(previous, -1).item() == 1
    assert share_at(previous, 0).item() == pytest.approx(1 / 5)


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
def test_share_at_an_offset_is_the_mass_on_its_links(offset: int) -> None:
    weights = random_weights(0, 3, 4, 6)
    links = [(q, q + offset) for q in range(4) if 0 <= q + offset < 6]
    same(share_at(weights, offset), mass_on(weights, links))


def test_no_query_has_a_key_far_outside() -> None:
    assert share_at(random_weights(0, 2, 3, 3), 7).tolist() == [0, 0]


@given(queries=sizes, keys=sizes, causal=st.booleans())
def test_uniform_attention_has_the_largest_entropy(queries: int, keys: int, causal: bool) -> None:
    keys = max(queries, keys, 2)
    queries = max(queries, 2)
    uniform = uniform_weights(queries, keys, causal=causal)
    same(uniform.sum(-1), torch.ones(1, queries), 1e-6)
    assert evenness(uniform, causal=causal).item() == pytest.approx(1, abs=1e-6)
    if not causal:
        assert entropy(uniform).item() == pytest.approx(math.log(keys), abs=1e-6)


@few
@given(seed=seeds, queries=sizes, keys=st.integers(2, 7))
def test_entropy_and_evenness_stay_inside_their_ranges(seed: int, queries: int, keys: int) -> None:
    weights = random_weights(seed, 2, queries, keys)
    assert (entropy(weights) > 0).all() and (entropy(weights) < math.log(keys)).all()
    same(evenness(weights), entropy(weights) / math.log(keys))


def test_one_key_has_no_entropy_and_a_causal_first_query_no_say() -> None:
    assert entropy(torch.eye(4)[None]).item() == 0
    weights = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    assert evenness(weights, causal=True).item() == 1
    assert evenness(weights).item() == 0.5


def test_a_head_that_rests_on_the_end_mark_is_found() -> None:
    weights = torch.zeros(2, 3, 4)
    weights[0, :, 3] = 1
    weights[1] = 0.25
    assert weight_on(weights, [3]).tolist() == [1, 0.25]
    assert weight_on(weights, [2, 3, 3]).tolist() == [1, 0.5]
    assert weight_on(weights, []).tolist() == [0, 0]


@few
@given(seed=seeds)
def test_head_distances_are_the_roots_of_divergences_from_the_mean(seed: int) -> None:
    def kl(p: Tensor, q: Tensor) -> float:
        return torch.nn.functional.kl_div(q.log(), p, reduction="sum").item() / math.log(2)

    weights = random_weights(seed, 3, 4, 5)
    found = head_distances(weights)
    for a in range(3):
        for b in range(3):
            rows = zip(weights[a], weights[b], strict=True)
            halves = [(kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2 for p, q in rows]
            expected = sum(max(half, 0) ** 0.5 for half in halves) / 4
            assert found[a, b].item() == pytest.approx(expected, abs=1e-6)


def test_heads_with_nothing_in_common_are_1_apart() -> None:
    weights = torch.stack([torch.eye(4), torch.eye(4).flip(0), torch.eye(4)])
    same(head_distances(weights), torch.tensor([[0, 1, 0], [1, 0, 1], [0, 1, 0]]).float(), 1e-6)


# Padding and pieces


def test_cutting_a_batch_leaves_what_a_sentence_has_by_itself() -> None:
    model = small_model()
    src, tgt = sentences([5, 2], extra=1), sentences([3, 4])
    with record_attention(model) as attention:
        model(src, tgt)
    whole = {name: weights.clone() for name, weights in attention.items()}
    with record_attention(model) as attention:
        model(src[1:, :2], tgt[1:, :4])
    for name, weights in attention.items():
        queries = [5, 2] if name.startswith("encoder") else [3, 4]
        keys = [3, 4] if name.startswith("decoder") and "self" in name else [5, 2]
        same(cut_padding(whole[name], queries, keys)[1], weights[0], 1e-9)
        for sentence in cut_padding(whole[name], queries, keys):
            same(sentence.sum(-1), torch.ones_like(sentence[..., 0]))


def test_pieces_are_grouped_into_their_words() -> None:
    pieces = ["▁Ein", "▁Stra", "ßen", "mus", "iker", ",", "▁", "der", ".", "</s>"]
    words = ["Ein", "Straßenmusiker", ",", "der", ".", "</s>"]
    assert word_groups(pieces, words) == [[0], [1, 2, 3, 4], [5], [6, 7], [8], [9]]


@pytest.mark.parametrize(
    ("pieces", "words", "complaint"),
    [
        (["▁ab", "c"], ["ab", "d"], "spell 'c' where the word 'd'"),
        (["▁abc"], ["ab", "c"], "spell 'abc' where the word 'ab'"),
        (["▁ab"], ["ab", "c"], "spell '' where the word 'c'"),
        (["▁ab", "▁c"], ["ab"], "'▁c' belongs to no word"),
    ],
)
def test_pieces_that_do_not_spell_the_words_are_refused(
    pieces: list[str], words: list[str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        word_groups(pieces, words)


@few
@given(seed=seeds, data=st.data())
def test_merging_words_keeps_rows_that_sum_to_1(seed: int, data: st.DataObject) -> None:
    def groups(n: int) -> list[list[int]]:
        starts = sorted({0, *data.draw(st.sets(st.integers(0, n - 1)))})
        ends = [*starts[1:], n]
        return [list(range(a, b)) for a, b in zip(starts, ends, strict=True)]

    weights = random_weights(seed, 2, 5, 6)
    queries, keys = groups(5), groups(6)
    merged = merge_words(weights, queries, keys)
    assert merged.shape == (2, len(queries), len(keys))
    same(merged.sum(-1), torch.ones(2, len(queries), dtype=torch.float64))
    a, b = queries[-1], keys[-1]
    same(merged[:, -1, -1], weights[:, a][:, :, b].sum(-1).mean(-1))


# Alignments


def test_the_error_rate_is_that_of_an_example_by_hand() -> None:
    # Found 4: two sure, one possible, one wrong; three are sure.
    found, sure, possible = {(0, 0), (1, 1), (2, 1), (3, 3)}, {(0, 0), (1, 1), (2, 2)}, {(2, 1)}
    assert alignment_error_rate([found], [sure], [possible]) == pytest.approx(1 - (2 + 3) / (4 + 3))


def test_counts_are_summed_over_sentences_before_dividing() -> None:
    right, wrong = {(0, 0), (1, 1), (2, 2)}, {(0, 1)}
    value = alignment_error_rate([right, wrong], [right, {(0, 0)}], [set(), set()])
    assert value == pytest.approx(1 - 6 / 8)


def test_the_gold_itself_has_no_error_and_what_is_all_wrong_has_nothing_else() -> None:
    sure, possible = {(0, 0), (1, 2)}, {(2, 2)}
    assert alignment_error_rate([sure], [sure], [possible]) == 0
    assert alignment_error_rate([sure | possible], [sure], [possible]) == 0
    assert alignment_error_rate([{(5, 5)}], [sure], [possible]) == 1
    assert alignment_error_rate([set()], [sure], [possible]) == 1
    with pytest.raises(ValueError, match="no links to compare"):
        alignment_error_rate([set()], [set()], [possible])


@few
@given(seed=seeds)
def test_a_planted_alignment_head_is_found_among_others(seed: int) -> None:
    gold = {(0, 3), (1, 0), (2, 0), (3, 1), (4, 2)}
    weights = random_weights(seed, 4, 5, 5)
    for query, key in gold:
        weights[2, query] = 0.1
        weights[2, query, key] = 0.6
    errors = [alignment_error_rate([argmax_links(head)], [gold], [gold]) for head in weights]
    assert errors[2] == 0 and min(errors[:2] + errors[3:]) > 0
    assert mass_on(weights, gold)[2].item() == pytest.approx(0.6)


def test_a_query_that_looks_nowhere_has_no_link() -> None:
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.2, 0.1, 0.7]])
    assert argmax_links(weights) == {(0, 0), (1, 2)}
    assert argmax_links(weights, nowhere=[2]) == {(0, 0)}


@given(queries=sizes, keys=sizes)
def test_the_diagonal_runs_from_corner_to_corner(queries: int, keys: int) -> None:
    links = sorted(diagonal_links(queries, keys))
    assert [query for query, _ in links] == list(range(queries))
    found = [key for _, key in links]
    assert found == sorted(found) and found[0] == 0
    assert queries == 1 or found[-1] == keys - 1
    if queries == keys:
        assert found == list(range(keys))


def test_the_diagonal_between_two_keys_takes_the_nearer_one() -> None:
    assert diagonal_links(4, 6) == {(0, 0), (1, 2), (2, 3), (3, 5)}
    assert diagonal_links(3, 6) == {(0, 0), (1, 3), (2, 5)}  # a tie goes to the later one


# What a head is worth


def zeroed(model: torch.nn.Module, name: str, head: int) -> None:
    """The same by hand: the columns of W^O that read this head are 0."""
    attention = attention_modules(model)[name]
    with torch.no_grad():
        attention.w_output.weight[:, head * attention.d_v : (head + 1) * attention.d_v] = 0


@pytest.mark.parametrize("name", ["encoder.1.self", "decoder.0.self", "decoder.1.cross"])
@pytest.mark.parametrize("head", [0, 1])
@pytest.mark.parametrize("recording", [False, True])
def test_silencing_a_head_equals_zeroing_its_columns(name: str, head: int, recording: bool) -> None:
    model, cut = small_model(d_v=5), small_model(d_v=5)
    zeroed(cut, name, head)
    src, tgt = sentences([4, 2]), sentences([3, 5])
    before = model(src, tgt)
    with without_heads(model, {name: [head]}):
        if recording:
            with record_attention(model) as attention:
                inside = model(src, tgt)
            assert attention[name][:, head].sum() > 0  # it looks, but is not heard
        else:
            inside = model(src, tgt)
    same(inside, cut(src, tgt))
    assert not torch.allclose(inside, before)
    assert torch.equal(model(src, tgt), before)


def test_several_heads_are_silent_at_once_and_blocks_may_be_nested() -> None:
    model, cut = small_model(), small_model()
    src, tgt = sentences([4]), sentences([3])
    zeroed(cut, "encoder.0.self", 0)
    zeroed(cut, "encoder.0.self", 1)
    zeroed(cut, "decoder.1.cross", 1)
    expected = cut(src, tgt)
    with without_heads(model, {"encoder.0.self": [0, 1], "decoder.1.cross": [1, 1]}):
        same(model(src, tgt), expected)
    others = {"encoder.0.self": [1], "decoder.1.cross": [1]}
    with without_heads(model, {"encoder.0.self": [0]}), without_heads(model, others):
        same(model(src, tgt), expected)


def test_a_silent_head_is_silent_while_decoding_too() -> None:
    model, cut = small_model(3), small_model(3)
    zeroed(cut, "decoder.0.cross", 1)
    zeroed(cut, "decoder.0.self", 0)
    search = {"bos_id": 1, "eos_id": 2, "max_len": 8}
    src = sentences([5, 3])
    with without_heads(model, {"decoder.0.cross": [1], "decoder.0.self": [0]}):
        found = greedy_search(model, src, **search)
    expected = greedy_search(cut, src, **search)
    assert [h[0].tokens for h in found] == [h[0].tokens for h in expected]
    assert found[0][0].score == pytest.approx(expected[0][0].score)


@pytest.mark.parametrize(
    ("heads", "complaint"),
    [
        ({"decoder.9.cross": [0]}, "no attention 'decoder.9.cross'"),
        ({"encoder.0.self": [2]}, "no head 2; choose from 0 to 1"),
        ({"encoder.0.self": [-1]}, "no head -1"),
    ],
)
def test_a_head_that_is_not_there_is_refused(heads: dict[str, list[int]], complaint: str) -> None:
    model = small_model()
    block = without_heads(model, {"encoder.0.self": [0], **heads})
    with pytest.raises(ValueError, match=complaint), block:
        pass
    assert not any(m.w_output._forward_pre_hooks for m in attention_modules(model).values())


def test_an_error_inside_the_block_gives_the_head_back() -> None:
    model = small_model()
    src, tgt = sentences([4]), sentences([3])
    before = model(src, tgt)
    block = without_heads(model, {"encoder.0.self": [0]})
    with pytest.raises(RuntimeError, match="stop"), block:
        raise RuntimeError("stop")
    assert torch.equal(model(src, tgt), before)


def test_log_probabilities_are_the_loss_of_training_without_smoothing() -> None:
    model = small_model()
    src, tgt = sentences([4, 2]), sentences([6, 3])
    found = log_probabilities(model, src, tgt)
    loss, n_tokens = label_smoothing_loss(model(src, tgt[:, :-1]), tgt[:, 1:], 0.0, PAD)
    assert -found.sum().item() == pytest.approx(loss.item(), rel=1e-5)
    assert (found != 0).sum() == n_tokens
    assert (found[1, 2:] == 0).all()


def test_log_probabilities_do_not_depend_on_the_neighbours_in_the_batch() -> None:
    model = small_model()
    src, tgt = sentences([4, 2]), sentences([6, 3])
    alone = log_probabilities(model, src[1:, :2], tgt[1:, :3])
    same(log_probabilities(model, src, tgt)[1:, :2], alone)


def test_log_probabilities_refuse_a_model_with_dropout_on() -> None:
    with pytest.raises(ValueError, match="training mode"):
        log_probabilities(small_model().train(), sentences([3]), sentences([3]))


def test_what_a_head_is_worth_is_the_loss_with_its_columns_zeroed() -> None:
    model = small_model()
    src, tgt = sentences([4, 2]), sentences([6, 3])
    lost = loss_without_each_head(model, src, tgt)
    assert list(lost) == list(attention_modules(model))
    whole = log_probabilities(model, src, tgt).sum(-1)
    for name, rises in lost.items():
        assert rises.shape == (2, 2)  # heads, sentences
        for head in range(2):
            cut = small_model()
            zeroed(cut, name, head)
            same(rises[head], whole - log_probabilities(cut, src, tgt).sum(-1))


def test_a_head_without_influence_is_worth_nothing() -> None:
    model = small_model()
    zeroed(model, "decoder.0.cross", 1)
    lost = loss_without_each_head(model, sentences([4]), sentences([5]))
    same(lost["decoder.0.cross"][1], torch.zeros(1, dtype=torch.float64))
    assert lost["decoder.0.cross"][0].abs().item() > 1e-6
