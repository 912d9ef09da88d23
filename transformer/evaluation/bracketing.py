"""How good parses are: labelled bracketing, as EVALB counts it (Sekine and Collins 1997).

A constituent is right where the reference has one with the same label over the same words.
Precision is the share of the proposed constituents that are right, recall that of the
reference's constituents that were found; both are sums over all sentences, divided once. Marks are
left out of the words, the label TOP is not counted, and two equal constituents count as two. So
much is EVALB with Collins' settings, which take ADVP and PRT for one label, too; here they are two.
EVALB passes over a sentence whose number of words is wrong; here such a parse is mended by
`read_tree` and counts like any other.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from transformer.text.sentences import texts_of
from transformer.text.trees import read_tree, spans

MARKS = frozenset(".,?")


class Brackets(NamedTuple):
    """The counts of one sentence; sums of them give precision and recall of many."""

    right: int
    proposed: int
    wanted: int


@dataclass(frozen=True)
class Bracketing:
    """How well a set of parses agrees with its references.

    Attributes:
        precision: of all constituents proposed, how many are right, 0 to 100.
        recall: of all constituents in the references, how many were found, 0 to 100.
        f1: the harmonic mean of both.
        exact: the share of sentences with the very constituents of the reference, 0 to 1.
        malformed: the share of outputs that had to be mended to be a tree over the words, 0 to 1.
        n_sentences: how many there were.
    """

    precision: float
    recall: float
    f1: float
    exact: float
    malformed: float
    n_sentences: int

    def to_dict(self) -> dict[str, Any]:
        """Rounded, ready for JSON."""
        return {
            "f1": round(self.f1, 2),
            "precision": round(self.precision, 2),
            "recall": round(self.recall, 2),
            "exact": round(self.exact, 4),
            "malformed": round(self.malformed, 4),
            "n_sentences": self.n_sentences,
        }

    def __str__(self) -> str:
        """One line for a terminal."""
        return (
            f"bracketing F1 {self.f1:.1f}, precision {self.precision:.1f}, "
            f"recall {self.recall:.1f}, {self.exact:.1%} of {self.n_sentences} exact, "
            f"{self.malformed:.1%} malformed"
        )


def bracket_counts(sentence: str, output: str, reference: str) -> Brackets:
    """The counts of one parse; words and brackets have spaces between them."""
    words = sentence.split()
    proposed, wanted = (
        Counter(spans(read_tree(tokens.split(), words).tree, MARKS))
        for tokens in (output, reference)
    )
    return Brackets((proposed & wanted).total(), proposed.total(), wanted.total())


def bracketing(
    sentences: Iterable[str], outputs: Iterable[str], references: Iterable[str]
) -> Bracketing:
    """Precision, recall and F1 over all sentences, and how many parses are exact or malformed.

    Raises:
        ValueError: there is nothing to score, or not one output and reference for each sentence.
    """
    sentences, outputs, references = (
        texts_of(texts, name)
        for texts, name in (
            (sentences, "sentences"),
            (outputs, "outputs"),
            (references, "references"),
        )
    )
    if not sentences or not len(sentences) == len(outputs) == len(references):
        raise ValueError(
            f"{len(sentences)} sentences, {len(outputs)} parses and {len(references)} references; "
            "give as many of each, and at least one"
        )
    counts = list(map(bracket_counts, sentences, outputs, references))
    right, proposed, wanted = (sum(column) for column in zip(*counts, strict=True))
    mended = sum(
        not read_tree(output.split(), sentence.split()).well_formed
        for sentence, output in zip(sentences, outputs, strict=True)
    )
    return Bracketing(
        precision=100 * right / proposed if proposed else 0.0,
        recall=100 * right / wanted if wanted else 0.0,
        f1=200 * right / (proposed + wanted) if proposed + wanted else 0.0,
        exact=sum(c.right == c.proposed == c.wanted for c in counts) / len(counts),
        malformed=mended / len(counts),
        n_sentences=len(counts),
    )
