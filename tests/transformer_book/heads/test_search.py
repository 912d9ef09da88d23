"""The search finds a head that is there, and is not taken in by luck."""

import pytest
import torch

from transformer import Transformer, TransformerConfig
from transformer.introspect import record_attention

from transformer_book.heads.search import (
    LinkedSentence,
    bootstrap,
    encoder_weights,
    find_head,
    link_scores,
)


def sentences(n: int, length: int = 9, head: int | None = None) -> list[LinkedSentence]:
    """Random weights of five heads and a link at a random place; one head may follow it."""
    generator = torch.Generator().manual_seed(n)
    found = []
    for _ in range(n):
        weights = torch.rand(5, length, length, generator=generator).softmax(-1)
        query, key = torch.randperm(length, generator=generator)[:2].tolist()
        if head is not None:
            weights[head, query] = 0.2 / (length - 1)
            weights[head, query, key] = 0.8
        found.append(LinkedSentence(weights, {(query, key)}))
    return found


def test_the_search_finds_the_head_that_follows_the_links() -> None:
    found = find_head(sentences(20, head=3), sentences(30, head=3))
    assert (found.head, found.against, found.n_queries) == (3, False, 30)
    assert found.weight.mean == pytest.approx(0.8)
    assert found.favourite.mean == 1
    assert found.uniform == pytest.approx(1 / 9)
    assert found.elsewhere < 0.2
    assert found.name(2) == "layer 2, head 2"


def test_a_head_that_looks_the_other_way_is_found_too() -> None:
    turned = [
        [LinkedSentence(s.weights, {(b, a) for a, b in s.links}) for s in sentences(n, head=1)]
        for n in (20, 30)
    ]
    found = find_head(*turned)
    assert (found.head, found.against) == (1, True)
    assert found.weight.mean == pytest.approx(0.8)


def test_where_there_is_nothing_the_interval_on_other_sentences_holds_chance() -> None:
    found = find_head(sentences(6), sentences(200))
    assert found.weight.low < found.uniform < found.weight.high
    assert found.weight.mean < 0.15


def test_the_weight_on_several_linked_words_is_their_sum_and_each_is_a_hit() -> None:
    weights = torch.tensor([[[0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.9, 0.1, 0.0]]])
    weight, hits = link_scores(LinkedSentence(weights, {(0, 1), (0, 2), (2, 1)}))
    torch.testing.assert_close(weight, torch.tensor([[0.9, 0.1]]))
    assert hits.tolist() == [[1, 0]]
    against, _ = link_scores(LinkedSentence(weights, {(0, 1), (0, 2), (2, 1)}), against=True)
    torch.testing.assert_close(against, torch.tensor([[0.5, 0.9]]))  # from 1 to 0 and 2; 2 to 0


def test_the_other_queries_at_the_same_distance_are_the_control() -> None:
    """A head that always looks back by one place is no better on the links than elsewhere."""
    weights = torch.eye(6).roll(-1, dims=1)[None]
    weights[0, 0] = 1 / 6
    found = find_head(*[[LinkedSentence(weights, {(3, 2)})] * 2] * 2)
    assert found.weight.mean == pytest.approx(found.elsewhere)


def test_the_bootstrap_draws_whole_sentences() -> None:
    same = bootstrap([[0.0, 1.0]] * 40)
    assert (same.mean, same.low, same.high) == (0.5, 0.5, 0.5)
    apart = bootstrap([[0.0, 0.0], [1.0, 1.0]] * 20)
    assert apart.low < 0.45 < apart.mean < 0.55 < apart.high
    assert str(apart).startswith("0.50 [0.3")


def test_the_weights_of_a_batch_are_those_of_each_sentence() -> None:
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.tiny(src_vocab_size=20)).eval()
    sources = [[4, 5, 6, 3], [7, 3], [8, 9, 10, 11, 3]]
    found = encoder_weights(model, sources, batch_size=2)
    for ids, weights in zip(sources, found, strict=True):
        with record_attention(model) as recorded, torch.no_grad():
            model.encode(torch.tensor([ids]))
        layers = [recorded[f"encoder.{i}.self"][0] for i in range(model.config.n_layers)]
        torch.testing.assert_close(weights, torch.cat(layers))


def test_without_sentences_or_links_the_search_says_so() -> None:
    with pytest.raises(ValueError, match="measured on others"):
        find_head([], sentences(2))
    bare = LinkedSentence(torch.full((1, 2, 2), 0.5), set())
    with pytest.raises(ValueError, match="no links"):
        find_head([bare], [bare])
