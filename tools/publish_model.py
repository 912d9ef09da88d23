"""Makes a finished run the model that comes with the book: small weights and a model card.

Use: python -m tools.publish_model RUN_FOLDER book/models/NAME --data FOLDER
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from textwrap import fill
from typing import Any

from transformer.data.parallel import DataError
from transformer.files import FileError, write_atomically
from transformer.runs import RunError, load_run, score_name
from transformer.tasks import multi30k_splits
from transformer.translation import Translator
from transformer.weights import model_tensors, save_tensors

LARGEST = 16 * 2**20  # bytes of weights that a clone of the repository may cost
BEAMS = (1, 4)


def publish(run: Path, out: Path, data: Path | None) -> dict[str, Any]:
    """Write weights in float16, tokenizer, facts, scores and model card; return the scores.

    The scores are those of the rounded weights, read back from the files.

    Raises:
        RunError, ValueError, FileError, DataError: nothing is written then.
    """
    translator, facts = load_run(run)
    if str(facts["commit"]).endswith("dirty"):
        raise ValueError(f"{run} was trained by files that no commit holds: commit, train again")
    if facts["task"] != "multi30k":
        raise ValueError(f"{run} learned the task {facts['task']}; the card describes multi30k")
    if out.exists():
        raise ValueError(f"{out} is there already; remove it, or name another folder")
    splits = multi30k_splits(data)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as unfinished:
        made = Path(unfinished, out.name)
        made.mkdir()
        translator.save(made)
        halves = {name: t.half() for name, t in model_tensors(translator.model).items()}
        weights = made / "model.safetensors"
        save_tensors(weights, halves, {"config": translator.model.config.to_dict()})
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
            ("config.json", json.dumps(facts, indent=2)),
            ("scores.json", json.dumps(scores, indent=2)),
            ("README.md", card(facts, scores, rounded.model.n_parameters(), size)),
        ):
            write_atomically(made / name, (content.rstrip() + "\n").encode())
        made.rename(out)
    return scores


def card(facts: dict[str, Any], scores: dict[str, Any], n_parameters: int, size: int) -> str:
    """The model card: what it is, where it comes from, how good it is, what it is not for."""
    config, versions = facts["config"], facts["versions"]
    averaged = facts.get("averaged")
    mean = (
        f"These weights are the mean of its last {len(averaged)} checkpoints. " if averaged else ""
    )
    remark = f"The run was {facts['remark']}. " if "remark" in facts else ""
    signature = next(iter(scores.values()))["signature"]
    rows = "\n".join(
        f"| {name} | {scores[name]['bleu']:.1f} | {scores[f'{name} beam 4']['bleu']:.1f} |"
        for name in scores
        if not name.endswith("beam 4")
    )
    shape = (
        f"Encoder-decoder Transformer, {n_parameters:,} parameters: {config['n_layers']} layers, "
        f"d_model {config['d_model']}, d_ff {config['d_ff']}, {config['n_heads']} heads, "
        f"{config['norm']}-norm, {config['positions']} positions, one vocabulary of "
        f"{config['src_vocab_size']:,} byte-pair tokens for both languages. Weights: safetensors, "
        f"float16, {size / 2**20:.1f} MB."
    )
    origin = (
        f"Commit {facts['commit']}, seed {facts['training']['seed']}, "
        f"{facts['training']['steps']:,} steps on {facts['hardware']} "
        f"({facts['threads']} threads), "
        f"Python {facts['python']}, torch {versions['torch']}, tokenizers "
        f"{versions['tokenizers']}. {mean}{remark}All settings: `config.json`."
    )
    return f"""# A small Transformer for German captions

Translates German captions of photographs into English. It comes with the book so that every reader
has a trained model to look into: no download, no training.

## Model

{fill(shape, 100, break_on_hyphens=False)}

## Training

```
{facts["command"]}
```

{fill(origin, 100, break_on_hyphens=False)}

## Data

The 29,000 training pairs of Multi30k (Elliott et al. 2016), task 1: captions of Flickr30k and their
translations. The data are free for research and education, not for commercial use; the weights were
learned from them, and are given for the same purposes.

## Scores

sacreBLEU of the rounded weights as they lie here, signature `{signature}`.

| test set | greedy | beam 4 |
| --- | --- | --- |
{rows}

## Limits

It has read nothing but captions: short sentences in the present tense about people, dogs and what
they do outdoors. Other text it translates badly, and fluently so. What it has learned about people,
it has learned from what describers of photographs assume. It is there to be looked into.
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
        print(f"{name}: BLEU {score['bleu']:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
