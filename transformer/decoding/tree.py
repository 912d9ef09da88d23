"""Beam search watched: what each step considers, and the tree that its steps make."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from torch import Tensor

Fate = Literal["lives", "finished", "dropped"]


@dataclass(frozen=True)
class Candidate:
    """A prefix and one token more.

    Attributes:
        parent: which of the step's prefixes it extends.
        token: the token's id.
        log_prob: the token's log-probability after its prefix.
        total: the sum of all log-probabilities up to here.
        score: the total divided by the penalty of this length.
        fate: whether it lives as a prefix, is finished (the end mark), or is dropped.
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
        sentence: its index in the batch.
        length: the tokens that a candidate has, the end mark's too; 1 in the first step.
        prefixes: the tokens of each prefix at the start of the step, best first.
        candidates: the most probable ones, twice as many as the beam is wide, best first.
        living: the indices of those candidates that are the next step's prefixes, in its order.
        continues: whether the search for this sentence continues.
        cut: max_len is reached, and the living ones count as finished as they are.
    """

    sentence: int
    length: int
    prefixes: list[tuple[int, ...]]
    candidates: list[Candidate]
    living: list[int]
    continues: bool
    cut: bool


class Candidates(NamedTuple):
    """The candidates of a step, for all active sentences: (sentences, candidates) each, best first.

    As in `Candidate`; `ended` says whether the token is the end mark.
    """

    parent: Tensor
    token: Tensor
    log_prob: Tensor
    total: Tensor
    ended: Tensor


class Expansion(NamedTuple):
    """What `beam_search` has computed in a step, for all active sentences.

    Attributes:
        length: the tokens that a candidate has.
        penalty: what a candidate's total is divided by.
        cut: max_len is reached.
        active: which sentences of the batch these are.
        survivors: the indices in `active` of those whose search continues.
        output: (sentences * beam_size, length): the prefixes, each behind the start mark.
        totals: (sentences, beam_size): those of the prefixes; -inf where there is none yet.
        candidates: the most probable ones.
        kept: (sentences, beam_size): the indices of the candidates that are the next prefixes.
    """

    length: int
    penalty: float
    cut: bool
    active: list[int]
    survivors: list[int]
    output: Tensor
    totals: Tensor
    candidates: Candidates
    kept: Tensor


def steps_of(expansion: Expansion) -> Iterator[Step]:
    """The steps of an expansion, sentence by sentence."""
    x = expansion
    beam_size = x.kept.size(1)
    for row, sentence in enumerate(x.active):
        n_prefixes = int(x.totals[row].isfinite().sum())
        prefixes = x.output[row * beam_size : row * beam_size + n_prefixes, 1:].tolist()
        columns = [column[row].tolist() for column in x.candidates]
        ended, totals = columns[-1], columns[-2]
        # Of probability 0 is what no prefix extends, where there are few prefixes.
        living = [i for i in x.kept[row].tolist() if totals[i] > -math.inf and not ended[i]]

        def fate(i: int, ended: list[bool] = ended, living: list[int] = living) -> Fate:
            if i in living:
                return "lives"
            return "finished" if ended[i] and i < beam_size else "dropped"

        candidates = [
            Candidate(parent, token, log_prob, total, total / x.penalty, fate(i))
            for i, (parent, token, log_prob, total, _) in enumerate(zip(*columns, strict=True))
            if total > -math.inf
        ]
        continues = row in x.survivors
        yield Step(
            sentence=sentence,
            length=x.length,
            prefixes=[tuple(tokens) for tokens in prefixes],
            candidates=candidates,
            living=living,
            continues=continues and not x.cut,
            cut=continues and x.cut,
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
        if step.length != len(steps) + 1 or (steps and not steps[-1].continues):
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
        self._living[step.sentence] = [first + index for index in step.living]
        steps.append(step)

    def finished(self, sentence: int) -> list[int]:
        """The nodes in which a sentence's hypotheses end, best score first.

        Those that max_len has cut off are among them. The search keeps the best `beam_size`.
        """
        nodes = self.nodes[sentence]
        ends = [i for i, node in enumerate(nodes) if node.fate == "finished"]
        if self.steps[sentence][-1].cut:
            ends += self._living[sentence]
        return sorted(ends, key=lambda i: -nodes[i].score)

    def tokens(self, sentence: int, node: int) -> list[int]:
        """The tokens from the start to a node, the end mark too where the node is one."""
        path: list[int] = []
        nodes = self.nodes[sentence]
        while nodes[node].parent >= 0:
            path.append(nodes[node].token)
            node = nodes[node].parent
        return path[::-1]
