"""`python -m transformer_book ablate` and `replicate`: the rows of Table 3 in small."""

from pathlib import Path
from typing import Annotated, Any

import typer

from transformer.command_line.options import Device, called_options, options, with_options
from transformer.command_line.running import go_on_unread, say, say_at_once
from transformer.command_line.settings import settings_of

from transformer_book.ablation.replication import RECORD
from transformer_book.ablation.replication import replicate as replicated
from transformer_book.ablation.rows import chosen_rows
from transformer_book.ablation.sweep import RESULTS, Sizes, sweep

SIZES = settings_of(Sizes)


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
    first_seed: Annotated[int, typer.Option(help="The first of the seeds.", min=0)] = 1,
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
            say(f"{name:<14} {each.about}")
        return
    go_on_unread()
    with called_options(SIZES):
        sizes = Sizes(**{name: value for name, value in given.items() if value is not None})
    try:
        with called_options(SIZES):
            result = sweep(
                rows,
                seeds,
                sizes,
                out,
                first_seed=first_seed,
                processes=processes,
                device=device,
                say=say_at_once,
            )
    except KeyboardInterrupt:
        say("Stopped. The same command goes on from there.")
        raise typer.Exit(130) from None
    say(f"{len(result['runs'])} runs are in {out / RESULTS}")


def replicate(
    out: Annotated[
        Path, typer.Option(help=f"Folder for the runs, and {RECORD} with all of them.")
    ] = Path("runs", "replication"),
    processes: Annotated[
        int, typer.Option(help="Runs at once; the GPUs are dealt out to them.", min=1)
    ] = 1,
    device: Device = None,
) -> None:
    """Repeat the book's replication of Table 3: a pilot, the plan that follows from it, the table.

    About two hours of one core. The same command goes on where it was stopped, by whatever means.
    """
    go_on_unread()
    try:
        result = replicated(out, processes=processes, device=device, say=say_at_once)
    except KeyboardInterrupt:
        say("Stopped. The same command goes on from there.")
        raise typer.Exit(130) from None
    say(f"{len(result['table']['runs'])} runs of the table are in {out / RECORD}")
