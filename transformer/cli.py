"""The command line: train a model, translate with it, measure it."""

import shlex
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from transformer.ablation import RESULTS, Sizes, chosen_rows, sweep
from transformer.data.parallel import DataError, ParallelText, lines_of, read_lines
from transformer.decoding import sample
from transformer.devices import NotEnoughMemoryError
from transformer.exercises.track.command import exercise
from transformer.files import FileError
from transformer.options import (
    DATA,
    MODEL,
    TRAINING,
    Beam,
    Chosen,
    DataPath,
    Device,
    LengthPenalty,
    MaxTokens,
    RunFolder,
    called_options,
    check_data,
    from_command_line,
    from_file,
    from_preset,
    option_name,
    options,
    with_options,
)
from transformer.own_page import write_page
from transformer.runs import (
    RunError,
    average_run,
    check_run_folder,
    keep_scores,
    load_run,
    read_scores,
    score_name,
    train_task,
)
from transformer.runtime import pick_device
from transformer.settings import settings_of
from transformer.tasks import (
    TASKS,
    Judge,
    Start,
    chosen_split,
    fetch_data,
    kind_of,
    splits_of_run,
)
from transformer.terminal import printable, printable_lines
from transformer.training import TrainingError, why_ended
from transformer.training.distributed import first_goes_ahead, is_first, process_group
from transformer.translation import Translator

app = typer.Typer(
    help="The Transformer of 'Attention Is All You Need': train it, translate with it, measure it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

SIZES = settings_of(Sizes)
SAMPLING = {
    **{name: settings_of(sample)[name] for name in ("temperature", "top_k", "top_p")},
    "seed": settings_of(Translator.sample)["seed"],
}


def _about_training() -> str:
    """The help of `train`: what to expect of each task."""
    width = max(map(len, TASKS)) + 2
    lines = (
        textwrap.fill(
            kind.expect, 76, initial_indent=name.ljust(width), subsequent_indent=" " * width
        )
        for name, kind in TASKS.items()
    )
    return "\n\n".join(
        [
            "Train a model and leave it in a run folder.",
            "\b\n" + "\n".join(lines),
            "Training on a CPU takes 0.4 to 1.4 GB of memory. What you do not set comes from the "
            "task's recipe. A run that was stopped, by whatever means, goes on with --resume and "
            "ends with the weights that it would have had, on a GPU up to the order of its sums.",
        ]
    )


@app.command(help=_about_training(), no_args_is_help=True)
@with_options(
    [*options(DATA, "Data"), *options(TRAINING, "Training"), *options(MODEL, "Model")],
)
@process_group()
def train(
    task: Annotated[
        str | None,
        typer.Argument(help=f"{', '.join(TASKS)}; or as --config says.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder to make; runs/TASK by default.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Take the settings of a file: a run's config.json, or YAML of your own."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="The model's settings: tiny, base, big, or a row of Table 3: A1 to E."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            help="Begin with the weights and sizes of another model: the folder of a run or model."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in the folder.")] = False,
    evaluate_on: Annotated[str | None, typer.Option(help="Split to score meanwhile.")] = None,
    evaluate_sentences: Annotated[int, typer.Option(help="So many of its sentences.", min=1)] = 200,
    score: Annotated[bool, typer.Option(help="Score all splits at the end.")] = True,
    device: Device = None,
    **given: Any,
) -> None:
    """Train a task's model by its recipe, with the settings that are given instead."""
    chosen = from_command_line(task, given)
    chosen = chosen.over(from_preset(preset)) if preset else chosen
    chosen = chosen.over(from_file(config)) if config else chosen
    begin = Start.load(start) if start else None
    chosen = chosen.over(Chosen(model=begin.sizes)) if begin else chosen
    if chosen.task is None:
        raise typer.BadParameter(f"name a task: {', '.join(TASKS)}")
    build = kind_of(chosen.task).build
    check_data(chosen.task, chosen.data, needed=DATA)
    chosen_device = pick_device(device)
    out = out or Path("runs", chosen.task)
    check_run_folder(out, resume)  # before data are made or fetched for it
    with first_goes_ahead():
        built = build(**chosen.data, model=chosen.model, training=chosen.training)
    built = built.starting_from(begin) if begin else built
    for line in built.about_data() if is_first() else ():
        _say(line)
    scorer = built.evaluator(evaluate_on, evaluate_sentences)
    try:
        translator, metrics = train_task(
            built, out, resume=resume, device=chosen_device, evaluate=scorer
        )
    except KeyboardInterrupt:
        _say("Stopped. The run goes on from its last checkpoint with --resume.")
        raise typer.Exit(130) from None
    if not is_first():  # of several processes one is enough to report
        return
    parameters = translator.model.n_parameters()
    _say(f"{why_ended(metrics, built.training)}; {parameters:,} parameters in {out}")
    for line in _score(translator, built.splits if score else {}, built.judge, out):
        _say(line)
    example = shlex.quote(printable(built.example))
    _say(f"Try it: echo {example} | python -m transformer translate {out}")


@app.command()
@with_options(options(SAMPLING, "Sampling"))
def translate(
    context: typer.Context,
    run: RunFolder,
    text: Annotated[
        Path | None, typer.Argument(help="A file with a sentence a line; else standard input.")
    ] = None,
    beam: Beam = 1,
    length_penalty: LengthPenalty = 0.6,
    draw: Annotated[
        bool,
        typer.Option("--sample", help="Draw translations, as likely as the model finds them."),
    ] = False,
    max_tokens: MaxTokens = 4096,
    device: Device = None,
    **given: Any,
) -> None:
    """Translate sentences, one a line; an empty line stays empty."""
    sampling = {name: value for name, value in given.items() if value is not None}
    if draw and beam > 1:
        raise typer.BadParameter("--sample draws and --beam searches; give one of them")
    penalty = context.get_parameter_source("length_penalty")
    if draw and penalty is not None and penalty.name == "COMMANDLINE":
        raise typer.BadParameter("--length-penalty is for --beam; leave it out with --sample")
    for name in () if draw else sampling:
        raise typer.BadParameter(f"{option_name(name, SAMPLING[name])} is for --sample; add it")
    translator, _ = load_run(run, pick_device(device))
    lines = read_lines(text) if text else lines_of(sys.stdin.buffer.read(), "standard input")
    if draw:
        with called_options(SAMPLING):
            drawn = translator.sample(lines, unit="line", max_tokens=max_tokens, **sampling)
        translations = [samples[0][0] if samples else "" for samples in drawn]
    else:
        search: dict[str, Any] = {"beam_size": beam, "length_penalty": length_penalty}
        translations = translator.translate(lines, unit="line", max_tokens=max_tokens, **search)
    for line in translations:
        # A model may spell a newline in bytes; line i must remain the translation of line i. It may
        # spell other characters that steer a terminal, and what goes into a pipe or a file is read
        # in a terminal later: so they are written out wherever the lines go.
        _say(line.replace("\n", " "))


@app.command()
def evaluate(
    run: RunFolder,
    data_path: DataPath = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Which split; may be given again. All by default.")
    ] = None,
    beam: Beam = 1,
    length_penalty: LengthPenalty = 0.6,
    max_tokens: MaxTokens = 4096,
    device: Device = None,
) -> None:
    """Score a run on its task's test data.

    Translations by BLEU and chrF, with their signatures, and by exact matches; parses by bracketing
    precision, recall and F1.
    """
    translator, config = load_run(run, pick_device(device))
    given = ["data_path"] if data_path else []
    check_data(config["task"], given, needed=["data_path"])
    splits = splits_of_run(config, data_path)
    splits = {name: chosen_split(splits, name) for name in split or splits}
    judge = kind_of(config["task"]).judge
    for line in _score(translator, splits, judge, run, beam, length_penalty, max_tokens):
        _say(line)


@app.command()
def fetch(
    task: Annotated[
        str, typer.Argument(help=", ".join(name for name, kind in TASKS.items() if kind.fetch))
    ],
    to: Annotated[
        Path | None, typer.Option(help="Folder to keep it in; the user's cache by default.")
    ] = None,
) -> None:
    """Download a task's data, held against their checksums. What is there already, stays."""
    data_path = fetch_data(task, to)
    _say(f"{task} is in {data_path}")
    _say(f"Train on it: python -m transformer train {task} --data {data_path}")


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
    _say(f"The mean of the last {last} checkpoints is in {folder}")
    _say(f"Score it: python -m transformer evaluate {folder}")


@app.command()
def pack(
    run: RunFolder,
    sentence: Annotated[
        list[str] | None,
        typer.Option(help="What the page shows first; may be given again. As the run says."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to make; RUN/page by default.")] = None,
) -> None:
    """Make a page of a run: open it from the disk or put it on a server, and it translates there.

    The page shows what the heads look at and how a search finds its words, also for sentences of
    its readers. Weights are rounded to 8 bits for it.
    """
    translator, config = load_run(run)
    sentences = sentence or [text for text in [config.get("example")] if isinstance(text, str)]
    if not sentences:
        raise typer.BadParameter("the run names no example; give one to show first: --sentence")
    folder = out or run / "page"
    page = write_page(translator, folder, sentences, run.resolve().name)
    n_parts, size, n_bytes = len(page.packed.parts), page.packed.size, page.n_bytes
    parts = f"{n_parts} part{'s' if n_parts > 1 else ''}"
    _say(
        f"{_bytes(size)} to download for the model, in {parts}; {_bytes(n_bytes)} on the disk with "
        "the page"
    )
    _say("Read back: the run's settings, its tokenizer, and its weights, rounded to 8 bits")
    for source, (rounded, exact) in zip(sentences, page.translations, strict=True):
        _say(f"{source} -> {rounded}")
        if rounded != exact:
            _say(f"  before the weights were rounded: {exact}")
    _say(f"Open {folder / 'index.html'}")


@app.command()
@with_options(options(SIZES, "What a run is"))
def ablate(
    row: Annotated[
        list[str] | None,
        typer.Argument(help="Rows, such as A1 or pre_norm; all by default.", show_default=False),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for a file a run, and ablations.json with all of them.")
    ] = Path("runs", "ablations"),
    seeds: Annotated[int, typer.Option(help="Runs of each row.", min=1, max=1000)] = 5,
    processes: Annotated[
        int, typer.Option(help="Runs at once; the GPUs are dealt out to them.", min=1)
    ] = 1,
    only_list: Annotated[bool, typer.Option("--list", help="Say which rows there are.")] = False,
    device: Device = None,
    **given: Any,
) -> None:
    """Train small models that differ in one thing, as the paper's Table 3 does, and beyond it.

    Each run trains on a few sentences of toy German and is judged by others. The same command goes
    on where it was stopped, by whatever means.
    """
    rows = chosen_rows(row or [])
    if only_list:
        for name, each in rows.items():
            _say(f"{name:<14} {each.about}")
        return
    with called_options(SIZES):
        sizes = Sizes(**{name: value for name, value in given.items() if value is not None})
    try:
        with called_options(SIZES):
            result = sweep(
                rows, seeds, sizes, out, processes=processes, device=device, say=_say_at_once
            )
    except KeyboardInterrupt:
        _say("Stopped. The same command goes on from there.")
        raise typer.Exit(130) from None
    _say(f"{len(result['runs'])} runs are in {out / RESULTS}")


app.command()(exercise)


def _score(
    translator: Translator,
    splits: Mapping[str, ParallelText],
    judge: Judge,
    run: Path,
    beam: int = 1,
    length_penalty: float = 0.6,
    max_tokens: int = 4096,
) -> Iterable[str]:
    """Score the splits, keep the scores in the run folder, and say them."""
    if splits:
        read_scores(run)  # what could not be kept is not computed
    for name, text in splits.items():
        outputs = translator.translate(
            text.source, beam_size=beam, length_penalty=length_penalty, max_tokens=max_tokens
        )
        scores = judge(text.source, outputs, text.target)
        name = score_name(name, beam, length_penalty)
        keep_scores(run, name, scores.to_dict())
        yield f"{name}: {scores}"


def _say(line: str) -> None:
    """Print a line, in which names and text of strangers may stand."""
    typer.echo(printable(line))


def _say_at_once(line: str) -> None:
    """Print a line of one of several processes, which may be killed before it prints another."""
    _say(line)
    sys.stdout.flush()


# What is raised with a sentence for the user.
SENTENCES = (ValueError, DataError, RunError, TrainingError, FileError, NotEnoughMemoryError)
MOST_OF_A_NAME = 200  # letters of a file's name in a message


def main() -> None:
    """Run a command; what is wrong with the input comes out as a sentence, not as a traceback."""
    try:
        app()
    except SENTENCES as error:
        _fail(str(error))
    except OSError as error:  # names too long, folders that may not be read, links in a circle
        name = f" {str(error.filename)[:MOST_OF_A_NAME]!r}" if error.filename else ""
        _fail(f"could not read or write{name}: {error.strerror or error}")


def _fail(message: str) -> NoReturn:
    typer.echo(f"Error: {printable_lines(message)}", err=True)
    sys.exit(1)


def _bytes(n: int) -> str:
    """As readers are told, in the page too."""
    return f"{-(-n // 1000)} kB" if n < 1e5 else f"{n / 1e6:.1f} MB"
