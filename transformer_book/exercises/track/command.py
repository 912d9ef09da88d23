"""`python -m transformer_book exercise`: the track on the command line."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from transformer.command_line.running import go_on_unread
from transformer.support.terminal import printable_lines

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.checking import UnknownExerciseError, find
from transformer_book.exercises.help import solution
from transformer_book.exercises.track.files import wrapped
from transformer_book.exercises.track.folder import Track, TrackError, is_track
from transformer_book.exercises.track.proof import same_as_ours
from transformer_book.exercises.track.training import TRAINS, train
from transformer_book.exercises.track.watch import listing, once, watch

FOLDER = Path("my_transformer")
HERE = Path()


def exercise(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Created if it does not exist; my_transformer, or the one in which you are.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Which exercise; the next one by default.")
    ] = None,
    hint: Annotated[bool, typer.Option("--hint", help="Give the next hint.")] = False,
    ours: Annotated[bool, typer.Option("--solution", help="Show our solution.")] = False,
    reset: Annotated[
        bool, typer.Option("--reset", help="Put the skeleton back; what you wrote is kept.")
    ] = False,
    only_list: Annotated[bool, typer.Option("--list", help="Show your progress.")] = False,
    just_once: Annotated[
        bool, typer.Option("--once", help="Check and end, without watching; 1 if it is wrong.")
    ] = False,
    on: Annotated[
        str | None,
        typer.Option("--train", metavar="|".join(TRAINS), help="Train a model of your parts."),
    ] = None,
) -> None:
    """Build the Transformer yourself, function by function, each checked as you save it.

    The folder gets a file for each exercise, in the book's order. Nothing that
    you wrote is ever overwritten. At the end your functions stand in our
    Transformer, which --train trains; where one is missing, ours stands in.

    The exit code is 1 where something is wrong: after --once if a function that
    you wrote does not pass, after --train if the model of your parts does not do
    what ours does (a line with ✗). What you have not written yet is not wrong.
    """
    if sum([hint, ours, reset, only_list, just_once, on is not None]) > 1:
        raise typer.BadParameter(
            "give one of --hint, --solution, --reset, --list, --once and --train"
        )
    if name is not None and not (hint or ours or reset):
        raise typer.BadParameter("--name is for --hint, --solution and --reset")
    if name is not None:
        try:
            find(name)
        except UnknownExerciseError as error:
            raise typer.BadParameter(str(error)) from None
    if on is not None and on not in TRAINS:
        raise typer.BadParameter(f"--train takes one of {', '.join(TRAINS)}, not {on}")
    if folder is None:
        folder = HERE if is_track(HERE) else FOLDER
    track = Track.open(folder, begin=not (hint or ours or reset or only_list or on))
    if hint or ours or reset:
        _help(track, _chosen(track, name), hint=hint, ours=ours)
    elif only_list:
        _say("\n".join(listing(track)))
    elif on is not None:
        _train(track, on)
    elif just_once or not (sys.stdin.isatty() and sys.stdout.isatty()):
        fine = once(track, _say)
        if not just_once:
            _say("\nThis is not a terminal, so nothing is watched: run the command again to check.")
        if not fine:
            raise typer.Exit(1)
    else:
        _watch(track)


def _chosen(track: Track, name: str | None) -> str:
    if name is not None:
        return name
    if track.current is None:
        raise TrackError("all exercises pass; say which one is meant with --name")
    return track.current.name


def _help(track: Track, name: str, *, hint: bool, ours: bool) -> None:
    if hint:
        _say(wrapped(track.hint(name)))
    elif ours:
        _say(str(solution(name)).rstrip())
    else:
        backup = track.reset(name)
        _say(f"{track.path(name)} is the skeleton again.")
        if backup is not None:
            _say(f"What you wrote is in {backup}")


def _watch(track: Track) -> None:
    try:
        watch(track, _say)
    except KeyboardInterrupt:
        _say("")
    if track.current is not None:
        _say(f"{track.done} of {len(EXERCISES)} pass. The same command goes on from there.")


def _train(track: Track, on: str) -> None:
    go_on_unread()
    for name in EXERCISES:  # what was written or changed, and not checked since
        if track.written(name) and not track.passed(name):
            result = track.check(name)
            if not result.passed:
                file = track.path(name).name
                _say(wrapped(f"{file} does not pass, so ours stands in: {result.sentence}"))
    parts = track.parts()
    for line in parts.about():
        _say(wrapped(line))
    _say("\nYour parts, beside ours:")
    all_hold = True
    for finding in same_as_ours(parts):
        _say(wrapped(f"{finding}"))
        all_hold = all_hold and finding.holds
    _say("")
    try:
        train(on, parts, say=_say)
    except KeyboardInterrupt:
        _say("Stopped.")
        raise typer.Exit(130) from None
    if not all_hold:
        said = "Of your parts not everything holds that holds of ours: see the lines with ✗ above."
        _say(f"\n{wrapped(said)}")
        raise typer.Exit(1)


def _say(text: str) -> None:
    """At once: whoever waits for the next line may be a program."""
    typer.echo(printable_lines(text))
    sys.stdout.flush()
