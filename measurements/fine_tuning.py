"""The shipped everyday model, trained on with talks, with captions, and with all three kinds.

Each of the four is scored on the test set of each kind, with how far it is ahead of the first one
there. Talks and captions forbid commercial use, so these models are measured and thrown away.
"""

import random
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU

from measurements.everyday_model import some
from measurements.parts import Parts
from transformer.data.corpora import iwslt_corpus
from transformer.data.everyday import asking_for, everyday_corpus
from transformer.data.multi30k import load_multi30k
from transformer.data.parallel import ParallelText
from transformer.evaluation import bleu_counts, score
from transformer.runs import train_task
from transformer.tasks.start import Start
from transformer.tasks.task import Recipe, build_task
from transformer.translation import Translator

from transformer_book.shipped import shipped_folder

CAMPAIGN = "iwslt16"
JUDGED = 1000  # pairs of a test set, at most
RECIPE = Recipe(
    model={"dropout": 0.2},
    training={"steps": 600, "max_tokens": 1024, "warmup": 50, "factor": 0.1, "cooldown": 0.8}
    | {"log_every": 50},
)
DRAWS = 1000  # test sets


def asked(text: ParallelText) -> ParallelText:
    """German to English, as the everyday model reads it."""
    return ParallelText(asking_for("en", text.source), list(text.target))


def together(texts: Mapping[str, ParallelText]) -> ParallelText:
    """As many pairs of each kind as there are of the rarest."""
    least = min(map(len, texts.values()))
    parts = [some(text, least) for text in texts.values()]
    pairs = [pair for text in parts for pair in zip(text.source, text.target, strict=True)]
    random.Random(0).shuffle(pairs)
    return ParallelText.of_pairs(pairs)


def ahead(tuned: list[list[int]], first: list[list[int]]) -> list[float]:
    """The middle 95 % of the gain in BLEU on resampled test sets, from both `bleu_counts`."""
    drawn = np.random.default_rng(0).integers(len(first), size=(DRAWS, len(first)))

    def scores(counts: list[list[int]]) -> list[float]:
        sums = np.array(counts)[drawn].sum(axis=1).tolist()
        return [BLEU.compute_bleu(s[2:6], s[6:], s[0], s[1], "exp").score for s in sums]

    ends = np.quantile(np.subtract(scores(tuned), scores(first)), (0.025, 0.975))
    return [round(float(end), 2) for end in ends]


def run(
    data: Path,
    *,
    sentences: int = JUDGED,
    steps: int = RECIPE.training["steps"],
    parts: Path | None = None,
) -> dict[str, Any]:
    """The scores of the shipped model and of three that it has become.

    Args:
        data: a folder that holds everyday/, multi30k/ and iwslt16/.
        sentences: of each test set, at most.
        steps: of training, for each of the three.
        parts: where finished parts are kept.
    """
    torch.set_num_threads(1)
    everyday = everyday_corpus(data / "everyday")
    talks = iwslt_corpus(CAMPAIGN, data / CAMPAIGN)
    captions = load_multi30k(data / "multi30k")
    (test_set,) = talks.metadata["test_sets"]
    n_pairs = everyday.metadata["train_pairs"]
    texts = {
        "everyday": ParallelText(everyday.train.source[:n_pairs], everyday.train.target[:n_pairs]),
        "talks": asked(talks.train),
        "captions": asked(captions.train),
    }
    tests = {
        "everyday": everyday.splits["test.de-en"],
        "talks": asked(talks.splits[test_set]),
        "captions": asked(captions.splits["test_2016_flickr"]),
    }
    start = Start.load(shipped_folder())
    settings = {"steps": steps, "sentences": sentences, "recipe": vars(RECIPE)}
    part = Parts(parts, settings)

    def scored(translator: Translator) -> dict[str, Any]:
        found: dict[str, Any] = {"scores": {}, "counts": {}}
        for name, text in tests.items():
            chosen = some(text, sentences)
            outputs = translator.translate(chosen.source)
            found["scores"][name] = score(outputs, chosen.target).to_dict()
            found["counts"][name] = bleu_counts(outputs, chosen.target)
        return found

    def tuned(text: ParallelText) -> dict[str, Any]:
        began = time.process_time()
        recipe = RECIPE.overridden(start.sizes, {"steps": steps})
        task = build_task("everyday", start.tokenizer, text, {}, recipe).starting_from(start)
        translator, metrics = train_task(task, device="cpu", show_progress=False)
        return {
            "pairs": len(text),
            "epochs": metrics[-1]["epoch"],
            "cpu_seconds": round(time.process_time() - began),
            **scored(translator),
        }

    models = {
        "everyday": part("everyday", lambda: scored(Translator(start.model, start.tokenizer)))
    }
    for name, text in (
        ("then talks", texts["talks"]),
        ("then captions", texts["captions"]),
        ("then all three", together(texts)),
    ):
        models[name] = part(name, partial(tuned, text))
    counts = {name: model.pop("counts") for name, model in models.items()}
    for name in models.keys() - {"everyday"}:
        models[name]["ahead"] = {
            kind: ahead(each, counts["everyday"][kind]) for kind, each in counts[name].items()
        }
    return {
        "start": {"name": start.name, "test_sets": {"talks": test_set}},
        "settings": settings,
        "models": models,
    }


def table(result: dict[str, Any]) -> str:
    """BLEU: a line for each model, a column for each test set."""
    return "\n".join(
        f"{name:16}"
        + "".join(f"  {kind} {one['bleu']:5.1f}" for kind, one in row["scores"].items())
        for name, row in result["models"].items()
    )
