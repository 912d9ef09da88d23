"""Parsing with few trees and with many (section 6.3): one model, one task, two sizes of training.

As in the paper, dropout is chosen on a development set, for each size by itself; then three
seeds train on each size. Judged by bracketing F1 on unseen sentences, on a construction that
training never shows, and on longer sentences, beside two parsers that learn almost nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from measurements.parts import Parts
from measurements.timing import limited_threads
from transformer.data.parallel import ParallelText
from transformer.data.toy_german import Treebank, toy_treebank
from transformer.evaluation import MARKS, bracket_counts, bracketing
from transformer.runs import train_task
from transformer.tasks import Task, parsing_task
from transformer.text.trees import WORD, read_tree, spans
from transformer.translation import Translator

SIZES, SEEDS = (1_000, 40_000), (0, 1, 2)
DROPOUTS, SEARCH_SEED = (0.0, 0.2), 100  # the seed of the search is not used again
N_TEST = 500  # sentences of each test set
STEPS = 1200
SHOWN = 5  # the first sentences of each test set, with what the first seed made of them
PARTS = Path("runs", "parsing.json")

Parser = Callable[[Sequence[str]], str]


# Trained ------------------------------------------------------------------------------------


def trained(
    bank: Treebank, trees: int, dropout: float, seed: int, steps: int
) -> tuple[Task, Translator, dict[str, Any]]:
    """A model after its training, with its last loss and the seconds that it took."""
    settings = {"steps": steps, "seed": seed, "evaluate_every": 0}
    task = parsing_task({"dropout": dropout}, settings, trees=trees, bank=bank)
    translator, metrics = train_task(task, device="cpu", show_progress=False)
    last = metrics[-1]
    return task, translator, {"loss": round(last["loss"], 4), "seconds": round(last["seconds"], 1)}


def search(bank: Treebank, trees: int, dropout: float, steps: int) -> dict[str, Any]:
    """One dropout, judged on the development set."""
    task, translator, report = trained(bank, trees, dropout, SEARCH_SEED, steps)
    valid = task.splits["valid"]
    f1 = bracketing(valid.source, translator.translate(valid.source), valid.target).f1
    return {"trees": trees, "dropout": dropout, "f1": round(f1, 2), **report}


def final_run(bank: Treebank, trees: int, dropout: float, seed: int, steps: int) -> dict[str, Any]:
    """One seed, judged on the test sets."""
    task, translator, report = trained(bank, trees, dropout, seed, steps)
    outputs = {name: translator.translate(text.source) for name, text in tests(task.splits).items()}
    return {
        "trees": trees,
        "seed": seed,
        "dropout": dropout,
        "parameters": translator.model.n_parameters(),
        **report,
        "splits": {
            name: bracketing(task.splits[name].source, found, task.splits[name].target).to_dict()
            for name, found in outputs.items()
        },
        "by_length": by_length(task.splits, outputs),
        **({"shown": shown(task.splits, outputs)} if seed == SEEDS[0] else {}),
    }


def tests(splits: dict[str, ParallelText]) -> dict[str, ParallelText]:
    """The splits that nothing was chosen by."""
    return {name: text for name, text in splits.items() if name != "valid"}


def by_length(
    splits: dict[str, ParallelText], outputs: dict[str, list[str]]
) -> dict[int, list[int]]:
    """By the number of words: sentences, right, proposed and wanted constituents.

    The test sets with known constructions, short sentences and long ones.
    """
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name in ("test", "test_longer"):
        for sentence, output, reference in zip(
            splits[name].source, outputs[name], splits[name].target, strict=True
        ):
            counts = (1, *bracket_counts(sentence, output, reference))
            n = len(sentence.split())
            sums[n] = [a + b for a, b in zip(sums[n], counts, strict=True)]
    return dict(sorted(sums.items()))


def shown(
    splits: dict[str, ParallelText], outputs: dict[str, list[str]]
) -> dict[str, list[dict[str, str]]]:
    """The first sentences of each test set, whatever came of them."""
    return {
        name: [
            {"sentence": sentence, "output": output, "reference": reference}
            for sentence, output, reference in zip(
                splits[name].source[:SHOWN], found, splits[name].target, strict=False
            )
        ]
        for name, found in outputs.items()
    }


# Not trained --------------------------------------------------------------------------------


def right_branching(bank: Treebank) -> Parser:
    """Every word opens a constituent that reaches to the end, under the most frequent labels.

    One label for the whole sentence, one for all constituents inside it that end with it.
    """
    whole: Counter[str] = Counter()
    inner: Counter[str] = Counter()
    for pair in bank.train:
        found = spans(read_tree(pair.brackets.split(), pair.target).tree, MARKS)
        whole[found[0].label] += 1
        inner.update(span.label for span in found[1:] if span.end == found[0].end)
    first, other = (labels.most_common(1)[0][0] for labels in (whole, inner))

    def parse(words: Sequence[str]) -> str:
        tokens, opened = [f"({first}"], 0
        for i, word in enumerate(words):
            if i and word not in MARKS:
                tokens.append(f"({other}")
                opened += 1
            tokens.append(WORD)
        return " ".join([*tokens, *[f"){other}"] * opened, f"){first}"])

    return parse


def most_frequent(bank: Treebank) -> Parser:
    """The tree that most training sentences with as many words have.

    Right-branching where training has no sentence of the length.
    """
    trees: dict[int, Counter[str]] = defaultdict(Counter)
    for pair in bank.train:
        trees[len(pair.target)][pair.brackets] += 1
    otherwise = right_branching(bank)

    def parse(words: Sequence[str]) -> str:
        known = trees.get(len(words))
        return known.most_common(1)[0][0] if known else otherwise(words)

    return parse


def untrained(bank: Treebank, splits: dict[str, ParallelText]) -> dict[str, Any]:
    """What the two give on each test set."""
    parsers = {"right-branching": right_branching(bank), "most frequent tree": most_frequent(bank)}
    return {
        name: {
            split: bracketing(
                text.source, [parse(line.split()) for line in text.source], text.target
            ).to_dict()
            for split, text in tests(splits).items()
        }
        for name, parse in parsers.items()
    }


def already_seen(bank: Treebank, trees: int) -> dict[str, float]:
    """The share of each test set whose tree, words aside, stands in the training trees."""
    known = {pair.brackets for pair in bank.train[:trees]}
    sets = {name: getattr(bank, name) for name in ("test", "test_constructions", "test_longer")}
    return {
        name: round(sum(pair.brackets in known for pair in pairs) / len(pairs), 4)
        for name, pairs in sets.items()
    }


# All of it ----------------------------------------------------------------------------------


def settings_of(quick: bool) -> dict[str, Any]:
    """The sizes of everything."""
    if quick:
        return {"sizes": (300, 3000), "test": 4, "steps": 2, "seeds": (0,), "dropouts": (0.0,)}
    sizes = {"sizes": SIZES, "test": N_TEST, "steps": STEPS}
    return {**sizes, "seeds": SEEDS, "dropouts": DROPOUTS}


def run(quick: bool = False, parts: Path | None = PARTS) -> dict[str, Any]:
    """Search, train and judge.

    Args:
        quick: whether all of it is only tried, in small.
        parts: where finished parts are kept; a run that was interrupted goes on from there.
    """
    sizes = settings_of(quick)
    part = Parts(None if quick else parts, sizes)
    bank = toy_treebank(max(sizes["sizes"]), sizes["test"], sizes["test"])
    steps = sizes["steps"]
    with limited_threads(1) as threads:
        searched = [
            part(f"search {trees} {dropout}", partial(search, bank, trees, dropout, steps))
            for trees in sizes["sizes"]
            for dropout in sizes["dropouts"]
        ]
        best = {
            trees: max((s for s in searched if s["trees"] == trees), key=lambda s: s["f1"])
            for trees in sizes["sizes"]
        }
        results = [
            part(
                f"judged {trees} {seed}",
                partial(final_run, bank, trees, best[trees]["dropout"], seed, steps),
            )
            for trees in sizes["sizes"]
            for seed in sizes["seeds"]
        ]
    task = parsing_task(training={"steps": steps}, bank=bank, trees=max(sizes["sizes"]))
    return {
        "seed": sizes["seeds"][0],
        "threads": threads,
        "model": task.config.to_dict(),
        "steps": steps,
        "max_tokens": task.training.max_tokens,
        "test_sentences": {name: len(text) for name, text in tests(task.splits).items()},
        "search": searched,
        "untrained": untrained(bank, task.splits),
        "seen": {trees: already_seen(bank, trees) for trees in sizes["sizes"]},
        "results": results,
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    names = list(result["test_sentences"])
    lines = [
        "Bracketing F1",
        f"{'trees':>20} {'seed':>4} " + " ".join(f"{name:>18}" for name in names),
    ]
    for r in result["results"]:
        scores = " ".join(f"{r['splits'][name]['f1']:>18.1f}" for name in names)
        lines.append(f"{r['trees']:>20,} {r['seed']:>4} {scores}")
    for baseline, splits in result["untrained"].items():
        scores = " ".join(f"{splits[name]['f1']:>18.1f}" for name in names)
        lines.append(f"{baseline:>20} {'':>4} {scores}")
    return "\n".join(lines)
