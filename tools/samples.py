"""Records an evaluation for the book: systems compared, and samples that rules choose.

Use: python -m tools.samples NAME=RUN_FOLDER... --data FOLDER --out book/results/NAME.json

Each folder's model translates the split greedily and with beams; the first folder's greedy search
is what the others are compared with. The samples are those of the system with the highest BLEU.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer.data.parallel import DataError, ParallelText
from transformer.evaluation import (
    RULES,
    bleu_counts,
    compare,
    error_features,
    score,
    sentence_chrf,
    words_of,
)
from transformer.files import FileError
from transformer.results import write_result
from transformer.runs import RunError, load_run
from transformer.runtime import pick_device, provenance, require_commit, without_folders
from transformer.tasks import chosen_split, multi30k_splits
from transformer.translation import Translator

GREEDY: dict[str, Any] = {"beam_size": 1}
PAPER: dict[str, Any] = {"beam_size": 4, "length_penalty": 0.6}  # section 6.1
SEARCHES = {
    "greedy": GREEDY,
    "beam 4": PAPER,
    "beam 4, α 0": {"beam_size": 4, "length_penalty": 0.0},
    "beam 4, α 1": {"beam_size": 4, "length_penalty": 1.0},
}
LICENCE = (
    "Multi30k (Elliott et al. 2016), made from Flickr30k (Young et al. 2014): for research and "
    "education, not for commercial use; a few sentences are quoted here, with attribution"
)
SAMPLES = {
    "worst": "the lowest chrF",
    "best": "the highest chrF",
    "median": "chrF nearest to the median of all sentences",
    "stride": "every n-th sentence of the test set, whatever its chrF",
    "differ": "the greedy and the other translation have the least in common, by chrF",
}


def choose(chrf: Sequence[float], likeness: Sequence[float], each: int) -> dict[str, list[int]]:
    """The indices of the sentences that each rule of `SAMPLES` takes, `each` for every rule.

    Sentences of equal rank come in the order of the test set.

    Args:
        chrf: of each sentence.
        likeness: chrF of one system's translation held against the other's.
    """
    indices = range(len(chrf))
    middle = sorted(chrf)[len(chrf) // 2]
    return {
        "worst": sorted(indices, key=lambda i: chrf[i])[:each],
        "best": sorted(indices, key=lambda i: -chrf[i])[:each],
        "median": sorted(indices, key=lambda i: abs(chrf[i] - middle))[:each],
        "stride": list(indices[:: max(1, len(chrf) // each)])[:each],
        "differ": sorted(indices, key=lambda i: likeness[i])[:each],
    }


def evaluate(
    models: dict[str, Translator], text: ParallelText, *, each: int = 5, n_resamples: int = 1000
) -> dict[str, Any]:
    """Translate with every model and search, score, and take samples; all but the provenance."""
    outputs, seconds, found = {}, {}, {}
    for model_name, translator in models.items():
        for search_name, search in SEARCHES.items():
            name = f"{model_name}, {search_name}"
            start = time.perf_counter()
            outputs[name] = translator.translate(text.source, **search)
            seconds[name] = time.perf_counter() - start
            found[name] = (model_name, search_name)
    references = list(text.target)
    scores = {name: score(translations, references) for name, translations in outputs.items()}
    intervals = compare(outputs, references, n_resamples=n_resamples)
    baseline = next(iter(outputs))
    best = max(scores, key=lambda name: scores[name].bleu)
    systems = []
    for name, (model_name, search_name) in found.items():
        lengths = [counts[:2] for counts in bleu_counts(outputs[name], references)]
        systems.append(
            {
                "name": name,
                "model": model_name,
                "search": search_name,
                **SEARCHES[search_name],
                **scores[name].to_dict(),
                "intervals": {m: i.to_dict() for m, i in intervals[name].items()},
                "length_ratio": round(sum(n for n, _ in lengths) / sum(n for _, n in lengths), 4),
                "seconds": round(seconds[name], 2),
                "seconds_ratio": round(seconds[name] / seconds[baseline], 2),
            }
        )
    # Greedy search of the best model beside it, or the paper's beam where greedy itself is best.
    model_name, search_name = found[best]
    other = f"{model_name}, {'beam 4' if search_name == 'greedy' else 'greedy'}"
    chrf = {name: sentence_chrf(outputs[name], references) for name in (best, other)}
    english = {word for line in references for word in words_of(line.casefold())}
    features = [
        error_features(*sentence, models[model_name].tokenizer, english)
        for sentence in zip(text.source, outputs[best], references, strict=True)
    ]
    chosen = choose(chrf[best], sentence_chrf(outputs[best], outputs[other]), each)
    return {
        "systems": systems,
        "baseline": baseline,
        "best": best,
        "other": other,
        "bleu_counts": {
            name: bleu_counts(outputs[name], references) for name in dict.fromkeys((baseline, best))
        },
        "sentence_chrf": {n: [round(x, 2) for x in values] for n, values in chrf.items()},
        "feature_rules": RULES,
        "features": features,
        "sample_rules": SAMPLES,
        "samples": [
            {
                "rule": rule,
                "line": i + 1,
                "source": text.source[i],
                "reference": references[i],
                "translations": {name: outputs[name][i] for name in (best, other)},
                "chrf": {name: round(chrf[name][i], 1) for name in (best, other)},
                "features": features[i],
            }
            for rule, indices in chosen.items()
            for i in indices
        ],
    }


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.samples", description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="NAME=RUN_FOLDER")
    parser.add_argument("--data", type=Path, help="Multi30k's folder; downloaded if left out")
    parser.add_argument("--split", default="test_2016_flickr")
    parser.add_argument("--sentences", type=int, help="only the first so many")
    parser.add_argument("--each", type=int, default=5, help="samples for each rule")
    parser.add_argument("--device", help="cpu, cuda, mps; the best one by default")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        result = record(given)
        write_result(given.out, result)
    except (ValueError, DataError, RunError, FileError) as error:
        print(error, file=sys.stderr)
        return 1
    for system in result["systems"]:
        print(f"{system['name']:30} BLEU {system['bleu']:5.2f}  chrF {system['chrf']:5.2f}")
    print(f"Recorded in {given.out}")
    return 0


def record(given: argparse.Namespace) -> dict[str, Any]:
    """The whole record: provenance, data, models, and what `evaluate` finds."""
    folders = dict(_named(argument) for argument in given.folders)
    if len(folders) < len(given.folders):
        raise ValueError("two folders have the same name; write NAME=FOLDER with different names")
    if given.each < 1 or (given.sentences is not None and given.sentences < 1):
        raise ValueError("--each and --sentences must be at least 1")
    device = pick_device(given.device)
    origin = provenance(device)
    require_commit(origin["commit"], "the record", "then record")
    text = chosen_split(multi30k_splits(given.data), given.split)
    text = ParallelText(text.source[: given.sentences], text.target[: given.sentences])
    runs = {name: load_run(folder, device) for name, folder in folders.items()}
    return {
        **origin,
        "command": " ".join(["python -m tools.samples", *map(without_folders, sys.argv[1:])]),
        "data": {
            "name": "multi30k",
            "split": given.split,
            "n_sentences": len(text),
            "licence": LICENCE,
        },
        "models": {
            name: {key: run[key] for key in ("command", "commit", "averaged") if key in run}
            for name, (_, run) in runs.items()
        },
        **evaluate({name: run[0] for name, run in runs.items()}, text, each=given.each),
    }


def _named(argument: str) -> tuple[str, Path]:
    name, equals, folder = argument.partition("=")
    return (name, Path(folder)) if equals else (Path(argument).name, Path(argument))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
