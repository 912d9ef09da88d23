"""The trained model that comes with the book."""

from pathlib import Path
from typing import TYPE_CHECKING

from transformer.files import book_folders

if TYPE_CHECKING:
    from transformer.translation import Translator


def shipped_model(name: str = "multi30k_de_en") -> "Translator":
    """A trained translator, on the CPU: no download, no training.

    Its model card (data, licence, command, commit, hardware, BLEU) is the README.md beside the
    weights. They are stored in 8 bits each (`rounding.py`) and computed with in float32.

    Raises:
        ValueError: there is none of this name.
    """
    from transformer.translation import Translator

    return Translator.load(shipped_folder(name))


def shipped_folder(name: str = "multi30k_de_en") -> Path:
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
