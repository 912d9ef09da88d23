"""TED talks of the IWSLT campaigns (2014, 2016, 2017): training text with tags, tests as XML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from transformer.data.archives import read_files
from transformer.data.parallel import DataError, ParallelText, decode

# In the training files every line that starts like a tag is about the talk, not of it.
TAG = re.compile(r"\s*<")
# "mteval", the format of the test sets. The files are no well-formed XML in every campaign, and a
# parser of XML would follow entities; what is asked of them is read here, tag by tag: a pattern
# that looks for the end of each beginning takes hours for a file of beginnings.
MTEVAL_TAG = re.compile(r"<(?P<end>/?)(?P<kind>doc|seg)\b(?P<attributes>[^<>]*)>", re.IGNORECASE)
NAMED = {
    "doc": re.compile(r"\bdocid=\"([^\"]*)\"", re.IGNORECASE),
    "seg": re.compile(r"\bid=\"([^\"]*)\"", re.IGNORECASE),
}

# What a test set may hold: the longest segment, in letters, and all its &amp; and the like.
LONGEST_SEGMENT, MOST_REFERENCES = 2**16, 100_000

Sides = dict[str, tuple[str, str]]  # language -> the file's name and its text


@dataclass(frozen=True)
class IWSLT:
    """What a folder or archive of a campaign holds for one pair of languages.

    Attributes:
        train: the training text, None where there is none.
        sets: the development and test sets, by names such as "TED.tst2014".
        metadata_lines: how many lines of the training files were about the talks.
    """

    train: ParallelText | None
    sets: dict[str, ParallelText]
    metadata_lines: int


def load_iwslt(data_path: Path | str, *, source: str = "de", target: str = "en") -> IWSLT:
    """Read a campaign's files from a folder, a .tgz or a .zip, whichever way they are nested.

    Args:
        data_path: where `train.tags.de-en.de` or `IWSLT16.TED.tst2014.de-en.de.xml` lie.
        source, target: the languages, as in the files' names; the files of both directions serve.

    Raises:
        DataError: there are no such files, or the two sides of one do not belong together.
    """
    if source == target:
        raise ValueError(f"source and target are both {source!r}; name two languages")
    names = re.escape(source), re.escape(target)
    pair = f"(?P<pair>{'-'.join(names)}|{'-'.join(reversed(names))})"
    side = f"(?P<side>{'|'.join(names)})"
    train = re.compile(rf"train\.tags\.{pair}\.{side}")
    test = re.compile(rf"IWSLT\d+\.(?P<set>[\w.]+)\.{pair}\.{side}\.xml")
    inner = re.compile(rf"{_unnamed(pair)}\.(?:tgz|tar\.gz|zip)")
    files = read_files(data_path, re.compile(f"{_unnamed(train)}|{_unnamed(test)}"), inner)
    directions: dict[str, dict[str, Sides]] = {}
    for name, content in sorted(files.items()):
        match = train.fullmatch(name) or test.fullmatch(name)
        assert match is not None
        key = match.groupdict().get("set", "")
        sides = directions.setdefault(key, {}).setdefault(match["pair"], {})
        earlier = sides.setdefault(match["side"], (name, decode(content, name)))
        if earlier[0] != name:
            raise DataError(
                f"{data_path} holds {earlier[0]} and {name}, the same text in two releases; "
                "keep one"
            )
    # Some releases hold both directions, with other talks; the one that was asked for comes first.
    asked = f"{source}-{target}"
    texts = {
        key: found.get(asked) or found[f"{target}-{source}"] for key, found in directions.items()
    }
    if not texts:
        raise DataError(
            f"{data_path} holds no IWSLT files of {source} and {target}: none is named "
            f"train.tags.{source}-{target}.{source} or IWSLT16.TED.tst2014.{source}-{target}."
            f"{source}.xml"
        )
    for sides in texts.values():
        for language in (source, target):
            if language not in sides:
                (name, _), *_ = sides.values()
                raise DataError(f"{data_path} holds {name}, but not its other side in {language!r}")
    both = {key: (sides[source], sides[target]) for key, sides in texts.items()}
    tagged = both.pop("", None)
    text, metadata = _tagged(*tagged) if tagged else (None, 0)
    return IWSLT(text, {key: _mteval(*sides) for key, sides in both.items()}, metadata)


def _unnamed(pattern: re.Pattern[str] | str) -> str:
    text = pattern if isinstance(pattern, str) else pattern.pattern
    return re.sub(r"\(\?P<\w+>", "(?:", text)


def _tagged(source: tuple[str, str], target: tuple[str, str]) -> tuple[ParallelText, int]:
    """The training text without the lines about the talks, and how many those were."""
    texts, n_lines = [], 0
    for _, text in (source, target):
        lines = text.removesuffix("\n").split("\n")
        texts.append([(n, line.strip()) for n, line in enumerate(lines, 1) if not TAG.match(line)])
        n_lines += len(lines)
    # Releases differ in what they tell about a talk on which side; its sentences must be as many.
    if len(texts[0]) != len(texts[1]):
        raise DataError(
            f"{source[0]} has {len(texts[0]):,} lines of text and {target[0]} {len(texts[1]):,}; "
            "they must be translations line by line: fetch both again from the same place"
        )
    sides = [[line for _, line in numbered] for numbered in texts]
    origins = [(source[0], n) for n, _ in texts[0]]
    return ParallelText(sides[0], sides[1], origins), n_lines - 2 * len(texts[0])


def _mteval(source: tuple[str, str], target: tuple[str, str]) -> ParallelText:
    """The segments of a set, those of the same document and number put together."""
    sides = [_segments(*side) for side in (source, target)]
    if sides[0].keys() != sides[1].keys():
        document, number = sorted(sides[0].keys() ^ sides[1].keys())[0]
        raise DataError(
            f"segment {number} of document {document} stands in only one of {source[0]} and "
            f"{target[0]}: they do not belong together"
        )
    return ParallelText(
        [segment for segment, _ in sides[0].values()],
        [sides[1][key][0] for key in sides[0]],
        [(source[0], line) for _, line in sides[0].values()],
    )


def _segments(name: str, text: str) -> dict[tuple[str, str], tuple[str, int]]:
    """Each segment and its line, by document and number."""
    if text.count("&") > MOST_REFERENCES:
        raise DataError(f"{name} holds more than {MOST_REFERENCES:,} &; it is no text")
    segments: dict[tuple[str, str], tuple[str, int]] = {}
    for document, number, segment, line in _numbered(text):
        if len(segment) > LONGEST_SEGMENT:
            raise DataError(
                f"segment {number[:40]} of {name} has more than {LONGEST_SEGMENT:,} letters"
            )
        try:
            segments[document, number] = unescape(" ".join(segment.split())), line
        except ValueError as error:  # a number of thousands of digits
            raise DataError(f"segment {number[:40]} of {name} has no such character") from error
    if not segments:
        raise DataError(f"{name} holds no <seg> within a <doc>; it is no mteval file")
    return segments


def _numbered(text: str) -> Iterator[tuple[str, str, str, int]]:
    """Document, number, content and line of each whole segment in each whole document."""
    document, number, start, line, counted = None, None, 0, 1, 0
    lines: list[tuple[str, str, str, int]] = []
    for tag in MTEVAL_TAG.finditer(text):
        line, counted = line + text.count("\n", counted, tag.start()), tag.start()
        kind, ends = tag["kind"].lower(), bool(tag["end"])
        if kind == "doc" and not ends:
            document, number, lines = _named(kind, tag["attributes"]), None, []
        elif kind == "doc":
            yield from lines
            document, number, lines = None, None, []
        elif not ends:
            number, start = _named(kind, tag["attributes"]), tag.end()
        elif document is not None and number is not None:
            lines.append((document, number, text[start : tag.start()], line))
            number = None


def _named(kind: str, attributes: str) -> str | None:
    """What a tag calls its document or segment."""
    match = NAMED[kind].search(attributes)
    return match[1] if match else None
