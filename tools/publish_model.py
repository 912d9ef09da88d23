"""Makes a finished run a model that comes with the book: small weights and a model card.

Use: python -m tools.publish_model RUN_FOLDER book/models/NAME [--data FOLDER]
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from transformer.data.parallel import DataError, ParallelText
from transformer.files import FileError, write_atomically
from transformer.runs import RunError, load_run, score_name
from transformer.runtime import require_commit
from transformer.tasks import multi30k_splits, toy_german_splits
from transformer.translation import Translator
from transformer.weights import save_model

LARGEST = 16 * 2**20  # bytes of weights that a clone of the repository may cost
BEAMS = (1, 4)


@dataclass(frozen=True)
class Subject:
    """What a model card says of the task, with the texts that the model is judged by.

    Attributes:
        splits: makes these texts; takes the folder with the data.
        tokens: of its vocabulary.
        score: what its table of scores shows, "bleu" or "exact".
    """

    title: str
    purpose: str
    tokens: str
    data: str
    score: str
    limits: str
    splits: Callable[[Path | None], dict[str, ParallelText]]


SUBJECTS = {
    "multi30k": Subject(
        title="A small Transformer for German captions",
        purpose="""\
Translates German captions of photographs into English. It comes with the book so that every reader
has a trained model to look into: no download, no training.""",
        tokens="byte-pair tokens",
        data="""\
The 29,000 training pairs of Multi30k (Elliott et al. 2016), task 1: captions of Flickr30k and their
translations. The captions are given for research and education, not for commercial use, and so are
these weights, which were learned from them: see `LICENSE-Multi30k.md` beside this folder.""",
        score="bleu",
        limits="""\
It has read nothing but captions: short sentences in the present tense about people, dogs and what
they do outdoors. Other text it translates badly, and fluently so. What it has learned about people,
it has learned from what describers of photographs assume. It is there to be looked into.""",
        splits=lambda data: multi30k_splits(data),
    ),
    "toy": Subject(
        title="A small Transformer for toy German",
        purpose="""\
Translates the sentences of a small grammar of German into English. It comes with the book so that a
page can look into a model that has learned its task whole, without training it for minutes.""",
        tokens="words",
        data="""\
Sentence pairs that `transformer/data/toy_german` draws from a grammar of our own: from one seed the
same ones wherever it runs. They are part of the project, as these weights are: MIT licence.""",
        score="exact",
        limits="""\
It knows the words and the sentences of its grammar, and no German that people write. Of sentences
longer than those that it was trained on it gets many wrong. It is there to be looked into.""",
        splits=lambda data: toy_german_splits(),
    ),
}


def publish(run: Path, out: Path, data: Path | None) -> dict[str, Any]:
    """Write weights in 8 bits, tokenizer, settings, scores and model card; return the scores.

    The scores are those of the rounded weights, read back from the files.

    Raises:
        RunError, ValueError, FileError, DataError: nothing is written then.
    """
    translator, run_config = load_run(run)
    require_commit(run_config["commit"], str(run), "train again")
    if run_config["task"] not in SUBJECTS:
        raise ValueError(
            f"{run} learned the task {run_config['task']}; there are cards for "
            f"{', '.join(SUBJECTS)}"
        )
    if out.exists():
        raise ValueError(f"{out} is there already; remove it, or name another folder")
    splits = SUBJECTS[run_config["task"]].splits(data)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as unfinished:
        made = Path(unfinished, out.name)
        made.mkdir()
        translator.save(made)
        weights = made / "model.safetensors"
        save_model(weights, translator.model, in_8_bits=True)
        if (size := weights.stat().st_size) > LARGEST:
            raise ValueError(
                f"the weights take {size / 2**20:.1f} MB, more than {LARGEST / 2**20:.0f}; "
                "publish a smaller model"
            )
        rounded = Translator.load(made)
        scores = {
            score_name(name, beam): rounded.evaluate(
                text.source, text.target, beam_size=beam
            ).to_dict()
            for name, text in splits.items()
            for beam in BEAMS
        }
        for name, content in (
            ("config.json", json.dumps(run_config, indent=2)),
            ("scores.json", json.dumps(scores, indent=2)),
            ("README.md", card(run_config, scores, rounded.model.n_parameters(), size)),
        ):
            write_atomically(made / name, (content.rstrip() + "\n").encode())
        made.rename(out)
    return scores


def card(run_config: dict[str, Any], scores: dict[str, Any], n_parameters: int, size: int) -> str:
    """The model card: what it is, where it comes from, how good it is, what it is not for."""
    subject, config, versions = (
        SUBJECTS[run_config["task"]],
        run_config["config"],
        run_config["versions"],
    )
    averaged = run_config.get("averaged")
    mean = (
        f"These weights are the mean of its last {len(averaged)} checkpoints. " if averaged else ""
    )
    remark = f"The run was {run_config['remark']}. " if "remark" in run_config else ""
    signature = next(iter(scores.values()))["signature"]
    shown = {
        name: f"{score['bleu']:.1f}" if subject.score == "bleu" else f"{score['exact']:.1%}"
        for name, score in scores.items()
    }
    rows = "\n".join(
        f"| {name} | {shown[name]} | {shown[f'{name} beam 4']} |"
        for name in scores
        if not name.endswith("beam 4")
    )
    shape = (
        f"Encoder-decoder Transformer, {n_parameters:,} parameters: {config['n_layers']} layers, "
        f"d_model {config['d_model']}, d_ff {config['d_ff']}, {config['n_heads']} heads, "
        f"{config['norm']}-norm, {config['positions']} positions, one vocabulary of "
        f"{config['src_vocab_size']:,} {subject.tokens} for both languages. Weights: safetensors, "
        f"matrices in 8 bits with a scale for each row, {size / 2**20:.1f} MB."
    )
    origin = (
        f"Commit {run_config['commit']}, seed {run_config['training']['seed']}, "
        f"{run_config['training']['steps']:,} steps on {run_config['hardware']} "
        f"({run_config['threads']} {'thread' if run_config['threads'] == 1 else 'threads'}), "
        f"Python {run_config['python']}, torch {versions['torch']}, tokenizers "
        f"{versions['tokenizers']}. {mean}{remark}All settings: `config.json`."
    )
    weights = "the rounded weights as they lie here"
    judged = {
        "bleu": f"sacreBLEU of {weights}, signature `{signature}`.",
        "exact": f"The share of sentences that {weights} translate without a mistake.",
    }
    return f"""# {subject.title}

{subject.purpose}

## Model

{fill(shape, 100, break_on_hyphens=False)}

## Training

```
{run_config["command"]}
```

{fill(origin, 100, break_on_hyphens=False)}

## Data

{subject.data}

## Scores

{judged[subject.score]}

| test set | greedy | beam 4 |
| --- | --- | --- |
{rows}

## Limits

{subject.limits}
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.publish_model", description=__doc__)
    parser.add_argument("run", type=Path, help="a finished run, or the mean of its checkpoints")
    parser.add_argument("out", type=Path, help="the folder to make")
    parser.add_argument("--data", type=Path, help="folder of Multi30k's .gz files; else downloaded")
    options = parser.parse_args(arguments)
    try:
        scores = publish(options.run, options.out, options.data)
    except (ValueError, RunError, FileError, DataError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, score in scores.items():
        print(f"{name}: BLEU {score['bleu']:.1f}, {score['exact']:.1%} exactly right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
