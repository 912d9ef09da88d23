"""A finished run as a model that comes with the book: small weights and a model card.

The run may be the mean of a run's checkpoints; --out is the folder to make, book/models/NAME.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from measurements.everyday_model import doubt_of
from transformer.data.everyday import everyday_corpus
from transformer.data.parallel import ParallelText
from transformer.runs import load_run, score_name
from transformer.support.files import write_atomically
from transformer.support.provenance import require_commit
from transformer.tasks import kind_of, parsing_splits, toy_german_splits
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
        score: what its table of scores shows, "bleu", "exact" or "f1".
    """

    title: str
    purpose: str
    tokens: str
    data: str
    score: str
    limits: str
    splits: Callable[[Path | None], dict[str, ParallelText]]


SUBJECTS = {
    "everyday": Subject(
        title="A small Transformer for everyday German and English",
        purpose="""\
Translates everyday sentences, German to English and English to German: the source begins with
→en or →de, the language that is wanted (Johnson et al. 2017). It comes with the book so that
every reader can ask it sentences of his own, in the page: no download, no training.""",
        tokens="byte-pair tokens",
        data="""\
Sentence pairs whose licences let a model of them go anywhere with its sources named: Tatoeba
(CC BY 2.0 FR, tatoeba.org and its contributors), MASSIVE (CC BY 4.0, Amazon), the African
Storybook (CC BY, africanstorybook.org and its authors), CoCoA-MT (CDLA-Sharing 1.0, Amazon,
whose section 3.5 leaves results free). Held out were pairs of Tatoeba alone, whole families of
translations, so that no sentence is in two parts. Which of its tokens lean to German, and where
its doubt begins: see `both_ways.json`, counted on the training pairs and set on the validation
pairs.""",
        score="bleu",
        limits="""\
It has read short sentences as learners of a language write them. Longer ones, news, law and
medicine it translates badly and fluently, and its doubt does not notice all of that: nothing
may depend on its words. What it has learned about people, it has learned from what learners
write about them.""",
        splits=lambda data: everyday_corpus(data).splits,
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
    "parsing": Subject(
        title="A small Transformer that parses toy English",
        purpose="""\
Writes the trees of a small grammar's English sentences, as brackets. It comes with the book so that
readers can have sentences parsed in the page, without training it for minutes.""",
        tokens="words and brackets",
        data="""\
40,000 sentences with their trees, which `toy_treebank` of `transformer/data/toy_german` draws from
a grammar of our own: from one seed the same ones wherever it runs. They are part of the project, as
these weights are: MIT licence.""",
        score="f1",
        limits="""\
It knows the words and the sentences of its grammar, and no English that people write. Of sentences
longer than those that it was trained on it gets half wrong, and all those with a relative clause
about a subject, which its training never showed: there it can be watched failing.""",
        splits=lambda data: parsing_splits(),
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
    splits, judge = SUBJECTS[run_config["task"]].splits(data), kind_of(run_config["task"]).judge
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
        if run_config["task"] == "everyday":
            doubt_of(rounded, everyday_corpus(data)).save(made)
        scores = {
            score_name(name, beam): judge(
                text.source, rounded.translate(text.source, beam_size=beam), text.target
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
    signature = next(iter(scores.values())).get("signature")
    shown = {
        name: f"{score['exact']:.1%}" if subject.score == "exact" else f"{score[subject.score]:.1f}"
        for name, score in scores.items()
    }
    rows = "\n".join(
        f"| {name} | {shown[name]} | {shown[f'{name} beam 4']} |"
        for name in scores
        if not name.endswith("beam 4")
    )
    sides = "sides" if subject.score == "f1" else "languages"
    shape = (
        f"Encoder-decoder Transformer, {n_parameters:,} parameters: {config['n_layers']} layers, "
        f"d_model {config['d_model']}, d_ff {config['d_ff']}, {config['n_heads']} heads, "
        f"{config['norm']}-norm, {config['positions']} positions, one vocabulary of "
        f"{config['src_vocab_size']:,} {subject.tokens} for both {sides}. Weights: safetensors, "
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
        "f1": f"Bracketing F1 of {weights}.",
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


def make(run: Path, out: Path, *, data: Path | None = None) -> int:
    """Publish the run, and print its scores; returns the exit status."""
    for name, score in publish(run, out, data).items():
        kind, value = next((kind, score[kind]) for kind in ("bleu", "f1") if kind in score)
        print(f"{name}: {kind.upper()} {value:.1f}, {score['exact']:.1%} exactly right")
    return 0
