"""Which constituent a phrase hangs from, and what a wrong one costs in bracketing F1."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from transformer.evaluation import MARKS, Bracketing, bracketing
from transformer.text.trees import Span, Tree, leaves, linearised, read_tree, spans

from transformer_book.widgets.base import Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SENTENCE = "she eats the soup of the day with a spoon"
BRACKETS = (  # which the reader's own sense of soup and spoons supplies
    "(S (NP XX )NP (VP XX (NP XX XX (PP XX (NP XX XX )NP )PP )NP (PP XX (NP XX XX )NP )PP )VP )S"
)
PHRASES = ("of the day", "with a spoon")
MOST_WORDS = 12  # that stand side by side on a phone


class TreeExplorer(Widget):
    """A sentence's tree, in which a few phrases can be hung from other constituents.

    Nodes are numbered as `spans` lists the constituents of the true tree.

    Args:
        sentence: words with spaces between them, without marks.
        brackets: its true tree, linearised.
        phrases: constituents that can be moved, by their words.

    Attributes:
        hangs: for each phrase, the number of the node from which it hangs; if not given, each
            phrase hangs as low as it can.
        question: what the reader is asked above the tree.

    Raises:
        traitlets.TraitError: a phrase is none, or a word would leave its position in the sentence.
    """

    description = traitlets.Unicode(
        "The tree of a sentence as boxes over its words. A phrase is dragged from one constituent "
        "to another; constituents that the true tree lacks are marked, and precision, recall and "
        "bracketing F1 are counted."
    ).tag(sync=True)
    question = traitlets.Unicode(
        "One phrase hangs wrong: drag it to where it belongs. Which two mistakes together cost "
        "less than that one did?"
    ).tag(sync=True)
    contents = traitlets.Dict().tag(sync=True)
    hangs = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(
        self,
        sentence: str = SENTENCE,
        brackets: str = BRACKETS,
        phrases: Sequence[str] = PHRASES,
        hangs: Sequence[int] | None = None,
        **traits: Any,
    ) -> None:
        words = sentence.split()
        tree, well_formed = read_tree(brackets.split(), words)
        if not well_formed or len(words) > MOST_WORDS or MARKS & {*words}:
            raise traitlets.TraitError(
                f"{brackets!r} must be a tree over {sentence!r}, which may have at most "
                f"{MOST_WORDS} words, and no marks"
            )
        true = spans(tree)
        covered = [" ".join(words[one.start : one.end]) for one in true]
        if missing := [phrase for phrase in phrases if phrase not in covered[1:]]:
            raise traitlets.TraitError(f"no constituent inside the tree has the words {missing}")

        def innermost(start: int, end: int, nodes: Sequence[Span]) -> int:
            """The last of those around some words: what is inside of it comes later."""
            around = [i for i, one in enumerate(nodes) if one.start <= start and end <= one.end]
            return [-1, *around][-1]

        self._true, self._brackets = true, brackets
        contents = {
            "words": words,
            "labels": [one.label for one in true],
            "parents": [innermost(one.start, one.end, true[:i]) for i, one in enumerate(true)],
            "over": [innermost(i, i + 1, true) for i in range(len(words))],
            "phrases": [covered.index(phrase) for phrase in phrases],
        }
        super().__init__(contents=contents, **traits)
        self.hangs = self._lowest() if hangs is None else [*hangs]

    def tree(self, hangs: Sequence[int] | None = None) -> Any:  # beartype cannot check a `Tree`
        """The tree with its phrases where they hang now, or would hang."""
        words, labels, parents, over, phrases = self.contents.values()
        hung = dict(zip(phrases, self.hangs if hangs is None else hangs, strict=True))

        def build(node: int) -> Any:
            parts: list[tuple[int, Any]] = [(i, words[i]) for i, n in enumerate(over) if n == node]
            for child, parent in enumerate(parents):
                if hung.get(child, parent) == node:
                    parts.append((self._true[child].start, build(child)))
            return Tree(labels[node], tuple(part for _, part in sorted(parts)))

        return build(0)

    def possible(self, phrase: int, hangs: Sequence[int] | None = None) -> list[int]:
        """The nodes from which a phrase can hang while the others stay, from the top down.

        Args:
            phrase: its index among the phrases.
        """
        now = [*(self.hangs if hangs is None else hangs)]
        moved = [[*now[:phrase], node, *now[phrase + 1 :]] for node in range(len(self._true))]
        return [node for node, each in enumerate(moved) if self._in_order(each)]

    def score(self) -> Bracketing:
        """The tree on show as the module judges it."""
        said = " ".join(linearised(self.tree()))
        return bracketing([" ".join(self.contents["words"])], [said], [self._brackets])

    def twin(self) -> "Figure":
        """The tree on paper."""
        import matplotlib.pyplot as plt

        from transformer_book.figures.parsing import constituency_tree

        said = spans(self.tree())
        ax = constituency_tree(self.tree(), wrong={*said} - {*self._true})
        score = self.score()
        right = round(len(said) * score.precision / 100)
        ax.set_title(
            f"{right} of {len(said)} proposed are right, "
            f"{right} of {len(self._true)} true are found: F1 = {score.f1:.1f}"
        )
        return plt.gcf()

    @traitlets.validate("hangs")
    def _can_hang(self, proposal: dict[str, Any]) -> list[int]:
        hangs = list(proposal["value"])
        if not self._in_order(hangs):
            raise traitlets.TraitError(
                f"hangs ({hangs}) must have for each phrase the number of a node that can hold it "
                "while every word stays where it stands in the sentence"
            )
        return hangs

    def _in_order(self, hangs: Sequence[int]) -> bool:
        """Whether each phrase hangs from what begins before it, and the words keep their order."""
        starts = [one.start for one in self._true]
        phrases = self.contents["phrases"]
        return (
            len(hangs) == len(phrases)
            and all(node in range(len(starts)) for node in hangs)
            and all(starts[n] < starts[p] for n, p in zip(hangs, phrases, strict=True))
            and [*leaves(self.tree(hangs))] == self.contents["words"]
        )

    def _lowest(self) -> list[int]:
        phrases = self.contents["phrases"]
        hangs = [self.contents["parents"][node] for node in phrases]
        for i, node in enumerate(phrases):
            if not (nodes := self.possible(i, hangs)):
                label, start, _ = self._true[node]
                raise traitlets.TraitError(
                    f"the {label} at word {start} opens its parent, so it can hang nowhere else"
                )
            hangs[i] = nodes[-1]
        return hangs
