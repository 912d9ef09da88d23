"""Corpora in the formats of the real ones, which their licences keep out of this repository.

The files have the real names, headers, tags, escapes and compression; the sentences are toy
German, of our own grammar, and few.
"""

import gzip
import random
from html import escape
from pathlib import Path

from transformer.data.toy_german import generate

CAPTIONS = {
    "train": 600,
    "val": 60,
    "test_2016_flickr": 40,
    "test_2017_flickr": 40,
    "test_2017_mscoco": 30,
    "test_2018_flickr": 40,
}
TALKS = (
    *(f"TED.{name}" for name in ("dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014")),
    *(f"TEDX.{name}" for name in ("dev2012", "tst2013", "tst2014")),
)
# Two talks a set; what a real talk has now and then, each has once.
TALK = 24
UNUSUAL = ("A & B < C > D .", "A & B < C > D .")
SIDES = {"de": ("srcset", ""), "en": ("refset", ' trglang="english" refid="ref"')}


def written(words: tuple[str, ...]) -> str:
    """A sentence as people write it."""
    text = " ".join(words)
    for mark in (".", ",", "?"):
        text = text.replace(f" {mark}", mark)
    return text[0].upper() + text[1:]


def sentences(n: int, seed: str) -> list[tuple[str, str]]:
    """Pairs of sentences, German first, none twice."""
    rng = random.Random(seed)
    found: dict[str, str] = {}
    while len(found) < n:
        pair = generate(rng)
        found.setdefault(written(pair.source), written(pair.target))
    return list(found.items())


def mteval(name: str, language: str, talks: list[list[tuple[str, str]]]) -> str:
    """A test set as IWSLT writes it."""
    group, target = SIDES[language]
    side = list(SIDES).index(language)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<mteval>"]
    lines.append(f'<{group} setid="iwslt2016-{name}" srclang="german"{target}>')
    for number, talk in enumerate(talks, start=1):
        lines.append(f'<doc docid="{number}" genre="lectures">')
        lines.append(f"<url>http://talks.example/{number}</url>")
        lines.append(f"<description>{escape(talk[0][side])}</description>")
        lines.append("<keywords>grammar,toys</keywords>")
        lines.append(f"<talkid>{number}</talkid>")
        lines.append(f"<title>{escape(talk[1][side])}</title>")
        for segment, pair in enumerate(talk, start=1):
            text = escape(pair[side], quote=False)
            lines.append(f'<seg id="{segment}"> {text} </seg>')
        lines.append("</doc>")
    return "\n".join([*lines, f"</{group}>", "</mteval>", ""])


def write_excerpt(folder: Path) -> Path:
    """Fills a folder with `multi30k/` and `iwslt16/`, and returns it."""
    (folder / "multi30k").mkdir()
    for name, size in CAPTIONS.items():
        for language, lines in zip(SIDES, zip(*sentences(size, name), strict=True), strict=True):
            content = "".join(f"{line}\n" for line in lines).encode()
            (folder / f"multi30k/{name}.{language}.gz").write_bytes(gzip.compress(content, mtime=0))
    (folder / "iwslt16").mkdir()
    for name in TALKS:
        pairs = sentences(2 * TALK, name)
        talks = [[*pairs[:TALK], UNUSUAL], pairs[TALK:]]
        for language in SIDES:
            path = folder / f"iwslt16/IWSLT16.{name}.de-en.{language}.xml"
            path.write_text(mteval(name, language, talks), encoding="utf-8")
    return folder
