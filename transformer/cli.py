"""The command line: train a model, translate with it, measure it."""

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from transformer.data.corpora import iwslt_splits, text_splits
from transformer.data.parallel import DataError
from transformer.files import FileError, write_atomically
from transformer.runs import RunError, average_run, load_run, train_task
from transformer.runtime import pick_device
from transformer.tasks import (
    CAMPAIGNS,
    CORPUS_TASKS,
    TASKS,
    chosen_split,
    copy_splits,
    multi30k_splits,
    toy_german_splits,
)
from transformer.training import TrainingError, why_ended
from transformer.training.distributed import first_goes_ahead, is_first, process_group

app = typer.Typer(
    help="The Transformer of 'Attention Is All You Need': train it, translate with it, measure it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

RunFolder = Annotated[Path, typer.Argument(help="The folder that `train` has filled.")]
DataFolder = Annotated[
    Path | None,
    typer.Option(help="Folder, archive or file of the data; multi30k can do without."),
]
Beam = Annotated[
    int, typer.Option(help="Width of the search; 1 is greedy, the paper's is 4.", min=1)
]
LengthPenalty = Annotated[
    float, typer.Option(help="Alpha of the length penalty, where the beam is wider than 1.", min=0)
]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps; the best one by default.")]


@app.command(no_args_is_help=True)
@process_group()
def train(
    task: Annotated[
        str, typer.Argument(help="copy, toy, multi30k, iwslt14, iwslt16, iwslt17 or text.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Run folder to make; runs/TASK by default.")
    ] = None,
    data: DataFolder = None,
    source: Annotated[str | None, typer.Option(help="Language, as files are named; de.")] = None,
    target: Annotated[str | None, typer.Option(help="Language, as files are named; en.")] = None,
    test_set: Annotated[
        list[str] | None, typer.Option(help="IWSLT: TED.tst2014, say; may be given again.")
    ] = None,
    vocab_size: Annotated[int | None, typer.Option(help="Subwords of IWSLT and text.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in the folder.")] = False,
    steps: Annotated[int | None, typer.Option(help="Updates of the weights.")] = None,
    epochs: Annotated[float | None, typer.Option(help="Passes over the data, not steps.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens a batch, each side.")] = None,
    accumulate: Annotated[int | None, typer.Option(help="Batches that make one step.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Steps in which the rate climbs.")] = None,
    factor: Annotated[float | None, typer.Option(help="Factor of the learning rate.")] = None,
    cooldown: Annotated[float | None, typer.Option(help="Last share of steps, rate to 0.")] = None,
    label_smoothing: Annotated[float | None, typer.Option(help="Epsilon, 0 to 1.")] = None,
    clip: Annotated[float | None, typer.Option(help="Largest norm of the gradient.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of weights, data order, dropout.")] = None,
    precision: Annotated[str | None, typer.Option(help="auto, float32 or bf16.")] = None,
    compile: Annotated[bool, typer.Option(help="Use torch.compile.")] = False,
    checkpoint_every: Annotated[int | None, typer.Option(help="Steps between two.")] = None,
    keep: Annotated[int | None, typer.Option(help="Last checkpoints kept for averaging.")] = None,
    evaluate_every: Annotated[int | None, typer.Option(help="Steps between two.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Stop after so many evaluations without a better one.")
    ] = None,
    stop_on: Annotated[
        str | None, typer.Option(help="What is better: bleu, or loss on the split evaluated.")
    ] = None,
    evaluate_on: Annotated[str | None, typer.Option(help="Split to score meanwhile.")] = None,
    evaluate_sentences: Annotated[int, typer.Option(help="So many of its sentences.")] = 200,
    d_model: Annotated[int | None, typer.Option(help="Width of the vectors.")] = None,
    d_ff: Annotated[int | None, typer.Option(help="Inner width of the feed-forward net.")] = None,
    n_heads: Annotated[int | None, typer.Option(help="Attention heads.")] = None,
    n_layers: Annotated[int | None, typer.Option(help="Layers in each stack.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Share of values dropped.")] = None,
    norm: Annotated[str | None, typer.Option(help="post (the paper) or pre.")] = None,
    positions: Annotated[str | None, typer.Option(help="sinusoidal or learned.")] = None,
    tie: Annotated[str | None, typer.Option(help="all, decoder or none.")] = None,
    score: Annotated[bool, typer.Option(help="Score all splits at the end.")] = True,
    device: Device = None,
) -> None:
    """Train a model and leave it in a run folder.

    \b
    copy       ten random symbols: all exact; seconds on a CPU
    toy        a small grammar of German: all exact; 2 minutes on a CPU
    multi30k   29,000 captions: BLEU 35; half an hour on a CPU (38 in two and a
               half times as long, with --epochs 20 --dropout 0.25)
    iwslt16    10,500 pairs of talks, all test sets but one: half an hour on
               a CPU; BLEU in the book. These four take 0.4 to 1.4 GB
    iwslt14    with the training files, 170,000 to 210,000 pairs of talks:
    iwslt16    about 4 GB of a GPU and some hours; not run by us. Others
    iwslt17    report BLEU 34 to 35 for iwslt14 (lower case, beam 5)
    text       yours: train.de and train.en, or a .tsv; as iwslt by its size

    What you do not set comes from the task's recipe. A run that was stopped, by whatever means,
    goes on with --resume and ends with the weights that it would have had.
    """  # noqa: D301
    tasks = {**TASKS, **CORPUS_TASKS}
    if task not in tasks:
        raise typer.BadParameter(f"unknown task {task!r}; choose one of {', '.join(tasks)}")
    training = _given(
        steps=steps,
        epochs=epochs,
        max_tokens=max_tokens,
        accumulate=accumulate,
        warmup=warmup,
        factor=factor,
        cooldown=cooldown,
        label_smoothing=label_smoothing,
        clip=clip,
        seed=seed,
        precision=precision,
        compile=compile or None,
        checkpoint_every=checkpoint_every,
        keep=keep,
        evaluate_every=evaluate_every,
        patience=patience,
        stop_on=stop_on,
    )
    model = _given(
        d_model=d_model,
        d_ff=d_ff,
        n_heads=n_heads,
        n_layers=n_layers,
        dropout=dropout,
        norm=norm,
        positions=positions,
        tie=tie,
    )
    chosen_device = pick_device(device)
    about_data = _given(
        data=data, source=source, target=target, test_sets=test_set, vocab_size=vocab_size
    )
    with first_goes_ahead():
        place = _place(task, about_data)
        chosen = tasks[task](*place, **about_data, model=model, training=training)
    for line in _told(chosen.facts) if is_first() else ():
        typer.echo(line)
    out = out or Path("runs", task)
    scorer = chosen.evaluator(evaluate_on, evaluate_sentences)
    translator, metrics = train_task(
        chosen, out, resume=resume, device=chosen_device, evaluate=scorer
    )
    if not is_first():  # of several processes one is enough to report
        return
    parameters = translator.model.n_parameters()
    typer.echo(f"{why_ended(metrics, chosen.training)}; {parameters:,} parameters in {out}")
    for line in _report(translator, chosen.splits if score else {}, out):
        typer.echo(line)
    example = shlex.quote(min(chosen.train.source[:50], key=len))
    typer.echo(f"Try it: echo {example} | python -m transformer translate {out}")


@app.command()
def translate(
    run: RunFolder,
    text: Annotated[
        Path | None, typer.Argument(help="A file with a sentence a line; else standard input.")
    ] = None,
    beam: Beam = 1,
    length_penalty: LengthPenalty = 0.6,
    device: Device = None,
) -> None:
    """Translate sentences, one a line; an empty line stays empty."""
    from transformer.data.parallel import read_lines

    translator, _ = load_run(run, pick_device(device))
    lines = read_lines(text) if text else _lines_of_stdin()
    search: dict[str, Any] = {"beam_size": beam, "length_penalty": length_penalty}
    for line in translator.translate(lines, unit="line", **search):
        # A model may spell a newline in bytes; line i must remain the translation of line i.
        typer.echo(line.replace("\n", " "))


@app.command()
def evaluate(
    run: RunFolder,
    data: DataFolder = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Which split; may be given again. All by default.")
    ] = None,
    beam: Beam = 1,
    length_penalty: LengthPenalty = 0.6,
    device: Device = None,
) -> None:
    """Score a run on its task's test data: BLEU and chrF with their signatures, exact matches."""
    translator, facts = load_run(run, pick_device(device))
    match facts["task"]:
        case "copy":
            splits = copy_splits(facts["training"]["seed"])
        case "toy":
            splits = toy_german_splits()
        case "text":
            splits = text_splits(data, facts["data"])
        case campaign if campaign in CAMPAIGNS:
            splits = iwslt_splits(campaign, data, facts["data"])
        case _:
            languages = {side: facts.get("data", {}).get(side) for side in ("source", "target")}
            splits = multi30k_splits(data, **_given(**languages))
    chosen = {name: chosen_split(splits, name) for name in split or splits}
    for line in _report(translator, chosen, run, beam, length_penalty):
        typer.echo(line)


@app.command()
def fetch(
    corpus: Annotated[str, typer.Argument(help="multi30k, iwslt14, iwslt16 or iwslt17.")],
    to: Annotated[
        Path | None, typer.Option(help="Folder to keep it in; the user's cache by default.")
    ] = None,
) -> None:
    """Download a corpus, held against its published checksum. What is there already, stays."""
    from transformer.data.sources import fetch_corpus

    place = fetch_corpus(corpus, to)
    typer.echo(f"{corpus} is in {place}")
    typer.echo(f"Train on it: python -m transformer train {corpus} --data {place}")


@app.command()
def average(
    run: RunFolder,
    last: Annotated[int, typer.Option(help="So many of the kept checkpoints.", min=1)] = 5,
    out: Annotated[
        Path | None, typer.Option(help="Folder to make; RUN/average-LAST by default.")
    ] = None,
) -> None:
    """Average the last checkpoints of a run (train with --keep) into a run of their own."""
    folder = average_run(run, last, out)
    typer.echo(f"The mean of the last {last} checkpoints is in {folder}")
    typer.echo(f"Score it: python -m transformer evaluate {folder}")


def _lines_of_stdin() -> list[str]:
    """Standard input's lines; as in files, only a newline ends one."""
    lines = sys.stdin.buffer.read().decode("utf-8").split("\n")
    lines = [line.rstrip("\r") for line in lines]
    return lines[:-1] if lines[-1] == "" else lines


def _place(task: str, about_data: dict[str, Any]) -> list[Path | None]:
    """Take the place of the data out of the options, after a look at what the task can use."""
    usable = {"multi30k": ("data", "source", "target", "vocab_size"), "copy": (), "toy": ()}
    usable["text"] = usable["multi30k"]
    for name in about_data:
        if name not in usable.get(task, about_data):
            option = "--" + name.removesuffix("s").replace("_", "-")
            own = "makes its own data" if not usable[task] else "has no such thing"
            raise typer.BadParameter(f"the task {task} {own}; leave out {option}")
    return [about_data.pop("data", None)] if task not in ("copy", "toy") else []


def _told(facts: dict[str, Any]) -> Iterable[str]:
    """What there is to say about the data before training."""
    if "training_text" in facts:
        yield f"Trains on {facts['training_text']}; tests on {', '.join(facts['test_sets'])}"
    if "pairs" in facts:
        dropped = facts["dropped"]
        reasons = "; ".join(f"{count:,} where {why}" for why, count in dropped.items())
        yield (
            f"{facts['pairs']:,} pairs, {sum(dropped.values()):,} of them dropped"
            f"{': ' + reasons if reasons else ''}; {facts['train_pairs']:,} train"
        )


def _report(
    translator: Any, splits: dict[str, Any], out: Path, beam: int = 1, length_penalty: float = 0.6
) -> Iterable[str]:
    """Score the splits, keep the scores in the run folder, and say them."""
    path = out / "scores.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    for name, text in splits.items():
        scores = translator.evaluate(
            text.source, text.target, beam_size=beam, length_penalty=length_penalty
        )
        name += f" beam {beam}" if beam > 1 else ""
        name += f" alpha {length_penalty:g}" if beam > 1 and length_penalty != 0.6 else ""
        kept[name] = scores.to_dict()
        write_atomically(path, (json.dumps(kept, indent=2) + "\n").encode())
        yield (
            f"{name}: BLEU {scores.bleu:.1f}, chrF {scores.chrf:.1f}, "
            f"{scores.exact:.1%} of {scores.n_sentences} exact "
            f"(BLEU {scores.signature}; chrF {scores.chrf_signature})"
        )


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def main() -> None:
    """Run a command; what is wrong with the input comes out as a sentence, not as a traceback."""
    try:
        app()
    except (ValueError, DataError, RunError, TrainingError, FileError) as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("Stopped. A training run goes on from its last checkpoint with --resume.")
        sys.exit(130)
