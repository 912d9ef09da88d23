"""A trained model for other engines: weights, tokenizer, and a script that translates with both."""

import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from transformer.model import Transformer
from transformer.support.files import TransformerError, whole_folder
from transformer.text import Tokenizer
from transformer.weights import only_in_modules

# The libraries that write each format, by the names that both Python and pip have for them.
TARGETS = {
    "ctranslate2": ("ctranslate2", "tokenizers"),
    "onnx": ("onnx", "onnxscript", "tokenizers"),
    "hugging-face": ("transformers", "tokenizers"),
}


class ExportError(TransformerError):
    """A model that an engine cannot have, or a library that is missing; the message says which."""


def export_model(model: Transformer, tokenizer: Tokenizer, target: str, folder: Path) -> None:
    """Write a model for an engine into a folder of its own, which is there whole or not at all.

    Beside the model the folder holds tokenizer.json, which the library `tokenizers` reads, and
    translate.py, which reads sentences, one a line, and writes their translations, without this
    package. Weights stay in float32.

    Args:
        model: of the paper's kind.
        tokenizer: of both its languages.
        target: one of `TARGETS`.
        folder: does not exist yet.

    Raises:
        ExportError: the engine or the paper has no such model, or a library is missing.
        FileError: there is such a folder already.
        ValueError: the target is unknown.
    """
    if target not in TARGETS:
        raise ValueError(f"no engine {target!r}; choose one of {', '.join(TARGETS)}")
    if missing := [name for name in TARGETS[target] if find_spec(name) is None]:
        raise ExportError(
            f"an export to {target} needs {' and '.join(missing)}: pip install {' '.join(missing)}"
        )
    if others := only_in_modules(model):
        raise ExportError(f"an export has the paper's parts only; the model has {others}")
    module = target.replace("-", "_")
    writer = import_module(f"{__name__}.{module}")
    with whole_folder(folder) as unfinished:
        writer.write(model, tokenizer, unfinished)
        script = Path(__file__).with_name("scripts") / f"with_{module}.py"
        shutil.copyfile(script, unfinished / "translate.py")


def require_even_heads(model: Transformer, engine: str) -> None:
    """Refuse heads of another width than d_model / n_heads, which an engine takes for granted.

    Raises:
        ExportError: they have one.
    """
    c = model.config
    if {c.key_width, c.value_width} != {c.d_model / c.n_heads}:
        raise ExportError(
            f"{engine} has heads as wide as d_model / n_heads ({c.d_model / c.n_heads:g}), and "
            f"this model has d_k {c.key_width} and d_v {c.value_width}; export it to onnx"
        )
