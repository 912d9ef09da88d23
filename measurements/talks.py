"""What talks are like, and what can be had on them without training.

The data are the development and test sets of IWSLT 2016. The lengths are those of all pairs but the
newest test set's; on that set two baselines are scored: the German sentence left as it is, and what
the book's model of everyday sentences makes of it.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from transformer.data.cleaning import n_words
from transformer.data.corpora import NEWEST_SET
from transformer.data.iwslt import load_iwslt
from transformer.data.parallel import DataError, ParallelText
from transformer.evaluation import paired_bootstrap, score
from transformer.translation import Translator

from transformer_book.shipped import shipped_model

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
        "the model of everyday sentences": translator.translate(test.source),
    }
    spread = paired_bootstrap(outputs, test.target)
    return {
        name: score(output, test.target).to_dict() | {"interval": spread[name]["bleu"].to_dict()}
        for name, output in outputs.items()
    }


def run(data: Path) -> dict[str, Any]:
    """The lengths, and the scores of the baselines.

    Raises:
        DataError: the folder does not hold the test set, or no talks at all.
    """
    sets = load_iwslt(data).sets
    if TEST_SET not in sets:
        raise DataError(f"{data} holds no set {TEST_SET}; there are {', '.join(sets)}")
    others = [text for name, text in sets.items() if name != TEST_SET]
    return {
        "data": {"campaign": CAMPAIGN, "test_set": TEST_SET, "pairs": sum(map(len, others))},
        "baselines": baselines(sets[TEST_SET], shipped_model()),
        "lengths": lengths(others),
    }


def table(result: dict[str, Any]) -> str:
    """The scores of the baselines."""
    return "\n".join(
        f"{name:22} BLEU {scores['bleu']:5.2f}  chrF {scores['chrf']:5.2f}"
        for name, scores in result["baselines"].items()
    )
