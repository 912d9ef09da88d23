"""`python -m transformer_book`: exercises on the command line, a page of one's own, ablations."""

import os

# As in `transformer/__init__.py`: before torch is loaded.
if __name__ == "__main__" and "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import typer

from transformer.command_line.running import run

from transformer_book.ablation.command import ablate, replicate
from transformer_book.exercises.track.command import exercise
from transformer_book.export.command import export
from transformer_book.page.command import pack

app = typer.Typer(
    help="What the book does with a Transformer, beside its chapters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (exercise, pack, ablate, replicate):
    app.command()(command)
app.command(hidden=True)(export)  # listed by `python -m transformer`, which hands it on

if __name__ == "__main__":
    run(app)
