"""Records for the book what talks are like, and what can be had on them without training.

Use: python -m tools.talks --data FOLDER --out book/results/talks.json

FOLDER holds the development and test sets of IWSLT 2016. The lengths are those of all pairs but the
newest test set's; on that set two baselines are scored: the German sentence left as it is, and what
the book's model of captions makes of it.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from transformer.data.cleaning import n_words
from transformer.data.corpora import NEWEST_SET
from transformer.data.iwslt import load_iwslt
from transformer.data.parallel import DataError, ParallelText
from transformer.evaluation import score
from transformer.files import FileError
from transformer.results import write_result
from transformer.runtime import pick_device, provenance, require_commit, without_folders
from transformer.shipped import shipped_model
from transformer.translation import Translator

CAMPAIGN = "iwslt16"
TEST_SET = NEWEST_SET[CAMPAIGN]


def lengths(texts: Iterable[ParallelText]) -> list[list[int]]:
    """How many pairs have so many words on each side: [source words, target words, pairs]."""
    counts = Counter(
        (n_words(source), n_words(target))
        for text in texts
        for source, target in zip(text.source, text.target, strict=True)
    )
    return [[*words, count] for words, count in sorted(counts.items())]


def baselines(test: ParallelText, translator: Translator) -> dict[str, dict[str, Any]]:
    """The scores of the source left as it is, and of a model that was trained on other text."""
    outputs = {
        "German, left as it is": list(test.source),
        "the model of captions": translator.translate(test.source),
    }
    return {name: score(output, test.target).to_dict() for name, output in outputs.items()}


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.talks", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of IWSLT 2016")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        origin = provenance(pick_device("cpu"))
        require_commit(origin["commit"], "the record", "then record")
        sets = load_iwslt(given.data).sets
        if TEST_SET not in sets:
            raise DataError(f"{given.data} holds no set {TEST_SET}; there are {', '.join(sets)}")
        others = [text for name, text in sets.items() if name != TEST_SET]
        result = {
            **origin,
            "command": " ".join(["python -m tools.talks", *map(without_folders, arguments)]),
            "data": {"campaign": CAMPAIGN, "test_set": TEST_SET, "pairs": sum(map(len, others))},
            "baselines": baselines(sets[TEST_SET], shipped_model()),
            "lengths": lengths(others),
        }
        write_result(given.out, result)
    except (ValueError, DataError, FileError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, scores in result["baselines"].items():
        print(f"{name:22} BLEU {scores['bleu']:5.2f}  chrF {scores['chrf']:5.2f}")
    print(f"Recorded in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
