"""The model's three attentions as the widgets name them, and the text of its tokens."""

from collections.abc import Sequence

from transformer.text import SPACE

# Whose tokens ask, and whose tokens are asked.
KINDS = {
    "encoder self": ("source", "source"),
    "decoder self": ("target", "target"),
    "cross": ("target", "source"),
}


def text_of(pieces: Sequence[str], marked: bool) -> str:
    """Tokens as one text: words, or pieces with a mark where a word begins."""
    return "".join(pieces).replace(SPACE, " ").strip() if marked else " ".join(pieces)
