"""Is there a head for this? Searches all heads of an encoder for given links between words.

A link is (dependent, head of the phrase): a pronoun and its noun, a prefix and its verb. A head may
look along it or against it, so both directions are tried. The best of many is good by luck alone;
therefore the head is chosen on some sentences and measured on others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.introspect import record_attention
from transformer.model import Transformer
from transformer.text.batching import pad

from transformer_book.heads.measures import cut_padding

Link = tuple[int, int]


@dataclass(frozen=True)
class LinkedSentence:
    """A sentence as the search needs it.

    Attributes:
        weights: (heads, query, key) between words; the heads of all layers, one after the other.
        links: (position, position) of words that belong together, from the one to the other.
    """

    weights: Float[Tensor, "heads query key"]
    links: Collection[Link]


@dataclass(frozen=True)
class Estimate:
    """A mean, and the ends of its 95 % interval by bootstrap over sentences."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class FoundHead:
    """The best head for some links, and what it does on sentences that did not choose it.

    Attributes:
        head: counted from 0 through all layers.
        against: whether it looks against the links, from the second word to the first.
        n_queries: how many words of the measured sentences have a link to look along.
        weight: on the linked words, the mean over these queries.
        favourite: how often the key with most weight is a linked word.
        elsewhere: the weight that the head's other queries give at the same distances.
        uniform: the weight of a head without preferences.
    """

    head: int
    against: bool
    n_queries: int
    weight: Estimate
    favourite: Estimate
    elsewhere: float
    uniform: float

    def name(self, n_heads: int) -> str:
        """Where the head is, counted from 1 as in the figures: "layer 2, head 4"."""
        layer, head = divmod(self.head, n_heads)
        return f"layer {layer + 1}, head {head + 1}"


def encoder_weights(
    model: Transformer, sources: Sequence[Sequence[int]], batch_size: int = 100
) -> list[Float[Tensor, "heads query key"]]:
    """The self-attention of all the encoder's heads, layer after layer, for each source.

    Args:
        sources: token ids, each with its end mark.
    """
    found: list[Tensor] = []
    for start in range(0, len(sources), batch_size):
        group = [list(ids) for ids in sources[start : start + batch_size]]
        with torch.no_grad(), record_attention(model) as recorded:
            model.encode(pad(group, model.config.pad_id))
        layers = [recorded[f"encoder.{i}.self"] for i in range(model.config.n_layers)]
        lengths = [len(ids) for ids in group]
        found += cut_padding(torch.cat(layers, dim=1), lengths, lengths)
    return found


def turned(links: Collection[Link]) -> set[Link]:
    """The links in the other direction."""
    return {(b, a) for a, b in links}


def link_scores(
    sentence: LinkedSentence, *, against: bool = False
) -> tuple[Float[Tensor, "heads queries"], Float[Tensor, "heads queries"]]:
    """For each query that has a link: the weight on its linked words, and 1 for a favourite there.

    Raises:
        ValueError: the sentence has no links.
    """
    keys = _keys(sentence, against)
    rows = [sentence.weights[:, query] for query in keys]  # each (heads, key)
    weight = [row[:, list(wanted)].sum(-1) for row, wanted in zip(rows, keys.values(), strict=True)]
    hits = [
        torch.isin(row.argmax(-1), torch.tensor(list(wanted))).float()
        for row, wanted in zip(rows, keys.values(), strict=True)
    ]
    return torch.stack(weight, -1), torch.stack(hits, -1)


def choose_head(sentences: Sequence[LinkedSentence]) -> tuple[int, bool]:
    """The head with most weight on the links of some sentences, and whether against them.

    All heads are tried, along the links and against them.
    """
    means = []
    for against in (False, True):
        onto = [link_scores(sentence, against=against)[0] for sentence in sentences]
        means.append(torch.cat(onto, dim=-1).mean(-1))  # (heads,)
    direction, head = divmod(int(torch.stack(means).argmax()), len(means[0]))
    return head, bool(direction)


def find_head(
    chosen_on: Sequence[LinkedSentence], measured_on: Sequence[LinkedSentence], *, seed: int = 0
) -> FoundHead:
    """The head with most weight on the links of some sentences, measured on the others.

    Args:
        chosen_on, measured_on: sentences that each have a link.
        seed: of the bootstrap.

    Raises:
        ValueError: there are no sentences to choose on or to measure on.
    """
    if not chosen_on or not measured_on:
        raise ValueError("a head is chosen on some sentences and measured on others; give both")
    head, against = choose_head(chosen_on)
    scores = [link_scores(sentence, against=against) for sentence in measured_on]
    sizes = [len(_keys(s, against)) for s in measured_on]
    expected = [
        len(wanted) / s.weights.size(-1)
        for s in measured_on
        for wanted in _keys(s, against).values()
    ]
    return FoundHead(
        head=head,
        against=against,
        n_queries=sum(sizes),
        weight=bootstrap([weight[head].tolist() for weight, _ in scores], seed=seed),
        favourite=bootstrap([hits[head].tolist() for _, hits in scores], seed=seed),
        elsewhere=_elsewhere(measured_on, head, against),
        uniform=sum(expected) / len(expected),
    )


def bootstrap(
    values: Sequence[Sequence[float]], *, n_samples: int = 1000, seed: int = 0
) -> Estimate:
    """The mean of all values and its 95 % interval: whole sentences are drawn anew, with repeats.

    Args:
        values: those of each sentence.
    """
    sums = torch.tensor([sum(sentence) for sentence in values], dtype=torch.double)
    counts = torch.tensor([len(sentence) for sentence in values], dtype=torch.double)
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(values), (n_samples, len(values)), generator=generator)
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = means.quantile(torch.tensor([0.025, 0.975], dtype=torch.double)).tolist()
    return Estimate((sums.sum() / counts.sum()).item(), low, high)


def _keys(sentence: LinkedSentence, against: bool) -> dict[int, set[int]]:
    """Each query that has a link -> the keys that it leads to."""
    if not sentence.links:
        raise ValueError("a sentence has no links; leave it out of the search")
    keys: dict[int, set[int]] = {}
    for query, key in sorted(turned(sentence.links) if against else sentence.links):
        keys.setdefault(query, set()).add(key)
    return keys


def _elsewhere(sentences: Sequence[LinkedSentence], head: int, against: bool) -> float:
    """The mean weight of queries without a link at the distances at which others have theirs."""
    others = []
    for sentence in sentences:
        keys = _keys(sentence, against)
        weights = sentence.weights[head]
        for query, wanted in keys.items():
            for other in set(range(len(weights))) - set(keys):
                targets = [other + key - query for key in wanted]
                if all(0 <= target < weights.size(1) for target in targets):
                    others.append(weights[other, targets].sum().item())
    return sum(others) / len(others) if others else float("nan")
