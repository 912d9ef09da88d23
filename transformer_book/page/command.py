"""`python -m transformer_book pack`: a page of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from transformer.command_line.options import RunFolder
from transformer.command_line.running import say
from transformer.runs import load_run

from transformer_book.page.own_page import write_page


def pack(
    run: RunFolder,
    sentence: Annotated[
        list[str] | None,
        typer.Option(help="What the page shows first; may be given again. As the run says."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to make; RUN/page by default.")] = None,
) -> None:
    """Make a page of a run: open it from the disk or put it on a server, and it translates there.

    The page shows what the heads look at and how a search finds its words, also
    for sentences of its readers. Weights are rounded to 8 bits for it.
    """
    translator, config = load_run(run)
    sentences = sentence or [text for text in [config.get("example")] if isinstance(text, str)]
    if not sentences:
        raise typer.BadParameter("the run names no example; give one to show first: --sentence")
    folder = out or run / "page"
    page = write_page(translator, folder, sentences, run.resolve().name)
    n_parts, size, n_bytes = len(page.packed.parts), page.packed.size, page.n_bytes
    parts = f"{n_parts} part{'s' if n_parts > 1 else ''}"
    say(
        f"{_bytes(size)} to download for the model, in {parts}; {_bytes(n_bytes)} on the disk with "
        "the page"
    )
    say("Read back: the run's settings, its tokenizer, and its weights, rounded to 8 bits")
    for source, (rounded, exact) in zip(sentences, page.translations, strict=True):
        say(f"{source} -> {rounded}")
        if rounded != exact:
            say(f"  before the weights were rounded: {exact}")
    say(f"Open {folder / 'index.html'}")


def _bytes(n: int) -> str:
    """As readers are told, in the page too."""
    return f"{-(-n // 1000)} kB" if n < 1e5 else f"{n / 1e6:.1f} MB"
