"""How good the everyday model is, on texts that it has not seen, and what its doubt is worth.

Where doubt begins is chosen on validation pairs (`doubt_of`, which `publish_model` asks too), and
judged here on test pairs, and on fifty inputs that are neither English nor German.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from transformer.data.corpora import Corpus
from transformer.data.everyday import ask_both, asking_for, everyday_corpus
from transformer.data.own_sentences import sources_and_references
from transformer.data.parallel import ParallelText, read_lines
from transformer.evaluation import score, sentence_chrf
from transformer.translation import Translator

from transformer_book.both_ways import BothWays, TwoWayTranslator, leaning, without_direction

ELSEWHERE = Path(__file__).with_name("elsewhere.txt")  # other languages, gibberish, markup
BAD = 35  # chrF: what is below shares hardly more than letters with all of its references
FALSE_WARNINGS = 0.1  # of the translations that are not bad
WAYS = ("de-en", "en-de")
COUNTED = 40_000  # training pairs, whose tokens are counted by language
JUDGED = 1000  # pairs in each direction
BEAM = 4


def run(
    model: Path, *, data: Path | None = None, tests: Path | None = None, sentences: int = JUDGED
) -> dict[str, Any]:
    """Scores on all test sets, and what warnings catch.

    Args:
        model: a folder that `publish_model` has made, or one with `BothWays` beside the weights.
        data: of the task everyday.
        tests: a folder of tables NAME.tsv.gz, German and English, for texts from elsewhere.
        sentences: of each set, at most.
    """
    two = TwoWayTranslator.load(model)
    splits = {
        name: text
        for name, text in everyday_corpus(data).splits.items()
        if name.startswith("test.")
    }
    splits |= from_elsewhere(tests)
    scores = {name: scored(two, text, sentences) for name, text in splits.items()}
    for way, target in zip(WAYS, ("en", "de"), strict=True):
        sources, references = sources_and_references(target)
        outputs = two.translate(asking_for(target, sources), beam_size=BEAM)
        scores[f"own sentences.{way}"] = score(outputs, *references).to_dict()
    return {
        "scores": scores,
        "language": languages_found(two, [splits[f"test.{way}"] for way in WAYS]),
        "doubt": {way: doubt(two, splits[f"test.{way}"], sentences) for way in WAYS},
    }


def from_elsewhere(tests: Path | None, names: str = "*") -> dict[str, ParallelText]:
    """The tables NAME.tsv.gz of a folder, asked for in both directions: NAME.de-en and NAME.en-de.

    Args:
        names: a pattern for those that are read.
    """
    found: dict[str, ParallelText] = {}
    for path in sorted(tests.glob(f"{names}.tsv.gz")) if tests else []:
        rows = [line.split("\t") for line in read_lines(path)]
        pairs = [(german, english) for german, english, *_ in rows]
        found |= {f"{path.name[:-7]}.{way}": text for way, text in ask_both(pairs).items()}
    return found


def scored(two: Translator, text: ParallelText, most: int) -> dict[str, Any]:
    """BLEU and chrF of a beam of four, on as many of the pairs as are asked for, drawn once."""
    chosen = some(text, most)
    outputs = two.translate(chosen.source, beam_size=BEAM)
    return score(outputs, chosen.target).to_dict()


def some(text: ParallelText, most: int) -> ParallelText:
    """At most so many of the pairs, the same ones each time."""
    rows = list(zip(text.source, text.target, strict=True))
    kept = random.Random(0).sample(rows, min(most, len(rows)))
    return ParallelText(*map(list, zip(*kept, strict=True)))


def languages_found(two: TwoWayTranslator, texts: Sequence[ParallelText]) -> dict[str, Any]:
    """How many sentences are asked in their own direction when they do not name one."""
    asked = [line for text in texts for line in text.source]
    right = sum(two.asked(without_direction(line)) == line for line in asked)
    return {"sentences": len(asked), "right": right}


def doubt(two: TwoWayTranslator, text: ParallelText, most: int) -> dict[str, Any]:
    """What warnings catch: bad translations of these pairs, and inputs in neither language."""
    means, bad = judged(two, text, most)
    arrow = text.source[0].split(" ", 1)[0]
    strange = [f"{arrow} {line}" for line in read_lines(ELSEWHERE)]
    warned = means < two.ways.unsure_below
    return {
        "pairs": len(means),
        "bad": int(bad.sum()),
        "area_under_curve": round(area(-means, bad), 3),
        "bad_caught": round(float(warned[bad].mean()), 3) if bad.any() else None,
        "false_warnings": round(float(warned[~bad].mean()), 3) if (~bad).any() else None,
        "elsewhere": len(strange),
        "elsewhere_caught": sum(two.unsure(strange)),
    }


def judged(two: TwoWayTranslator, text: ParallelText, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean log-probability of each translation, and whether it is bad.

    A sentence of Tatoeba has several translations: it is judged by the one that is nearest.
    """
    known: defaultdict[str, list[str]] = defaultdict(list)
    for source, target in zip(text.source, text.target, strict=True):
        known[source].append(target)
    sources = some(ParallelText(list(known), list(known)), most).source
    outputs = two.translate(sources)
    best = [
        max(sentence_chrf([output] * len(known[source]), known[source]))
        for source, output in zip(sources, outputs, strict=True)
    ]
    return np.array(two.confidence(sources)), np.array(best) < BAD


def area(signs: np.ndarray, of: np.ndarray) -> float:
    """The area under the curve: how often a bad one's sign is above a good one's; a tie is half."""
    good, bad = np.sort(signs[~of]), signs[of]
    below, not_above = (np.searchsorted(good, bad, side=side) for side in ("left", "right"))
    return float(np.mean((below + not_above) / 2) / len(good))


def doubt_of(translator: Translator, corpus: Corpus, sentences: int = JUDGED) -> BothWays:
    """Which tokens lean to German, by training pairs, and where doubt begins, by validation pairs.

    Raises:
        ValueError: none of the validation pairs is translated well enough to be sure of.
    """
    directed = some(corpus.train, COUNTED)
    texts: dict[str, list[str]] = {"de": [], "en": []}
    for source, target in zip(directed.source, directed.target, strict=True):
        arrow, text = source.split(" ", 1)
        into, other = ("en", "de") if arrow == "\N{RIGHTWARDS ARROW}en" else ("de", "en")
        texts[into].append(target)
        texts[other].append(text)
    ways = BothWays(leaning(translator.tokenizer, texts["de"], texts["en"]), 0.0)
    two = TwoWayTranslator(translator.model, translator.tokenizer, ways)
    both = [judged(two, corpus.splits[f"valid.{way}"], sentences) for way in WAYS]
    sure = np.concatenate([means[~bad] for means, bad in both])
    if not len(sure):
        raise ValueError("every translation of the validation pairs is bad; has it been trained?")
    return replace(ways, unsure_below=round(float(np.quantile(sure, FALSE_WARNINGS)), 3))


def table(result: dict[str, Any]) -> str:
    """A line for each test set, and what the warnings are worth."""
    lines = [
        f"{name:34} BLEU {one['bleu']:5.1f}  chrF {one['chrf']:5.1f}  ({one['n_sentences']:,})"
        for name, one in result["scores"].items()
    ]
    language = result["language"]
    lines.append(f"language found out: {language['right']:,} of {language['sentences']:,}")
    for way, one in result["doubt"].items():
        lines.append(
            f"{way}: area under the curve {one['area_under_curve']}, of {one['bad']} bad "
            f"translations {one['bad_caught']:.0%} caught at {one['false_warnings']:.0%} false "
            f"warnings; of {one['elsewhere']} inputs from elsewhere {one['elsewhere_caught']}"
        )
    return "\n".join(lines)
