"""The command line: train a model, translate with it, measure it."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from transformer.data.parallel import DataError
from transformer.files import FileError, write_atomically
from transformer.runs import RunError, average_run, load_run, train_task
from transformer.runtime import pick_device
from transformer.tasks import (
    TASKS,
    chosen_split,
    copy_splits,
    multi30k_splits,
    toy_german_splits,
)
from transformer.training import TrainingError

app = typer.Typer(
    help="The Transformer of 'Attention Is All You Need': train it, translate with it, measure it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

RunFolder = Annotated[Path, typer.Argument(help="The folder that `train` has filled.")]
DataFolder = Annotated[
    Path | None,
    typer.Option(help="Folder of Multi30k's .gz files; without it they are downloaded."),
]
Beam = Annotated[
    int, typer.Option(help="Width of the search; 1 is greedy, the paper's is 4.", min=1)
]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps; the best one by default.")]


@app.command()
def train(
    task: Annotated[
        str, typer.Argument(help="copy (seconds), toy (minutes) or multi30k (half an hour).")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Run folder to make; runs/TASK by default.")
    ] = None,
    data: DataFolder = None,
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

    What you do not set comes from the task's recipe. A run that was stopped, by whatever means,
    goes on with --resume and ends with the weights that it would have had.
    """
    if task not in TASKS:
        raise typer.BadParameter(f"unknown task {task!r}; choose one of {', '.join(TASKS)}")
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
    folder = {} if task != "multi30k" else {"folder": data}
    if data is not None and task != "multi30k":
        raise typer.BadParameter(f"the task {task} makes its own data; leave out --data")
    chosen = TASKS[task](**folder, model=model, training=training)
    out = out or Path("runs", task)
    scorer = chosen.evaluator(evaluate_on, evaluate_sentences)
    translator, _ = train_task(chosen, out, resume=resume, device=chosen_device, evaluate=scorer)
    parameters = translator.model.n_parameters()
    typer.echo(f"{chosen.training.steps:,} steps done; {parameters:,} parameters in {out}")
    for line in _report(translator, chosen.splits if score else {}, out):
        typer.echo(line)
    typer.echo(f"Try it: echo '{chosen.train.source[0]}' | python -m transformer translate {out}")


@app.command()
def translate(
    run: RunFolder,
    text: Annotated[
        Path | None, typer.Argument(help="A file with a sentence a line; else standard input.")
    ] = None,
    beam: Beam = 1,
    device: Device = None,
) -> None:
    """Translate sentences, one a line."""
    from transformer.data.parallel import read_lines

    translator, _ = load_run(run, pick_device(device))
    lines = read_lines(text) if text else sys.stdin.read().splitlines()
    for line in translator.translate(lines, beam_size=beam):
        typer.echo(line)


@app.command()
def evaluate(
    run: RunFolder,
    data: DataFolder = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Which split; may be given again. All by default.")
    ] = None,
    beam: Beam = 1,
    device: Device = None,
) -> None:
    """Score a run on its task's test data: sacreBLEU with its signature, and exact matches."""
    translator, facts = load_run(run, pick_device(device))
    match facts["task"]:
        case "copy":
            splits = copy_splits(facts["training"]["seed"])
        case "toy":
            splits = toy_german_splits()
        case _:
            splits = multi30k_splits(data)
    chosen = {name: chosen_split(splits, name) for name in split or splits}
    for line in _report(translator, chosen, run, beam):
        typer.echo(line)


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


def _report(translator: Any, splits: dict[str, Any], out: Path, beam: int = 1) -> Iterable[str]:
    """Score the splits, keep the scores in the run folder, and say them."""
    path = out / "scores.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    for name, text in splits.items():
        scores = translator.evaluate(text.source, text.target, beam_size=beam)
        name += f" beam {beam}" if beam > 1 else ""
        kept[name] = scores.to_dict()
        write_atomically(path, (json.dumps(kept, indent=2) + "\n").encode())
        yield (
            f"{name}: BLEU {scores.bleu:.1f}, {scores.exact:.1%} of {scores.n_sentences} exact "
            f"({scores.signature})"
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
