"""What it is worth to read translations back: noisy-channel reranking with the everyday model.

The weights are chosen on all validation pairs, by the mean BLEU of both directions. A bonus for
each token may already be worth something without any reading back: it is the baseline, with a
bonus chosen by itself.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measurements.everyday_model import BEAM, WAYS, from_elsewhere, some
from measurements.fine_tuning import ahead
from transformer.data.everyday import asking_for, everyday_corpus
from transformer.data.own_sentences import sources_and_references
from transformer.evaluation import bleu_counts, score

from transformer_book.both_ways import CANDIDATES, Candidate, TwoWayTranslator

BACKWARD = (0.0, 0.1, 0.2, 0.4)
PER_TOKEN = (0.0, 0.1, 0.2, 0.3, 0.4)
SENTENCES = 10_000  # of each set, at most: all of them
BASELINE, BONUS, READ = "beam 4", "beam 12, a bonus", "beam 12, read back"
Weights = tuple[float, float]


def run(
    model: Path, *, data: Path | None = None, tests: Path | None = None, sentences: int = SENTENCES
) -> dict[str, Any]:
    """The weights that validation chooses, and what they are worth on text that was not asked.

    Args:
        model: a folder with `BothWays` beside the weights.
        data: of the task everyday.
        tests: a folder of tables NAME.tsv.gz, German and English; those of Tatoeba are read.
        sentences: of each set, at most.
    """
    two = TwoWayTranslator.load(model)
    splits = {**everyday_corpus(data).splits, **from_elsewhere(tests, "tatoeba*")}
    sets: dict[str, tuple[Sequence[str], list[Sequence[str]]]] = {
        name: (text.source, [text.target])
        for name, whole in splits.items()
        for text in [some(whole, sentences)]
    }
    for way, target in zip(WAYS, ("en", "de"), strict=True):
        sources, references = sources_and_references(target)
        sets[f"own sentences.{way}"] = asking_for(target, sources), [*references]
    valid = {name: sets.pop(name) for name in [f"valid.{way}" for way in WAYS]}
    found = [(two.candidates(sources), references) for sources, references in valid.values()]
    grid = {
        (backward, bonus): [
            score(chosen(each, (backward, bonus)), *refs).bleu for each, refs in found
        ]
        for backward in BACKWARD
        for bonus in PER_TOKEN
    }
    bonus_alone = max((w for w in grid if not w[0]), key=lambda w: sum(grid[w]))
    best = max(grid, key=lambda w: sum(grid[w]))
    return {
        "candidates": CANDIDATES,
        "valid": [
            {"backward": w[0], "per_token": w[1], **dict(zip(WAYS, bleu, strict=True))}
            for w, bleu in grid.items()
        ],
        "chosen": {BONUS: bonus_alone, READ: best},
        "sets": {
            name: compared(two, sources, references, bonus_alone, best)
            for name, (sources, references) in sets.items()
        },
    }


def compared(
    two: TwoWayTranslator,
    sources: Sequence[str],
    references: Sequence[Sequence[str]],
    bonus_alone: Weights,
    best: Weights,
) -> dict[str, Any]:
    """Scores of each way to choose, and how far reading back is ahead: 95 % intervals of BLEU."""
    begin = time.perf_counter()
    narrow = two.translate(sources, beam_size=BEAM)
    between = time.perf_counter()
    candidates = two.candidates(sources)
    seconds = {BASELINE: between - begin, READ: time.perf_counter() - between}
    systems = {
        BASELINE: narrow,
        "beam 12": [each[0].text for each in candidates],
        BONUS: chosen(candidates, bonus_alone),
        READ: chosen(candidates, best),
    }
    counts = {}
    if len(references) == 1:  # BLEU's counts do not add up over several
        counts = {name: bleu_counts(found, references[0]) for name, found in systems.items()}
    return {
        "scores": {
            name: score(outputs, *references).to_dict() for name, outputs in systems.items()
        },
        "ahead_of": {
            name: ahead(counts[READ], each) for name, each in counts.items() if name != READ
        },
        "changed": sum(a != b for a, b in zip(narrow, systems[READ], strict=True)),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
    }


def chosen(found: Sequence[Sequence[Candidate]], weights: Weights) -> list[str]:
    """The best candidate of each sentence by these weights, backward and per token."""
    return [max(each, key=lambda c: c.score(*weights)).text for each in found]


def table(result: dict[str, Any]) -> str:
    """A line for each set and way to choose."""
    lines = [f"{name}: backward {b}, per token {p}" for name, (b, p) in result["chosen"].items()]
    for name, one in result["sets"].items():
        lines += [
            f"{name:26} {way:20} BLEU {scores['bleu']:5.2f}  chrF {scores['chrf']:5.2f}"
            for way, scores in one["scores"].items()
        ]
        lines.append(f"{'':26} ahead of: {one['ahead_of']}")
    return "\n".join(lines)
