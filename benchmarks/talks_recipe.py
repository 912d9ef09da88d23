"""What ten thousand pairs of talks need: a recipe, and what each of its ingredients gives.

Use: python -m benchmarks.talks_recipe --data FOLDER --captions FOLDER --out FILE.json [LINE ...]

The first folder holds the development and test sets of IWSLT 2016, the second one Multi30k. Each
line is one training run; it differs from the recipe in what its name says and in nothing else.
Lines that the file has are skipped, a run that was killed goes on from its last checkpoint, so that
the same command is given again and again until all lines are there; two processes may share the
file where each is given lines of its own. Everything is chosen on the
validation pairs: the weights, the length penalty and, by whoever reads the record, the recipe.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from transformer.batching import TokenPair
from transformer.data.cleaning import n_words
from transformer.data.corpora import NEWEST_SET, Corpus, iwslt_corpus, with_more
from transformer.data.multi30k import load_multi30k
from transformer.data.parallel import DataError, ParallelText
from transformer.files import FileError, read_json
from transformer.results import write_result
from transformer.runs import RunError, average_run, load_run, train_task
from transformer.runtime import pick_device, provenance, require_commit, without_folders
from transformer.shipped import shipped_folder
from transformer.tasks import Recipe, Start, Task, build_task
from transformer.tasks.task import encode
from transformer.text import BPETokenizer
from transformer.training import validation_loss
from transformer.translation import Translator

CAMPAIGN = "iwslt16"
TEST_SET = NEWEST_SET[CAMPAIGN]
CAPTION_TEST = "test_2016_flickr"
RUNS = Path("runs", "talks_recipe")
LARGEST = 2**24  # bytes

STEPS = 4000
EVERY = 100  # steps between two checkpoints, of which the last KEEP are averaged
KEEP = 5
BEAM, PENALTIES = 5, (0.6, 1.0, 1.4)
# The recipe. The rate climbs to 1e-3 in 200 steps: 0.226 * (d_model * 200)^-0.5.
RECIPE = Recipe(
    vocab_size=4000,
    model={"d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 3, "norm": "pre"}
    | {"dropout": 0.2, "attention_dropout": 0.0, "word_dropout": 0.1},
    training={"steps": STEPS, "max_tokens": 1024, "warmup": 200, "factor": 0.226, "cooldown": 0.8}
    | {"label_smoothing": 0.1, "precision": "bf16", "log_every": EVERY, "evaluate_every": 5 * EVERY}
    | {"checkpoint_every": EVERY, "keep": KEEP},
)


@dataclass(frozen=True)
class Line:
    """A line of the table: what differs from the recipe.

    Attributes:
        model, training: settings in place of the recipe's.
        vocab_size: in place of the recipe's.
        start: whether the run begins with the book's model of captions.
        text: what it learns from: "talks", "both" (the captions too), or "captions" (as many of
            them as there are pairs of talks, judged by captions).
        together: no run, but an ensemble of these lines' runs, with the weights that each kept.
    """

    model: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    vocab_size: int = RECIPE.vocab_size
    start: bool = True
    text: str = "talks"
    together: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What differs, ready for JSON."""
        return {
            **self.model,
            **self.training,
            "vocab_size": self.vocab_size,
            "start": self.start,
            "text": self.text,
            **({"together": list(self.together)} if self.together else {}),
        }


# The best of the short lines at the length of the best long one, three times.
BEST = {
    f"three times as long, vocabulary 16,000{of_seed}": Line(
        training={"steps": 3 * STEPS} | seed, vocab_size=16_000
    )
    for of_seed, seed in (("", {}), (", seed 1", {"seed": 1}), (", seed 2", {"seed": 2}))
}

# In the order of what they are worth to somebody who has to stop after some of them.
LINES: dict[str, Line] = {
    "recipe": Line(),
    # The first lines that were recorded began with the book's model as it was trained; it is in 8
    # bits since. The recipe again, beside which those stand that began with these.
    "recipe, rounded weights": Line(),
    "drawn weights": Line(start=False),
    "captions mixed in, drawn weights": Line(start=False, text="both"),
    "10,298 captions, drawn weights": Line(start=False, text="captions"),
    "no word dropout": Line({"word_dropout": 0.0}),
    "dropout 0.1": Line({"dropout": 0.1}),
    "dropout 0.3": Line({"dropout": 0.3}),
    "vocabulary 2,000": Line(vocab_size=2000),
    "vocabulary 8,000": Line(vocab_size=8000),
    "vocabulary 16,000": Line(vocab_size=16_000),
    "label smoothing 0": Line(training={"label_smoothing": 0.0}),
    "label smoothing 0.2": Line(training={"label_smoothing": 0.2}),
    "attention dropout 0.2": Line({"attention_dropout": 0.2}),
    "three times as long": Line(training={"steps": 3 * STEPS}),
    "three times as long, no word dropout": Line({"word_dropout": 0.0}, {"steps": 3 * STEPS}),
    **BEST,
    "three seeds together": Line(
        training={"steps": 3 * STEPS}, vocab_size=16_000, together=tuple(BEST)
    ),
    # What was best on the validation pairs at both lengths, put together.
    "three times as long, vocabulary 16,000, no word dropout": Line(
        {"word_dropout": 0.0}, {"steps": 3 * STEPS}, vocab_size=16_000
    ),
    "captions mixed in": Line(text="both"),
    "three times as long, drawn weights": Line(training={"steps": 3 * STEPS}, start=False),
    "2 heads, drawn weights": Line({"n_heads": 2}, start=False),
    "8 heads, drawn weights": Line({"n_heads": 8}, start=False),
    "2 layers, drawn weights": Line({"n_layers": 2}, start=False),
    "5 layers, drawn weights": Line({"n_layers": 5}, start=False),
}
QUOTED, QUOTED_WORDS = 5, (6, 12)  # so many sentences are quoted, with so many German words


def captions_as_many(folder: Path, n_pairs: int) -> Corpus:
    """The first captions, as many as there are talks, and the captions that judge them."""
    found = load_multi30k(folder)
    train = ParallelText(found.train.source[:n_pairs], found.train.target[:n_pairs])
    splits = {"valid": found.splits["valid"], CAPTION_TEST: found.splits[CAPTION_TEST]}
    metadata = {"source": "de", "target": "en", "pairs": n_pairs, "train_pairs": len(train)}
    return Corpus(train, splits, metadata)


def corpus_of(line: Line, talks: Corpus, captions: Path) -> Corpus:
    """What a line learns from and is judged by."""
    if line.text == "captions":
        return captions_as_many(captions, len(talks.train))
    return with_more(talks, captions) if line.text == "both" else talks


def task_of(line: Line, corpus: Corpus, recipe: Recipe = RECIPE) -> Task:
    """The line as a task; its vocabulary is learned from all that it trains on."""
    texts = [*corpus.train.source, *corpus.train.target]
    tokenizer = BPETokenizer.train(texts, line.vocab_size)
    task = build_task(
        "iwslt16",
        tokenizer,
        corpus.train,
        corpus.splits,
        recipe,
        model_settings=line.model,
        training_settings=line.training,
        metadata={**corpus.metadata, "vocab_size": tokenizer.vocab_size},
    )
    return task.starting_from(Start.load(shipped_folder())) if line.start else task


def chosen_sentences(test: ParallelText) -> list[dict[str, Any]]:
    """Those that are quoted, whatever a model makes of them: short ones, evenly over the set."""
    low, high = QUOTED_WORDS
    short = [i for i, text in enumerate(test.source) if low <= n_words(text) <= high]
    middles = [(2 * k + 1) * len(short) // (2 * QUOTED) for k in range(QUOTED if short else 0)]
    return [
        {"index": i, "source": test.source[i], "reference": test.target[i]}
        for i in dict.fromkeys(short[k] for k in middles)
    ]


def nll_of(translator: Translator, pairs: Sequence[TokenPair]) -> dict[str, float]:
    """Of references: nats a token, and nats a sentence, which vocabularies do not change."""
    a_token = validation_loss(translator.searched, pairs, smoothing=0.0)["valid_nll"]
    n_tokens = sum(len(target) + 1 for _, target in pairs)
    return {"a token": round(a_token, 4), "a sentence": round(a_token * n_tokens / len(pairs), 2)}


def folder_of(name: str, runs: Path) -> Path:
    """Where a line trains."""
    return runs / name.replace(",", "").replace(" ", "-")


def weights_of(folder: Path) -> dict[str, Translator]:
    """A finished run's two choices of weights."""
    average = folder / f"average-{KEEP}"
    if not average.exists():
        average_run(folder, KEEP)
    return {"last": load_run(folder)[0], "average": load_run(average)[0]}


def judged(
    translators: Mapping[str, Translator], task: Task, quoted: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The scores of one of these: all choices on the validation pairs, the test set once."""
    valid, (name, test) = task.splits["valid"], list(task.splits.items())[1]
    pairs = encode(task.tokenizer, valid)
    nll = {weights: nll_of(translator, pairs) for weights, translator in translators.items()}
    best = min(nll, key=lambda weights: nll[weights]["a sentence"])
    translator = translators[best]

    def scored(text: ParallelText, **search: Any) -> dict[str, Any]:
        return translator.evaluate(text.source, text.target, **search).to_dict()

    beams = {f"{a:g}": scored(valid, beam_size=BEAM, length_penalty=a) for a in PENALTIES}
    penalty = max(beams, key=lambda a: float(beams[a]["bleu"]))
    search: dict[str, Any] = {"beam_size": BEAM, "length_penalty": float(penalty)}
    outputs = translator.translate([str(s["source"]) for s in quoted], **search)
    return {
        "nll": nll,
        "weights": best,
        "valid greedy": scored(valid),
        "valid beam": beams,
        "penalty": float(penalty),
        "test": {"set": name, "greedy": scored(test), "beam": scored(test, **search)},
        "outputs": outputs if name == TEST_SET else [],
    }


def run_line(
    name: str, corpus: Corpus, quoted: Sequence[Mapping[str, Any]], runs: Path = RUNS
) -> dict[str, Any]:
    """Train a line, or go on with it, and judge it."""
    task = task_of(LINES[name], corpus)
    folder = folder_of(name, runs)
    if not (folder / "model.safetensors").exists():
        resume = (folder / "config.json").exists()  # killed before its first checkpoint, too
        evaluate = task.evaluator(n_sentences=len(task.splits["valid"]))
        # The same attention as plain matrix products: the fused kernel's backward pass is so slow
        # in bf16 on a CPU that it takes a fifth of a step.
        with sdpa_kernel(SDPBackend.MATH):
            train_task(
                task, folder, resume=resume, device="cpu", evaluate=evaluate, show_progress=False
            )
    config = read_json(folder / "config.json")
    require_commit(config["commit"], str(folder), "remove it and train again")
    metrics = [json.loads(x) for x in (folder / "metrics.jsonl").read_text().splitlines()]
    about = ("commit", "versions", "hardware", "threads", "precision", "start", "resumed")
    return {
        "line": LINES[name].to_dict(),
        "epochs": round(metrics[-1]["epoch"], 2),
        "tokens": sum_of_tokens(metrics),
        "seconds": metrics[-1]["seconds"],
        "parameters": task_parameters(folder),
        "data": config["data"],
        **{key: config[key] for key in about if key in config},
        **judged(weights_of(folder), task, quoted),
        "curve": [m for m in metrics if "bleu" in m],
        "losses": [[m["step"], round(m["loss"], 4)] for m in metrics],
    }


def judge_together(
    name: str,
    corpus: Corpus,
    quoted: Sequence[Mapping[str, Any]],
    done: Mapping[str, Any],
    runs: Path = RUNS,
) -> dict[str, Any]:
    """The scores of finished lines as an ensemble; its costs are those of all of them.

    Raises:
        ValueError: one of them is not finished, or has learned another vocabulary.
    """
    line = LINES[name]
    if missing := [other for other in line.together if other not in done]:
        raise ValueError(f"{name!r} needs the line {missing[0]!r}; train it first")
    parts = [done[other] for other in line.together]
    folders = [folder_of(other, runs) for other in line.together]
    if len({(folder / "tokenizer.json").read_bytes() for folder in folders}) > 1:
        raise ValueError(f"the lines of {name!r} have learned different vocabularies; name others")
    first, *others = (
        weights_of(folder)[part["weights"]] for folder, part in zip(folders, parts, strict=True)
    )
    together = Translator(first.model, first.tokenizer, [other.model for other in others])
    return {
        "line": line.to_dict(),
        **{key: parts[0][key] for key in ("epochs", "data", "start") if key in parts[0]},
        **{key: sum(part[key] for part in parts) for key in ("tokens", "seconds", "parameters")},
        **judged({"together": together}, task_of(LINES[line.together[0]], corpus), quoted),
    }


def sum_of_tokens(metrics: Sequence[Mapping[str, Any]]) -> int:
    """The target tokens that a run has learned from, by its reports of speed and time."""
    seconds = [0.0, *(m["seconds"] for m in metrics)]
    spans = (after - before for before, after in pairwise(seconds))
    return round(sum(m["tokens_per_second"] * s for m, s in zip(metrics, spans, strict=True)))


def task_parameters(folder: Path) -> int:
    """The trained numbers of a finished run."""
    return load_run(folder)[0].model.n_parameters()


def earlier(out: Path) -> dict[str, Any]:
    """The lines that the file has.

    Raises:
        ValueError: it is there, and is not what this command writes.
    """
    if not out.exists():
        return {}
    found = read_json(out, LARGEST)
    if not isinstance(found, dict) or not isinstance(found.get("lines"), dict):
        raise ValueError(f"{out} holds no lines of this benchmark; name another file")
    return dict(found["lines"])


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.talks_recipe",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("lines", nargs="*", metavar="LINE", help="all of them if none is named")
    parser.add_argument("--data", type=Path, required=True, help="the folder of IWSLT 2016")
    parser.add_argument("--captions", type=Path, required=True, help="the folder of Multi30k")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    # The command that makes the whole file, whichever lines this one is for.
    paths = (without_folders(str(path)) for path in (given.data, given.captions, given.out))
    data, captions, out = map(shlex.quote, paths)
    command = f"python -m benchmarks.talks_recipe --data {data} --captions {captions} --out {out}"
    if unknown := [name for name in given.lines if name not in LINES]:
        parser.error(f"no line {unknown[0]!r}; there are: {'; '.join(LINES)}")
    torch.set_num_threads(1)
    try:
        origin = provenance(pick_device("cpu"))
        require_commit(origin["commit"], "the record", "then record")
        earlier(given.out)  # refused now, and not after the first line
        talks = iwslt_corpus(CAMPAIGN, given.data, test_sets=[TEST_SET])
        quoted = chosen_sentences(talks.splits[TEST_SET])

        def write(done: Mapping[str, Any]) -> None:
            result = {
                **{**origin, "command": command},
                "data": talks.metadata,
                "recipe": {"vocab_size": RECIPE.vocab_size, **RECIPE.model, **RECIPE.training},
                "planned": list(LINES),
                "quoted": quoted,
                "lines": {line: done[line] for line in LINES if line in done},
            }
            write_result(given.out, result)

        for name in given.lines or LINES:
            if name in earlier(given.out):
                print(f"{name}: done before", flush=True)
                continue
            line = LINES[name]
            trained = LINES[line.together[0]] if line.together else line
            corpus = corpus_of(trained, talks, given.captions)
            if line.together:
                found = judge_together(name, corpus, quoted, earlier(given.out))
            else:
                found = run_line(name, corpus, quoted)
            write({**earlier(given.out), name: found})  # with what another process has written
            test = found["test"]
            print(f"{name}: {test['set']} BLEU {test['beam']['bleu']:.2f}", flush=True)
        found = read_json(given.out, LARGEST)
        if (found.get("planned"), found.get("command")) != (list(LINES), command):
            write(earlier(given.out))  # nothing was trained, but other lines are planned today
    except (ValueError, DataError, FileError, RunError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
