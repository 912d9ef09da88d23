"""A page of one's own: a trained model in a folder, to be opened from the disk or from any server.

It holds what the book's pages hold: the decoder at work, the explorers of heads and of beam search,
the scripts that run them without a kernel, and the model itself, which translates where the page is
read.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from transformer.support.files import FileError
from transformer.text import BOS_ID, EOS_ID
from transformer.text.sentences import texts_of
from transformer.translation import Translator

from transformer_book.page.model_scripts import (
    Packed,
    holds,
    pack,
    read_scripts,
    rounded_translator,
    write_scripts,
)

if TYPE_CHECKING:
    from transformer_book.widgets.base import Widget

NAME = "own"  # of the model, on its page
# Nothing comes from elsewhere and nothing goes there; a model is compiled, by WebAssembly alone.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src data:"
)
# The widgets know the colours of a dark page by this attribute.
THEME = """\
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
};
dark.addEventListener("change", follow);
follow();
"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/widgets/widgets.css">
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: system-ui, sans-serif; line-height: 1.5; margin: 0 auto; max-width: 60rem;
  padding: 1rem; }}
</style>
<script src="_static/theme.js"></script>
<script defer src="_static/widgets.js"></script>
</head>
<body>
<main>
<h1>{title}</h1>
<p>A Transformer with {parameters:,} weights, in 8 bits each. It runs in this page: what you type
stays on your computer.</p>
<noscript><p>The page computes by scripts; allow them for it.</p></noscript>
{sections}
</main>
</body>
</html>
"""


@dataclass(frozen=True)
class OwnPage:
    """What was written.

    Attributes:
        packed: the model, as it was read back from the folder.
        n_bytes: of all files in the folder.
        translations: for each sentence that the page shows first, what the page makes of it and
            what the model does before its weights are rounded.
    """

    packed: Packed
    n_bytes: int
    translations: list[tuple[str, str]]


def write_page(
    translator: Translator, folder: Path, sentences: Iterable[str], title: str
) -> OwnPage:
    """Write the page of a model into a new folder, whole or not at all, and read the model back.

    Args:
        translator: the model and its tokenizer.
        folder: to be made; its index.html is the page.
        sentences: those that the page shows before a reader's own.
        title: of the page.

    Raises:
        FileError: the folder is there already, or could not be written as it should be.
        ValueError: no page can compute with the model, or a sentence is empty or too long.
    """
    sentences = texts_of(sentences, "sentences")
    if folder.exists():
        raise FileError(f"{folder} is there already; name another folder")
    packed, on_page = pack(translator), rounded_translator(translator)
    translations = zip(on_page.translate(sentences), translator.translate(sentences), strict=True)
    page = _page(on_page, packed, sentences, title)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            complete = Path(unfinished, folder.name)
            _fill(complete, page, packed)
            found = read_scripts(_models(complete))
            if not holds(found, translator):
                raise FileError(f"{folder} does not hold what was written; is the disk damaged?")
            n_bytes = sum(path.stat().st_size for path in complete.rglob("*") if path.is_file())
            complete.rename(folder)
    except (OSError, FileError) as error:
        # A full disk is often met in a file of the unfinished folder, which is nobody's to know.
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            raise
        remedy = "free some space, or name another folder"
        raise FileError(f"could not write {folder}: {cause.strerror or cause}; {remedy}") from error
    return OwnPage(found, n_bytes, list(translations))


def _explorers(
    translator: Translator, packed: Packed, sentences: Sequence[str]
) -> Iterator[tuple[str, "Widget"]]:
    """What the page shows, each under its heading."""
    from transformer_book.widgets import AttentionHeads, BeamExplorer, DecoderAtWork

    live = packed.loading_info(NAME)
    yield "How it writes", DecoderAtWork(translator, sentences[0], live=live)
    # One field for the page, the first figure's.
    live = {**live, "follows": True}
    heads = [translator.attention(sentence) for sentence in sentences]
    yield "What its heads look at", AttentionHeads(heads, kind="cross", live=live)
    beams = BeamExplorer(translator, list(sentences), bos_id=BOS_ID, eos_id=EOS_ID, live=live)
    beams.step = beams.n_steps
    yield "How it searches", beams


FRONT_ENDS = ("attention_heads", "beam_explorer", "decoder_at_work", "live")


def _page(translator: Translator, packed: Packed, sentences: Sequence[str], title: str) -> str:
    from transformer_book.widgets.static_page import element_of_widget

    sections = (
        f"<h2>{heading}</h2>\n{element_of_widget(widget)}"
        for heading, widget in _explorers(translator, packed, sentences)
    )
    return PAGE.format(
        policy=POLICY,
        title=escape(title),
        parameters=translator.model.n_parameters(),
        sections="\n".join(sections),
    )


def _models(folder: Path) -> Path:
    return folder / "_static" / "models" / NAME


def _fill(folder: Path, page: str, packed: Packed) -> None:
    """All files of the page."""
    from transformer_book.widgets.static_page import write_front_ends, write_host

    static = folder / "_static"
    write_front_ends(static / "widgets", FRONT_ENDS)
    write_scripts(packed, _models(folder), NAME)
    write_host(static)
    (static / "theme.js").write_text(THEME, encoding="utf-8")
    (folder / "index.html").write_text(page, encoding="utf-8")
