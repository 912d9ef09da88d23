"""Records an evaluation for the book: one model, several searches, and samples that rules choose.

Use: python -m tools.samples FOLDER --data FOLDER --out book/results/NAME.json

The first folder is a run, or a model that comes with the book. It translates the split greedily
and with beams. The samples are those of the paper's search, beam 4 with alpha 0.6, fixed here and
not chosen by any score; the other settings are recorded to show what they do.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer.batching import pad, token_batches
from transformer.data.parallel import DataError, ParallelText
from transformer.decoding import Hypothesis, beam_search, greedy_search
from transformer.decoding.beam import penalty
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
from transformer.head_measures import log_probabilities
from transformer.results import write_result
from transformer.runs import RunError, load_run
from transformer.runtime import pick_device, provenance, require_commit, without_folders
from transformer.tasks import chosen_split, multi30k_splits
from transformer.text import BOS_ID, EOS_ID
from transformer.translation import Search, Translator

BASELINE, JUDGED = "greedy", "beam 4"
ALPHA = 0.6  # section 6.1, as the beam of 4
WIDTHS = (2, 4, 8, 16, 32)
SEARCHES: dict[str, dict[str, Any]] = {
    BASELINE: {"beam_size": 1},
    **{f"beam {k}": {"beam_size": k, "length_penalty": ALPHA} for k in WIDTHS},
    **{f"beam {k}, α 0": {"beam_size": k, "length_penalty": 0.0} for k in WIDTHS},
    **{f"beam 4, α {a:g}": {"beam_size": 4, "length_penalty": a} for a in (0.3, 1.0, 2.0)},
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
        likeness: chrF of one search's translation held against the other's.
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


def found_by(
    translator: Translator, sources: Sequence[str], *, beam_size: int, length_penalty: float = 0.0
) -> tuple[list[str], list[float]]:
    """The translations, and the sum of the log-probabilities of each, the end mark's too."""

    def beams(model: Any, src: Any, *, max_len: int, **marks: Any) -> list[list[Hypothesis]]:
        """Beam search whose scores are sums again; what the limit cuts off has no end mark."""
        wanted: dict[str, Any] = {"beam_size": beam_size, "length_penalty": length_penalty}
        found = beam_search(model, src, max_len=max_len, **wanted, **marks)
        lengths = [min(len(best.tokens) + 1, max_len) for (best,) in found]
        return [
            [Hypothesis(best.tokens, best.score * penalty(length, length_penalty))]
            for (best,), length in zip(found, lengths, strict=True)
        ]

    search: Search = greedy_search if beam_size == 1 else beams
    found = translator.search(sources, search, rows=beam_size)
    return [best[0][0] for best in found], [best[0][1] for best in found]


def log_probability(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], max_tokens: int = 4096
) -> list[float]:
    """What the model thinks of given translations: the sum of log-probabilities of each."""
    model, encode = translator.model.eval(), translator.tokenizer.encode
    device = next(model.parameters()).device
    pairs = [(encode(s), encode(t)) for s, t in zip(sources, targets, strict=True)]
    sums = [0.0] * len(pairs)
    for group in token_batches(pairs, max_tokens):
        src = pad([[*pairs[i][0], EOS_ID] for i in group], model.config.pad_id)
        tgt = pad([[BOS_ID, *pairs[i][1], EOS_ID] for i in group], model.config.pad_id)
        logs = log_probabilities(model, src.to(device), tgt.to(device)).sum(1)
        for i, value in zip(group, logs.tolist(), strict=True):
            sums[i] = value
    return sums


def evaluate(
    translator: Translator, text: ParallelText, *, each: int = 5, n_resamples: int = 1000
) -> dict[str, Any]:
    """Translate with every search, score, and take samples; all but the provenance."""
    sources, references = list(text.source), list(text.target)
    outputs, sums = {}, {}
    for name, settings in SEARCHES.items():
        outputs[name], sums[name] = found_by(translator, sources, **settings)
    intervals = compare(outputs, references, n_resamples=n_resamples)
    systems = []
    for name, settings in SEARCHES.items():
        lengths = [counts[:2] for counts in bleu_counts(outputs[name], references)]
        systems.append(
            {
                "name": name,
                **settings,
                **score(outputs[name], references).to_dict(),
                "intervals": {m: i.to_dict() for m, i in intervals[name].items()},
                "length_ratio": round(sum(n for n, _ in lengths) / sum(n for _, n in lengths), 4),
                "words": round(sum(n for n, _ in lengths) / len(lengths), 3),
                "log_probability": round(sum(sums[name]) / len(lengths), 4),
            }
        )
    shown = (JUDGED, BASELINE)
    chrf = {name: sentence_chrf(outputs[name], references) for name in shown}
    english = {word for line in references for word in words_of(line.casefold())}
    features = [
        error_features(*sentence, translator.tokenizer, english)
        for sentence in zip(sources, outputs[JUDGED], references, strict=True)
    ]
    chosen = choose(chrf[JUDGED], sentence_chrf(outputs[JUDGED], outputs[BASELINE]), each)
    thought = {
        **{name: sums[name] for name in shown},
        "reference": log_probability(translator, sources, references),
        "nothing": log_probability(translator, sources, [""] * len(sources)),
    }
    return {
        "systems": systems,
        "baseline": BASELINE,
        "judged": JUDGED,
        "log_probability": {
            name: [round(x, 3) for x in values] for name, values in thought.items()
        },
        "equals_reference": [
            i
            for i, pair in enumerate(zip(outputs[JUDGED], references, strict=True))
            if pair[0] == pair[1]
        ],
        "bleu_counts": {name: bleu_counts(outputs[name], references) for name in shown},
        "sentence_chrf": {n: [round(x, 2) for x in values] for n, values in chrf.items()},
        "feature_rules": RULES,
        "features": features,
        "sample_rules": SAMPLES,
        "samples": [
            {
                "rule": rule,
                "line": i + 1,
                "source": sources[i],
                "reference": references[i],
                "translations": {name: outputs[name][i] for name in shown},
                "chrf": {name: round(chrf[name][i], 1) for name in shown},
                "features": features[i],
            }
            for rule, indices in chosen.items()
            for i in indices
        ],
    }


def parser_of(tool: str, doc: str | None) -> argparse.ArgumentParser:
    """The options of a tool that records how a model translates a split of Multi30k."""
    parser = argparse.ArgumentParser(prog=f"python -m {tool}", description=doc)
    parser.add_argument("folder", type=Path, help="of a run, or book/models/NAME")
    parser.add_argument("--data", type=Path, help="Multi30k's folder; downloaded if left out")
    parser.add_argument("--split", default="test_2016_flickr")
    parser.add_argument("--sentences", type=int, help="only the first so many")
    parser.add_argument("--device", help="cpu, cuda, mps; the best one by default")
    parser.add_argument("--out", type=Path, required=True)
    return parser


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    parser = parser_of("tools.samples", __doc__)
    parser.add_argument("--each", type=int, default=5, help="samples for each rule")
    given = parser.parse_args(arguments)
    try:
        result = record(given)
        write_result(given.out, result)
    except (ValueError, DataError, RunError, FileError) as error:
        print(error, file=sys.stderr)
        return 1
    for system in result["systems"]:
        print(f"{system['name']:14} BLEU {system['bleu']:5.2f}  chrF {system['chrf']:5.2f}")
    print(f"Recorded in {given.out}")
    return 0


def record(given: argparse.Namespace) -> dict[str, Any]:
    """The whole record: provenance, data, model, and what `evaluate` finds."""
    if given.each < 1:
        raise ValueError("--each must be at least 1")
    origin, translator, text = subject("tools.samples", given)
    origin["data"]["licence"] = LICENCE
    return {**origin, **evaluate(translator, text, each=given.each)}


def subject(
    tool: str, given: argparse.Namespace
) -> tuple[dict[str, Any], Translator, ParallelText]:
    """What a record is about: where it comes from, the model, and the text to translate."""
    if given.sentences is not None and given.sentences < 1:
        raise ValueError("--sentences must be at least 1")
    device = pick_device(given.device)
    origin = provenance(device)
    require_commit(origin["commit"], "the record", "then record")
    translator, run = load_run(given.folder, device)
    text = chosen_split(multi30k_splits(given.data), given.split)
    text = ParallelText(text.source[: given.sentences], text.target[: given.sentences])
    described = {
        **origin,
        "command": " ".join([f"python -m {tool}", *map(without_folders, sys.argv[1:])]),
        "data": {
            "name": "multi30k",
            "split": given.split,
            "n_sentences": len(text),
        },
        "model": {key: run[key] for key in ("command", "commit", "averaged") if key in run},
    }
    return described, translator, text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
