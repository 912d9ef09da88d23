"""What attention heads look at, and what each of them does for the output, in numbers.

The measures take the weights of one sentence, (heads, query, key) with rows that sum to 1 and
without padding (`cut_padding`), and give one number for each head. Average them over sentences.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.introspect import attention_modules
from transformer.model import Transformer

Weights = Float[Tensor, "heads query key"]
Links = Collection[tuple[int, int]]


def cut_padding(
    weights: Float[Tensor, "batch heads query key"],
    n_queries: Sequence[int],
    n_keys: Sequence[int],
) -> list[Tensor]:
    """The weights of each sentence of a batch, (heads, query, key), without its padding.

    Args:
        n_queries, n_keys: how many tokens of each sentence are no padding.
    """
    sizes = zip(weights, n_queries, n_keys, strict=True)
    return [sentence[:, :queries, :keys] for sentence, queries, keys in sizes]


def word_groups(pieces: Sequence[str], words: Sequence[str], space: str = "▁") -> list[list[int]]:
    """For each word the positions of its pieces; marks such as </s> count as words.

    Raises:
        ValueError: the pieces do not spell the words.
    """
    groups: list[list[int]] = []
    i = 0
    for word in words:
        spelled = ""
        group: list[int] = []
        while i < len(pieces) and (spelled != word or not group) and word.startswith(spelled):
            spelled += pieces[i].replace(space, "")
            group.append(i)
            i += 1
        if spelled != word:
            raise ValueError(f"the pieces spell {spelled!r} where the word {word!r} should stand")
        groups.append(group)
    if i < len(pieces):
        raise ValueError(f"the piece {pieces[i]!r} belongs to no word; give all the words")
    return groups


def merge_words(
    weights: Weights, queries: Sequence[Sequence[int]], keys: Sequence[Sequence[int]]
) -> Float[Tensor, "heads query_words key_words"]:
    """Weights between words: the sum over a key word's pieces, the mean over a query word's.

    Rows sum to 1 as before, if each key belongs to a word. Groups are those of `word_groups`.
    """
    columns = torch.stack([weights[:, :, list(group)].sum(-1) for group in keys], dim=-1)
    return torch.stack([columns[:, list(group)].mean(1) for group in queries], dim=1)


def uniform_weights(n_queries: int, n_keys: int, *, causal: bool = False) -> Weights:
    """A head without preferences, (1, query, key): the baseline for all the measures."""
    allowed = torch.ones(1, n_queries, n_keys)
    allowed = allowed.tril() if causal else allowed
    return allowed / allowed.sum(-1, keepdim=True)


def share_at(weights: Weights, offset: int) -> Float[Tensor, "heads"]:
    """The weight on the key `offset` positions after the query (-1: before it), 0 to 1.

    The mean over the queries that have such a key; 0 where none has.
    """
    diagonal = weights.diagonal(offset, dim1=1, dim2=2)
    return diagonal.mean(-1) if diagonal.size(-1) else weights.new_zeros(len(weights))


def weight_on(weights: Weights, keys: Collection[int]) -> Float[Tensor, "heads"]:
    """The weight that all the given keys get together, the mean over the queries, 0 to 1."""
    return weights[:, :, sorted(set(keys))].sum(-1).mean(-1)


def entropy(weights: Weights) -> Float[Tensor, "heads"]:
    """Entropy of a query's weights in nats, the mean over the queries.

    0: all weight on one key. log(number of keys): all keys alike.
    """
    return torch.special.entr(weights).sum(-1).mean(-1)


def evenness(weights: Weights, *, causal: bool = False) -> Float[Tensor, "heads"]:
    """Entropy as a share of the largest possible, 0 (one key) to 1 (uniform).

    The mean over the queries that have a choice: a causal head's first query has one key only.
    Comparable between sentences of different length, which entropy in nats is not.
    """
    n_keys = torch.full((weights.size(1),), weights.size(2))
    if causal:
        n_keys = torch.arange(1, weights.size(1) + 1).clamp(max=weights.size(2))
    choice = n_keys > 1
    most = n_keys[choice].to(weights).log()
    return (torch.special.entr(weights).sum(-1)[:, choice] / most).mean(-1)


def head_distances(weights: Weights) -> Float[Tensor, "heads heads"]:
    """How differently two heads look, 0 (the same weights) to 1 (nothing in common).

    The Jensen-Shannon distance (the root of the divergence, logarithms to base 2) of their
    weights, the mean over the queries. Heads that are close are redundant in where they look,
    not necessarily in what they fetch.
    """
    mixed = torch.special.entr((weights[:, None] + weights[None]) / 2).sum(-1)
    single = torch.special.entr(weights).sum(-1)
    divergence = (mixed - (single[:, None] + single[None]) / 2) / math.log(2)
    return divergence.clamp(0, 1).sqrt().mean(-1)


def diagonal_links(n_queries: int, n_keys: int) -> set[tuple[int, int]]:
    """The guess of someone who knows no language: (query, key) at the same share of the way."""
    step = (n_keys - 1) / max(n_queries - 1, 1)
    return {(query, math.floor(query * step + 0.5)) for query in range(n_queries)}


def argmax_links(
    weights: Float[Tensor, "query key"], nowhere: Collection[int] = ()
) -> set[tuple[int, int]]:
    """Each query's favourite key as a (query, key) link; none where that is a key of `nowhere`."""
    favourites = enumerate(weights.argmax(-1).tolist())
    return {(query, key) for query, key in favourites if key not in nowhere}


def alignment_error_rate(
    predicted: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links]
) -> float:
    """AER of Och and Ney (2003) over all sentences, 0 (nothing wrong) to 1 (nothing right).

    1 - (|A and S| + |A and P|) / (|A| + |S|): a predicted link (A) is wrong unless it is possible
    (P), and a sure link (S) is missed unless it is predicted. A sure link is possible too.

    Raises:
        ValueError: there is neither a predicted nor a sure link.
    """
    hits = total = 0
    for a, s, p in zip(map(set, predicted), map(set, sure), map(set, possible), strict=True):
        hits += len(a & s) + len(a & (p | s))
        total += len(a) + len(s)
    if not total:
        raise ValueError("there are no links to compare; give predicted and sure ones")
    return 1 - hits / total


@contextmanager
def without_heads(model: Transformer, heads: Mapping[str, Collection[int]]) -> Iterator[None]:
    """Inside the block these heads give zeros: what they add through W^O is gone.

    Args:
        heads: name of the attention, as in `record_attention` -> its heads, counted from 0.

    Raises:
        ValueError: there is no such attention or head.
    """
    modules = attention_modules(model)
    for name, numbers in heads.items():
        if name not in modules:
            raise ValueError(f"there is no attention {name!r}; choose of {', '.join(modules)}")
        for head in numbers:
            if not 0 <= head < modules[name].n_heads:
                last = modules[name].n_heads - 1
                raise ValueError(f"{name} has no head {head}; choose from 0 to {last}")
    with ExitStack() as stack:
        for name, numbers in heads.items():
            kept = torch.ones(modules[name].n_heads, 1)
            kept[sorted(set(numbers))] = 0

            def silence(_: nn.Module, args: tuple[Tensor], kept: Tensor = kept) -> tuple[Tensor]:
                outputs = args[0].unflatten(-1, (len(kept), -1))
                return ((outputs * kept.to(outputs)).flatten(-2),)

            silence.pointwise = True  # type: ignore[attr-defined]  # a search may keep its cache
            # The input of W^O is the heads' outputs side by side.
            hook = modules[name].w_output.register_forward_pre_hook(silence)
            stack.callback(hook.remove)
        yield


def log_probabilities(
    model: Transformer, src: Int[Tensor, "batch src"], tgt: Int[Tensor, "batch tgt"]
) -> Float[Tensor, "batch predicted"]:
    """The log-probability of each token of tgt after the first, in nats; 0 where there is padding.

    Column t is for token t + 1, given the source and the tokens up to t.

    Raises:
        ValueError: the model is in training mode, where dropout would blur every comparison.
    """
    if model.training:
        raise ValueError("the model is in training mode; call model.eval() first")
    with torch.no_grad():
        chosen = model(src, tgt[:, :-1]).log_softmax(-1).gather(-1, tgt[:, 1:, None])[..., 0]
    return chosen.masked_fill(tgt[:, 1:] == model.config.pad_id, 0.0)


def loss_without_each_head(
    model: Transformer, src: Int[Tensor, "batch src"], tgt: Int[Tensor, "batch tgt"]
) -> dict[str, Tensor]:
    """What each sentence loses when one head is silenced, for every head by itself.

    Returns:
        Name of the attention -> (heads, batch): by how many nats log P(tgt | src) falls. Near 0:
        the others do without this head. Below 0: it was in the way.
    """
    whole, lost = log_probabilities(model, src, tgt).sum(-1), {}
    for name, module in attention_modules(model).items():
        losses = []
        for head in range(module.n_heads):
            with without_heads(model, {name: [head]}):
                losses.append(whole - log_probabilities(model, src, tgt).sum(-1))
        lost[name] = torch.stack(losses)
    return lost
