"""Two hundred everyday sentences in German and English, written for this book, to test with.

Each has a second translation, so that a model is not punished for words as good as the first ones.
They are grouped by what is hard or common in them: questions, separable verbs, times and prices.
English is spelt as in Britain, with words of both shores (*lift* and *elevator*). No sentence
stands in the corpora of `transformer.data.everyday` or the sets that its models are tested on.

Source: `own_sentences.tsv` beside this file, by the maintainers of the book; nothing is downloaded.
Licence: CC BY 4.0, as the text of the book (LICENSE-TEXT.md).
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from transformer.data.limits import DataError
from transformer.data.parallel import read_lines

OWN_SENTENCES = Path(__file__).with_name("own_sentences.tsv")


@dataclass(frozen=True)
class OwnSentence:
    """A sentence in both languages, twice in each.

    Attributes:
        phenomenon: what it is an example of, such as "separable verbs".
        german, english: translations of each other.
        german_2, english_2: other translations, as natural, in other words. Where English *you* may
            be *du* or *Sie*, one of the two German sentences can be formal and the other not.
    """

    phenomenon: str
    german: str
    german_2: str
    english: str
    english_2: str


def own_sentences(path: Path = OWN_SENTENCES) -> list[OwnSentence]:
    """The sentences in the order of the file.

    Args:
        path: a table whose first line names the columns; the book's own unless given.

    Raises:
        DataError: it is missing or damaged, its first line is another one, or a line does not have
            five columns with something in each.
    """
    columns = [field.name for field in fields(OwnSentence)]
    first, *lines = read_lines(path) or [""]
    if first.split("\t") != columns:
        raise DataError(
            f"{path} begins with {first[:80]!r}; its first line must name the columns, with tabs "
            f"between them: {', '.join(columns)}"
        )
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines]
    for number, row in enumerate(rows, 2):
        if len(row) != len(columns) or not all(row):
            raise DataError(
                f"line {number} of {path} has {sum(map(bool, row))} filled columns and should have "
                f"{len(columns)}, with a tab between two of them: {', '.join(columns)}"
            )
    return [OwnSentence(*row) for row in rows]


def sources_and_references(
    target: str, sentences: Sequence[OwnSentence] | None = None
) -> tuple[list[str], list[list[str]]]:
    """What to translate, and what may come out of it, as sacreBLEU takes it.

    Args:
        target: the language to translate into, "de" or "en".
        sentences: all of them unless given.

    Returns:
        The sources (the first column of the other language), and two lists of references, each as
        long as the sources.

    Raises:
        ValueError: the language is neither "de" nor "en".
    """
    if target not in ("de", "en"):
        raise ValueError(f"target ({target!r}) must be one of de, en")
    rows = own_sentences() if sentences is None else sentences
    _, german, german_2, english, english_2 = zip(*map(astuple, rows), strict=True)
    if target == "en":
        return list(german), [list(english), list(english_2)]
    return list(english), [list(german), list(german_2)]
