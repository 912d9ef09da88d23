"""Beam search watched: what each step considers, and the tree that its steps make."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

Fate = Literal["lives", "finished", "dropped"]


@dataclass(frozen=True)
class Candidate:
    """A beginning and one token more.

    Attributes:
        parent: which of the step's beginnings it extends.
        token: the token's id.
        log_prob: the token's log-probability after its beginning.
        total: the sum of all log-probabilities up to here.
        score: the total divided by the penalty of this length.
        fate: whether it lives on, is finished (the end mark), or is dropped.
    """

    parent: int
    token: int
    log_prob: float
    total: float
    score: float
    fate: Fate


@dataclass(frozen=True)
class Step:
    """One step of the search for one sentence.

    Attributes:
        sentence: its place in the batch.
        length: the tokens that a candidate has, the end mark's too; 1 in the first step.
        beginnings: the tokens of those that lived at the start of the step, best first.
        candidates: the most probable results, twice as many as the beam is wide, best first.
        living: the places of those candidates that are the next step's beginnings, in its order.
        goes_on: whether the search for this sentence goes on.
        cut: max_len is reached, and the living ones count as finished as they are.
    """

    sentence: int
    length: int
    beginnings: list[tuple[int, ...]]
    candidates: list[Candidate]
    living: list[int]
    goes_on: bool
    cut: bool


def steps(
    *,
    length: int,
    cut: bool,
    penalty: float,
    active: list[int],
    going: list[int],
    output: Tensor,
    before: Tensor,
    log_prob: Tensor,
    total: Tensor,
    beginning: Tensor,
    token: Tensor,
    ended: Tensor,
    order: Tensor,
) -> Iterator[Step]:
    """What `beam_search` has computed in a step, sentence by sentence.

    `output` is (all beginnings, tokens); `before`, the totals of the beginnings, and `order`, the
    places of the candidates that live on, are (active sentences, beam_size), the others (active
    sentences, candidates).
    """
    beam_size = order.size(1)
    for row, sentence in enumerate(active):
        # Of probability 0 are the beginnings that are missing at first, and what none extends.
        there = int(before[row].isfinite().sum())
        beginnings = output[row * beam_size : row * beam_size + there, 1:].tolist()
        ends, totals = ended[row].tolist(), total[row].tolist()
        living = [p for p in order[row].tolist() if totals[p] > -math.inf and not ends[p]]
        candidates = [
            Candidate(
                parent=int(beginning[row, place]),
                token=int(token[row, place]),
                log_prob=float(log_prob[row, place]),
                total=value,
                score=value / penalty,
                fate="lives"
                if place in living
                else "finished"
                if ends[place] and place < beam_size
                else "dropped",
            )
            for place, value in enumerate(totals)
            if value > -math.inf
        ]
        goes_on = row in going
        yield Step(
            sentence=sentence,
            length=length,
            beginnings=[tuple(tokens) for tokens in beginnings],
            candidates=candidates,
            living=living,
            goes_on=goes_on and not cut,
            cut=goes_on and cut,
        )


@dataclass(frozen=True)
class Node(Candidate):
    """A candidate in the tree of all of them.

    Attributes:
        parent: the node of the token before; -1 for the root, which stands for the start mark.
        length: how many tokens lead here, this one included; 0 for the root.
    """

    length: int


class SearchTree:
    """Watches a beam search, `beam_search(..., watch=tree)`, and grows its tree.

    One object watches one search.

    Attributes:
        steps: for each sentence its steps, in order.
        nodes: for each sentence its nodes, parents first; the root is the first.
    """

    def __init__(self) -> None:
        self.steps: dict[int, list[Step]] = {}
        self.nodes: dict[int, list[Node]] = {}
        self._living: dict[int, list[int]] = {}

    def __call__(self, step: Step) -> None:
        """Add a step's candidates.

        Raises:
            ValueError: the step is not the sentence's next one.
        """
        steps = self.steps.setdefault(step.sentence, [])
        if step.length != len(steps) + 1 or (steps and not steps[-1].goes_on):
            raise ValueError(
                f"step {step.length} of sentence {step.sentence} does not follow the "
                f"{len(steps)} steps seen; give each search a SearchTree of its own"
            )
        root = Node(-1, -1, 0.0, 0.0, 0.0, "lives", 0)
        nodes = self.nodes.setdefault(step.sentence, [root])
        parents = self._living.get(step.sentence, [0])
        first = len(nodes)
        nodes += [
            Node(**{**vars(c), "parent": parents[c.parent]}, length=step.length)
            for c in step.candidates
        ]
        self._living[step.sentence] = [first + place for place in step.living]
        steps.append(step)

    def finished(self, sentence: int) -> list[int]:
        """The nodes in which a sentence's hypotheses end, best score first.

        Those that max_len has cut off are among them. The search keeps the best `beam_size`.
        """
        nodes = self.nodes[sentence]
        ends = [place for place, node in enumerate(nodes) if node.fate == "finished"]
        if self.steps[sentence][-1].cut:
            ends += self._living[sentence]
        return sorted(ends, key=lambda place: -nodes[place].score)

    def tokens(self, sentence: int, node: int) -> list[int]:
        """The tokens from the start to a node, the end mark too where the node is one."""
        path: list[int] = []
        nodes = self.nodes[sentence]
        while nodes[node].parent >= 0:
            path.append(nodes[node].token)
            node = nodes[node].parent
        return path[::-1]
