"""The trained model that comes with the book."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_book.results import book_folders

if TYPE_CHECKING:
    from transformer import Transformer
    from transformer.translation import Translator


def shipped_model(name: str = "everyday") -> "Translator":
    """A trained translator, on the CPU: no download, no training.

    Its model card (data, licence, command, commit, hardware, BLEU) is the README.md beside the
    weights. They are stored in 8 bits each (`rounding.py`) and computed with in float32.

    Raises:
        ValueError: there is none of this name.
    """
    from transformer.translation import Translator

    from transformer_book.both_ways import FILE, TwoWayTranslator

    folder = shipped_folder(name)
    kind = TwoWayTranslator if (folder / FILE).exists() else Translator
    return kind.load(folder)


def shipped_on_paper(name: str = "everyday") -> "Transformer":
    """The model of a shipped translator with its shapes and without its numbers, on "meta".

    It costs nothing, and draws no random number that a chapter would miss.

    Raises:
        ValueError: there is none of this name.
    """
    import torch

    from transformer import Transformer, TransformerConfig

    about = json.loads((shipped_folder(name) / "config.json").read_text(encoding="utf-8"))
    with torch.device("meta"):
        return Transformer(TransformerConfig(**about["config"]))


def shipped_folder(name: str = "everyday") -> Path:
    """Where a shipped model's weights, tokenizer and model card are.

    Raises:
        ValueError: there is none of this name.
    """
    configs = [path for root in book_folders("models") for path in root.glob("*/config.json")]
    folders = {path.parent.name: path.parent for path in configs}
    if name not in folders:
        names = ", ".join(sorted(folders)) or "none"
        raise ValueError(f"no model named {name!r} comes with the book; there are: {names}")
    return folders[name]
