"""Everyday sentences in German and English, most of them Tatoeba's: read, cleaned, divided.

A sentence of Tatoeba has many translations, and each of these has others. Where such a family is
divided between training and testing, a model has read the answers; so families stay together.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from transformer.data.archives import read_files
from transformer.data.cleaning import clean
from transformer.data.corpora import Corpus, connected
from transformer.data.download import cache_folder, fetch
from transformer.data.limits import Budget, DataError, inside
from transformer.data.parallel import ParallelText, lines_of, read_lines
from transformer.text.sentences import texts_of

LANGUAGES = ("de", "en")
# What the third column begins with, where a model of the text may be given on without conditions
# but the names of its authors: Tatoeba (CC BY 2.0 FR), MASSIVE (CC BY 4.0), African Storybooks
# (CC BY), and CoCoA-MT, whose licence (CDLA-Sharing 1.0, section 3.5) leaves results free.
TATOEBA = ("manythings", "tatoeba")
FREE = (*TATOEBA, "massive", "storybooks", "cocoa-mt")
ORIGIN = "where it came from"  # the name of a column
TABLES = re.compile(r"[\w.-]+\.tsv(\.gz)?")
# What others publish: ManyThings.org's selection of Tatoeba, and OPUS's release of it in two files.
MANYTHINGS, OPUS = "deu.txt", {language: f"Tatoeba.de-en.{language}" for language in LANGUAGES}
NAMES = re.compile("|".join([TABLES.pattern, *map(re.escape, (MANYTHINGS, *OPUS.values()))]))
# The selection of 13 May 2018, 159,000 different pairs, where it cannot change.
COMMIT = "de48b7027f7318d77010a6e08ed928c10748c23d"
ADDRESSES = (
    f"https://raw.githubusercontent.com/rioyshky/translation/{COMMIT}/deu-eng.zip",
    f"https://cdn.jsdelivr.net/gh/rioyshky/translation@{COMMIT}/deu-eng.zip",
)
SHA256 = "b7688f84f99fa33c17397c14d8bd9cef1fdeb2ee0bf50074767023aee8926e28"
N_VALID, N_TEST = 2000, 3000
# Larger families are the ones of "Yes." and "Thank you.": they stay in the training text.
LARGEST_FAMILY = 12
SEED = 0


@dataclass(frozen=True)
class Rows:
    """What the files hold: German, English, where each pair came from, and its file and line."""

    pairs: list[tuple[str, str]]
    origins: list[str]
    lines: list[tuple[str, int]] = field(default_factory=list, compare=False)


def direction(target: str) -> str:
    """The word at the head of the source that asks for a language (Johnson et al. 2017).

    Raises:
        ValueError: the language is neither "de" nor "en".
    """
    if target not in LANGUAGES:
        raise ValueError(f"target ({target!r}) must be one of {', '.join(LANGUAGES)}")
    return f"→{target}"


def asking_for(target: str, sentences: Iterable[str]) -> list[str]:
    """Sentences as a model of both directions reads them: the language that is wanted, first."""
    return [f"{direction(target)} {sentence}" for sentence in texts_of(sentences, "sentences")]


def folded(sentence: str) -> str:
    """A sentence without case and punctuation: what two must share to count as the same."""
    return " ".join(re.findall(r"\w+", sentence.casefold()))


def families(pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
    """The pairs' indices by family: `connected` for what is the same when `folded`."""
    return connected([(folded(german), folded(english)) for german, english in pairs])


def divided(
    rows: Rows, n_valid: int = N_VALID, n_test: int = N_TEST
) -> tuple[list[int], list[int], list[int]]:
    """Training, validation and test pairs, by their indices; no sentence is in two of them.

    Only pairs of Tatoeba are held out: the other sources are not everyday text as a reader writes
    it (orders in small letters, transcripts of speech).

    Raises:
        DataError: there are too few pairs in small families to hold so many out.
    """
    groups = families(rows.pairs)
    small = [
        group
        for group in groups
        if len(group) <= LARGEST_FAMILY and all(rows.origins[i].startswith(TATOEBA) for i in group)
    ]
    random.Random(SEED).shuffle(small)
    held_out: list[list[int]] = []
    for size in (n_valid, n_test):
        part: list[int] = []
        while small and len(part) < size:
            part += small.pop()[: size - len(part)]
        held_out.append(part)
    taken = {i for part in held_out for i in part}
    near = {i for group in groups if not taken.isdisjoint(group) for i in group}
    rest = [i for i in range(len(rows.pairs)) if i not in near]
    if len(held_out[1]) < n_test or not rest:
        raise DataError(
            f"{len(rows.pairs):,} pairs are too few to hold {n_valid:,} out for validation and "
            f"{n_test:,} for testing; name a folder with more, or hold fewer out"
        )
    return rest, held_out[0], held_out[1]


def fetch_everyday(folder: Path | str | None = None) -> Path:
    """Download Tatoeba's pairs as ManyThings.org selected them, where they are not there yet.

    Args:
        folder: where to keep the archive; the user's cache when None.

    Raises:
        DataError: no address gave the file that was expected.
    """
    folder = Path(folder) if folder is not None else cache_folder() / "everyday"
    return fetch("deu-eng.zip", SHA256, ADDRESSES, folder)


def read_everyday(data_path: Path | str) -> Rows:
    """All pairs in a folder, archive or file that may be used freely, each once.

    Read are tables .tsv and .tsv.gz (German, tab, English, tab, where the pair came from: lines
    whose origin `FREE` does not name are left out), deu.txt of ManyThings.org (English, tab,
    German), and Tatoeba.de-en.de with Tatoeba.de-en.en of OPUS.

    Raises:
        DataError: there is no such file, one is damaged, a line has too few columns, or of two
            files that belong together one is missing or shorter.
    """
    rows: dict[tuple[str, str], tuple[str, tuple[str, int]]] = {}
    files = dict(_files(Path(data_path)))
    for name, lines in files.items():
        if name in OPUS.values():
            continue
        columns = ["German", "English", ORIGIN]
        if name == MANYTHINGS:
            columns = ["English", "German"]
        for number, line in enumerate(lines, 1):
            read = line.split("\t")
            if len(read) < len(columns):
                raise DataError(
                    f"line {number:,} of {name} has {len(read)} columns and should have "
                    f"{len(columns)}: {', tab, '.join(columns)}"
                )
            found = dict(zip(columns, read, strict=False))
            origin = found.get(ORIGIN, TATOEBA[0])
            if origin.startswith(FREE):
                pair = (found["German"].strip(), found["English"].strip())
                rows.setdefault(pair, (origin, (name, number)))
    if not files.keys().isdisjoint(OPUS.values()):
        german, english = (files.get(OPUS[language], []) for language in LANGUAGES)
        if len(german) != len(english):
            raise DataError(
                f"{OPUS['de']} has {len(german):,} lines and {OPUS['en']} {len(english):,} in "
                f"{data_path}; they belong together, so unpack both of one archive"
            )
        for number, sides in enumerate(zip(german, english, strict=True), 1):
            pair = (sides[0].strip(), sides[1].strip())
            rows.setdefault(pair, (TATOEBA[1], (OPUS["de"], number)))
    if not rows:
        raise DataError(
            f"{data_path} holds no .tsv file with pairs from {', '.join(FREE)}, no {MANYTHINGS} of "
            f"ManyThings.org and no {OPUS['de']} of OPUS"
        )
    return Rows(list(rows), *map(list, zip(*rows.values(), strict=True)))


def _files(data_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Names and lines of the files in a folder, of one file, or of those in an archive."""
    budget = Budget(str(data_path))
    if data_path.is_dir():
        for path in sorted(data_path.iterdir()):
            if NAMES.fullmatch(path.name):
                yield path.name, read_lines(inside(data_path, path), budget)
    elif NAMES.fullmatch(data_path.name):
        yield data_path.name, read_lines(data_path, budget)
    else:
        for name, content in sorted(read_files(data_path, NAMES).items()):
            yield name, lines_of(content, name)


def everyday_corpus(
    data_path: Path | str | None = None, *, n_valid: int = N_VALID, n_test: int = N_TEST
) -> Corpus:
    """Everyday pairs in both directions, divided by families; fetched where no path is given.

    The training text holds each pair twice, once in each direction; the splits are
    "valid.de-en", "valid.en-de", "test.de-en" and "test.en-de".

    Raises:
        DataError: see `fetch_everyday`, `read_everyday` and `divided`.
    """
    read = read_everyday(fetch_everyday() if data_path is None else data_path)
    german, english = [list(side) for side in zip(*read.pairs, strict=True)]
    kept, dropped = clean(ParallelText(german, english, read.lines), max_words=60)
    pairs = list(zip(kept.source, kept.target, strict=True))
    origins = dict(zip(read.pairs, read.origins, strict=True))
    rows = Rows(pairs, [origins[pair] for pair in pairs])
    parts = divided(rows, n_valid, n_test)
    train, *both = (ask_both([pairs[i] for i in part]) for part in parts)
    splits = {
        f"{name}.{way}": text
        for name, texts in zip(("valid", "test"), both, strict=True)
        for way, text in texts.items()
    }
    lines = [kept.origins[i] for i in parts[0]]
    text = ParallelText.joined(replace(way, origins=lines) for way in train.values())
    metadata = {
        "source": "de and en",
        "target": "en and de",
        "pairs": len(read.pairs),
        **dropped.to_dict(),
        "train_pairs": len(parts[0]),
    }
    return Corpus(text, splits, metadata)


def ask_both(pairs: Sequence[tuple[str, str]]) -> dict[str, ParallelText]:
    """German and English pairs as a text for each direction."""
    german, english = [list(side) for side in zip(*pairs, strict=True)] or ([], [])
    return {
        "de-en": ParallelText(asking_for("en", german), english),
        "en-de": ParallelText(asking_for("de", english), german),
    }
