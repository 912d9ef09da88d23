"""The command line: train a model, translate with it, measure it."""

import sys
import textwrap
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from transformer.command_line.options import (
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
from transformer.command_line.running import go_on_unread, run, say, say_exactly
from transformer.command_line.settings import settings_of
from transformer.data.own_sentences import sources_and_references
from transformer.data.parallel import ParallelText, lines_of, read_lines
from transformer.decoding import sample
from transformer.evaluation import score
from transformer.runs import (
    average_run,
    check_run_folder,
    keep_scores,
    load_run,
    read_scores,
    score_name,
    train_task,
)
from transformer.support.devices import pick_device
from transformer.support.terminal import command_line, printable
from transformer.tasks import (
    TASKS,
    Judge,
    Splits,
    Start,
    chosen_split,
    fetch_data,
    kind_of,
    splits_of_run,
    translatable,
)
from transformer.text import unknown_words
from transformer.training import why_ended
from transformer.training.distributed import first_goes_ahead, is_first, process_group
from transformer.translation import Translator

COMMAND = ("python", "-m", "transformer")

app = typer.Typer(
    help="The Transformer of 'Attention Is All You Need': train it, translate with it, measure it.",
    epilog="An error ends in a sentence; with TRANSFORMER_TRACEBACK=1 before the command, in a "
    "traceback, which says where it was raised.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

SAMPLING = {
    **{name: settings_of(sample)[name] for name in ("temperature", "top_k", "top_p")},
    "seed": settings_of(Translator.sample)["seed"],
}
# What `check` asks: which data, and how long their sentences may be.
CHECKED = {name: setting for name, setting in DATA.items() if name != "data_path"}
CHECKED |= {"max_len": MODEL["max_len"], "max_tokens": TRAINING["max_tokens"]}


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
    go_on_unread()
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
        say(line)
    scorer = built.evaluator(evaluate_on, evaluate_sentences)
    try:
        translator, metrics = train_task(
            built, out, resume=resume, device=chosen_device, evaluate=scorer
        )
    except KeyboardInterrupt:
        say("Stopped. The run goes on from its last checkpoint with --resume.")
        raise typer.Exit(130) from None
    if not is_first():  # of several processes one is enough to report
        return
    parameters = translator.model.n_parameters()
    say(f"{why_ended(metrics, built.training)}; {parameters:,} parameters in {out}")
    for line in _score(translator, built.splits if score else {}, built.judge, out):
        say(line)
    # Shells differ in what `echo` makes of these.
    plain = not built.example.startswith("-") and "\\" not in built.example
    example = command_line(*(["echo"] if plain else ["printf", r"%s\n"]), built.example)
    say(f"Try it: {example} | {command_line(*COMMAND, 'translate', out)}")


@app.command(no_args_is_help=True)
@with_options(options(CHECKED, "Data"))
def check(
    data: Annotated[
        Path | None,
        typer.Argument(help=f"{DATA['data_path'].help}.", show_default=False),
    ] = None,
    task: Annotated[str, typer.Option(help=f"What would train: {', '.join(TASKS)}.")] = "text",
    **given: Any,
) -> None:
    """Look at your data as `train` does before its first step, without training.

    How many sentence pairs there are, which are dropped and why, how long they are, what of the
    test text the model would train on. An error says why nothing could be trained.
    """
    chosen = from_command_line(task, {**given, "data_path": data})
    check_data(task, chosen.data, needed=DATA)
    built = kind_of(task).build(**chosen.data, model=chosen.model, training=chosen.training)
    for line in built.about_data():
        say(line)
    built.evaluator()


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
    if text is None and sys.stdin is None:
        raise typer.BadParameter("standard input is closed; name a file with a sentence a line")
    lines = read_lines(text) if text else lines_of(sys.stdin.buffer.read(), "standard input")
    if draw:
        with called_options(SAMPLING):
            drawn = translator.sample(lines, unit="line", max_tokens=max_tokens, **sampling)
        translations = [samples[0][0] if samples else "" for samples in drawn]
    else:
        search: dict[str, Any] = {"beam_size": beam, "length_penalty": length_penalty}
        translations = translator.translate(lines, unit="line", max_tokens=max_tokens, **search)
    for line in translations:
        say_exactly(line)  # what is in a file scores as it was scored
    if unknown := unknown_words(translator.tokenizer, lines):
        many = f"{len(unknown)} words are" if len(unknown) > 1 else "1 word is"
        first = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        warning = f"{many} not in its vocabulary, so that it knows nothing of them: {first}"
        typer.echo(printable(warning), err=True)


@app.command()
def evaluate(
    run: RunFolder,
    data_path: DataPath = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Which split; may be given again. All by default.")
    ] = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead: the book's own 200 sentences, with two references each, into this "
            "language, en or de; nothing is downloaded. May be given again.",
            metavar="language",
        ),
    ] = None,
    beam: Beam = 1,
    length_penalty: LengthPenalty = 0.6,
    max_tokens: MaxTokens = 4096,
    device: Device = None,
) -> None:
    """Score a run on its task's test data, or on everyday sentences of the book's own.

    Translations by BLEU and chrF, with their signatures, and by exact matches; parses by bracketing
    precision, recall and F1.
    """
    if own and (data_path or split):
        raise typer.BadParameter("--own brings its sentences; leave out --data and --split")
    translator, config = load_run(run, pick_device(device))
    search = (run, beam, length_penalty, max_tokens)
    for target in own or ():
        splits, judge = _own_test_set(config["task"], target)
        for line in _score(translator, splits, judge, *search):
            say(line)
    if own:
        return
    given = ["data_path"] if data_path else []
    check_data(config["task"], given, needed=["data_path"])
    splits = splits_of_run(config, data_path)
    splits = {name: chosen_split(splits, name) for name in split or splits}
    judge = kind_of(config["task"]).judge
    for line in _score(translator, splits, judge, *search):
        say(line)


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
    say(f"{task} is in {data_path}")
    say(f"Train on it: {command_line(*COMMAND, 'train', task, '--data', data_path)}")


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
    say(f"The mean of the last {last} checkpoints is in {folder}")
    say(f"Score it: {command_line(*COMMAND, 'evaluate', folder)}")


# Commands that are the book's, which it is asked to run; what follows them is not read here.
HANDED_ON = {"export": "Write a run for CTranslate2, ONNX Runtime or Hugging Face's transformers."}
MOVED = ("exercise", "pack", "ablate")  # of an earlier spelling, answered by the new one
ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}


def _handed_on(name: str, about: str) -> None:
    def answer(context: typer.Context) -> None:
        book = import_module("transformer_book.__main__")
        book.app([name, *context.args], prog_name="python -m transformer")

    app.command(name, help=about, add_help_option=False, context_settings=ANYTHING)(answer)


def _moved(name: str) -> None:
    """A command of an earlier spelling, which says the new one; what follows it is not read."""

    def answer(context: typer.Context) -> None:
        new = command_line("python", "-m", "transformer_book", name, *context.args)
        typer.echo(f"Error: `{name}` is a command of the book's package now: {new}", err=True)
        raise typer.Exit(2)

    app.command(name, hidden=True, add_help_option=False, context_settings=ANYTHING)(answer)


for _name, _about in HANDED_ON.items():
    _handed_on(_name, _about)
for _name in MOVED:
    _moved(_name)


def _own_test_set(task: str, target: str) -> tuple[Splits, Judge]:
    """The book's sentences to translate into a language, and who compares with both references."""
    sources, references = sources_and_references(target)
    asking = kind_of(task).asking
    text = ParallelText(asking(target, sources) if asking else sources, references[0])
    of = dict(zip(text.source, zip(*references, strict=True), strict=True))
    return {f"own_{target}": text}, lambda sentences, outputs, _: score(
        outputs, *zip(*(of[sentence] for sentence in sentences), strict=True)
    )


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
    for name, every in splits.items():
        text = translatable(every, translator.tokenizer, translator.model.config.max_len)
        n_left_out = len(every) - len(text)
        if not len(text):
            yield f"{name}: all {n_left_out} sentences are too long for the model; none is scored"
            continue
        outputs = translator.translate(
            text.source, beam_size=beam, length_penalty=length_penalty, max_tokens=max_tokens
        )
        scores = judge(text.source, outputs, text.target)
        name = score_name(name, beam, length_penalty)
        left_out = {"left_out": n_left_out} if n_left_out else {}
        keep_scores(run, name, {**scores.to_dict(), **left_out})
        yield f"{name}: {scores}" + (
            f"; {n_left_out} too long for the model, left out" if n_left_out else ""
        )


def main() -> None:
    """Run a command of `python -m transformer`."""
    run(app)
