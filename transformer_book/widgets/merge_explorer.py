"""Byte-pair encoding (section 5.1) merge by merge, on a few words that the reader chooses."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import traitlets

from transformer.text.bpe import (
    SPACE,
    Pair,
    Pieces,
    alphabet,
    apply_merges,
    learn_merges,
    merge_steps,
    token_count,
)

from transformer_book.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = ("start", "end", "none")
MOST_WORDS, MOST_LETTERS, MOST_COUNT = 12, 20, 1_000_000
# Between the words of the text field, and between a word and its count.
SEPARATORS = (",", ";")

WORDS = {"low": 5, "lowest": 2, "newer": 6, "wider": 3}


class MergeExplorer(Widget):
    """Words with their counts, the pairs in them, and which pair becomes one piece next.

    Args:
        words: how often each word occurs.

    Attributes:
        words: the same as a list of [word, count].
        mark: where ▁ tells that a word begins or ends: at its "start", at its "end", or "none".
        step: how many merges are done.
        new_word: a word to split with these merges; none when empty.

    Raises:
        traitlets.TraitError: a setting is outside its range, or the words are none.
    """

    description = traitlets.Unicode(
        "Byte-pair encoding: a few words in pieces, how often each pair of neighbouring pieces "
        "occurs, and the merges, each of which joins the most frequent pair."
    ).tag(sync=True)
    constants = handed_over(most_words=MOST_WORDS, most_letters=MOST_LETTERS, most_count=MOST_COUNT)
    words: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    mark = traitlets.Enum(MARKS, "end").tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    new_word = traitlets.Unicode("lower").tag(sync=True)

    def __init__(self, words: Mapping[str, int] = WORDS, **settings: Any) -> None:
        step = settings.pop("step", 0)  # How many there may be depends on the words.
        super().__init__(words=[list(item) for item in words.items()], **settings)
        self.step = step

    @traitlets.validate("words")
    def _are_counted_words(self, proposal: dict[str, Any]) -> list[list[str | int]]:
        words = proposal["value"]
        if not 1 <= len(words) <= MOST_WORDS:
            raise traitlets.TraitError(f"there are {len(words)} words; give 1 to {MOST_WORDS}")
        for item in words:
            _check_item(item)
        names = [word for word, _ in words]
        for word in names:
            if names.count(word) > 1:
                raise traitlets.TraitError(f"{word!r} is there twice; give it once, with one count")
        return [list(item) for item in words]

    @traitlets.validate("new_word")
    def _is_one_word(self, proposal: dict[str, Any]) -> str:
        word: str = proposal["value"]
        if word:
            _check_word(word)
        return word

    @traitlets.validate("step")
    def _is_reached(self, proposal: dict[str, Any]) -> int:
        step: int = proposal["value"]
        if step > self.n_merges:
            raise traitlets.TraitError(
                f"step ({step}) must be 0 to {self.n_merges}: then every word is one piece"
            )
        return step

    @traitlets.observe("words", "mark")
    def _no_further_than_possible(self, change: dict[str, Any]) -> None:
        self.step = min(self.step, self.n_merges)

    @property
    def counts(self) -> dict[str, int]:
        """The words with their mark, as `text.bpe` reads them, and how often they occur."""
        return {self.marked(word): count for word, count in self.words}

    @property
    def n_merges(self) -> int:
        """How many merges there can be, until every word is one piece."""
        return sum(1 for _ in merge_steps(self.counts))

    def marked(self, word: str) -> str:
        """A word with its mark."""
        if self.mark == "none":
            return word
        return SPACE + word if self.mark == "start" else word + SPACE

    def merges(self) -> list[Pair]:
        """The merges that are done."""
        return learn_merges(self.counts, self.step)

    def pieces(self) -> dict[str, Pieces]:
        """Every word, with its mark, in pieces."""
        merges = self.merges()
        return {word: apply_merges(word, merges) for word in self.counts}

    def candidates(self) -> dict[Pair, int]:
        """Every pair of neighbours and its count, in the order in which they would win."""
        ids = {p: i for i, p in enumerate([*alphabet(self.counts), *map("".join, self.merges())])}
        for step in islice(merge_steps(self.counts), self.step, None):
            pairs = step.candidates.items()
            return dict(sorted(pairs, key=lambda p: (-p[1], ids[p[0][0]], ids[p[0][1]])))
        return {}

    def split(self) -> Pieces:
        """The new word in pieces."""
        return apply_merges(self.marked(self.new_word), self.merges()) if self.new_word else ()

    def sizes(self) -> tuple[int, int]:
        """How many tokens the text has, and how many the vocabulary."""
        return token_count(self.counts, self.pieces()), len(alphabet(self.counts)) + self.step

    def twin(self) -> "Figure":
        """The words and the pairs on paper."""
        from transformer_book.figures.merges import merge_panels

        tokens, vocabulary = self.sizes()
        merges = self.merges()
        return merge_panels(
            list(zip(self.counts.values(), self.pieces().values(), strict=True)),
            self.candidates(),
            made="".join(merges[-1]) if merges else None,
            title=f"{self.step} merges: {tokens:,} tokens, a vocabulary of {vocabulary}",
        )


def _check_item(item: object) -> None:
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        raise traitlets.TraitError(f"words has {item!r}; give each word with its count")
    word, count = item
    _check_word(word)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_COUNT:
        raise traitlets.TraitError(
            f"{word!r} has the count {count!r}; give a whole number from 1 to {MOST_COUNT:,}"
        )


def _check_word(word: object) -> None:
    if (
        not isinstance(word, str)
        or not 1 <= len(word) <= MOST_LETTERS
        or any(letter.isspace() or letter in SEPARATORS for letter in word)
    ):
        raise traitlets.TraitError(
            f"{word!r} is no word; give 1 to {MOST_LETTERS} characters without spaces, commas "
            "and semicolons"
        )
