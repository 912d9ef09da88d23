"""`python -m transformer export`: a run for another engine."""

from pathlib import Path
from typing import Annotated

import typer

from transformer.command_line.options import RunFolder
from transformer.command_line.running import say
from transformer.runs import load_run
from transformer.support.terminal import command_line

from transformer_book.export import TARGETS, export_model


def export(
    run: RunFolder,
    to: Annotated[str, typer.Option(help=f"For which engine: {', '.join(TARGETS)}.")],
    out: Annotated[Path | None, typer.Option(help="Folder to make; RUN/ENGINE by default.")] = None,
) -> None:
    """Write a run for another engine: CTranslate2, ONNX Runtime or Hugging Face's transformers.

    The folder holds the model, its tokenizer, and translate.py, a few lines that translate with
    them and need nothing of this package. Greedy search finds the same tokens with all of them.
    """
    folder = out or run / to
    translator, _ = load_run(run)
    export_model(translator.model, translator.tokenizer, to, folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    say(f"{size / 1e6:.1f} MB in {folder}")
    say(f"Try it: {command_line('python', folder / 'translate.py')} < sentences.txt")
