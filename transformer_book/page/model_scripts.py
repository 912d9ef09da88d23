"""A trained model as scripts, for a page that translates without a server.

A browser loads a script wherever the page comes from, from the disk too; a file of numbers it does
not. So a model becomes some scripts of text, small enough that reading one never makes the page
wait. What is in them: `pack` says it; `front_ends/live/weights.js` reads it.
"""

import base64
import json
import re
import shutil
import struct
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.support.files import write_atomically
from transformer.text import BPETokenizer, Tokenizer, WordTokenizer
from transformer.translation import Translator
from transformer.weights import load_model_tensors, model_tensors, only_in_modules
from transformer.weights.rounding import SCALE, rounded, unrounded

from transformer_book.both_ways import TwoWayTranslator, with_model
from transformer_book.shipped import shipped_model

PART = 2**18  # bytes of a part before it is compressed: some milliseconds of work for a phone
FORMAT = 2  # of what is packed; a page reads no other
LARGEST = 32 * 2**20  # bytes of all parts: a reader waits for them, and a phone computes with them
SCRIPT_TEXT = re.compile(r' = "([A-Za-z0-9+/=]+)";')


@dataclass(frozen=True)
class Packed:
    """A model for the page.

    Attributes:
        parts: compressed, in order; together the bytes that `pack` describes.
    """

    parts: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """What a reader downloads, in bytes (base64 adds a third, and the server takes it off)."""
        return sum(map(len, self.parts))

    def scripts(self, name: str) -> list[str]:
        """The scripts that leave the parts in the page's `bookModels`, under the model's name."""
        models = "(globalThis.bookModels ??= {})"
        return [
            f'({models}[{json.dumps(name)}] ??= [])[{i}] = "{base64.b64encode(part).decode()}";\n'
            for i, part in enumerate(self.parts)
        ]

    def loading_info(self, name: str) -> dict[str, Any]:
        """What a widget has to know to load it on a page: its name, scripts, bytes, and digests.

        A part's digest is the CRC-32 of its bytes: a page tells by it what was damaged on the way.
        """
        digests = [zlib.crc32(part) for part in self.parts]
        return {"name": name, "parts": len(self.parts), "bytes": self.size, "digests": digests}


def pack(translator: Translator) -> Packed:
    """The model and its tokenizer in bytes.

    First the length of the header (4 bytes, little-endian), then the header in JSON, filled up with
    spaces to a multiple of 4 bytes: the model's settings, the tokenizer's lists, what a model of
    two directions knows beside its weights, and the name and the shape of each tensor. Then all
    float32, in the order of the tensors: of a matrix the scales of its rows, of a vector its
    numbers. Then all whole numbers of 8 bits, in the same order: the rows of a matrix from the
    smallest scale to the largest (`rounding.py`). Rows of like scale hold numbers of like size,
    which take fewer bytes when they are compressed together.

    Raises:
        ValueError: no page could compute with it, or it is too large for one.
    """
    model = translator.model
    if others := only_in_modules(model):
        raise ValueError(f"a page computes with the paper's parts only; the model has {others}")
    for name, exact in model_tensors(model).items():
        if not exact.isfinite().all():
            raise ValueError(f"{name} holds numbers that are not finite; has the training failed?")
    tensors = {name: t.detach().cpu().numpy() for name, t in rounded(model_tensors(model)).items()}
    entries, floats, wholes = [], [], []
    for name, tensor in tensors.items():
        if name.endswith(SCALE):
            continue
        entries.append({"name": name, "shape": list(tensor.shape)})
        if tensor.ndim == 2:
            scale = tensors[name + SCALE]
            floats.append(scale.tobytes())
            wholes.append(tensor[_by_scale(scale)].tobytes())
        else:
            floats.append(tensor.tobytes())
    head = {
        "format": FORMAT,
        "config": model.config.to_dict(),
        "tokenizer": _lists(translator.tokenizer),
        "tensors": entries,
    }
    if isinstance(translator, TwoWayTranslator):
        head["both_ways"] = asdict(translator.ways)
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    whole = b"".join([struct.pack("<I", len(text)), text, *floats, *wholes])
    packed = Packed(tuple(_compressed(whole[i : i + PART]) for i in range(0, len(whole), PART)))
    if packed.size > LARGEST:
        raise ValueError(
            f"the model takes {packed.size / 2**20:.0f} MB, more than a page can ask of its "
            f"readers ({LARGEST / 2**20:.0f} MB); train a smaller one"
        )
    return packed


def unpack(packed: Packed) -> tuple[TransformerConfig, dict[str, Any], dict[str, torch.Tensor]]:
    """The settings, the tokenizer's lists and the tensors to compute with, as a page reads them."""
    whole = b"".join(map(zlib.decompress, packed.parts))
    length = struct.unpack_from("<I", whole)[0]
    head, at = json.loads(whole[4 : 4 + length]), 4 + length
    tensors, matrices = {}, []
    for name, shape in ((entry["name"], entry["shape"]) for entry in head["tensors"]):
        numbers = np.frombuffer(whole, "<f4", shape[0], at)
        at += numbers.nbytes
        if len(shape) == 2:
            matrices.append((name, shape, numbers))
        else:
            tensors[name] = torch.tensor(numbers)
    for name, shape, scale in matrices:
        rows = np.frombuffer(whole, "<i1", shape[0] * shape[1], at).reshape(shape)
        at += rows.nbytes
        tensors[name] = torch.empty(shape, dtype=torch.int8)
        tensors[name][torch.tensor(_by_scale(scale))] = torch.tensor(rows)
        tensors[name + SCALE] = torch.tensor(scale)
    return TransformerConfig(**head["config"]), head["tokenizer"], unrounded(tensors)


def _by_scale(scale: np.ndarray) -> np.ndarray:
    """The rows from the smallest scale to the largest; of equal ones the first comes first."""
    return np.argsort(scale, kind="stable")


def _compressed(data: bytes) -> bytes:
    """As zlib packs it best: text by its repetitions, numbers almost without looking for them."""
    packed = []
    for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED):
        packer = zlib.compressobj(level=9, memLevel=9, strategy=strategy)
        packed.append(packer.compress(data) + packer.flush())
    return min(packed, key=len)


def rounded_translator(translator: Translator) -> Translator:
    """The translator that a page has: the same, with each matrix in 8 bits."""
    model = Transformer(translator.model.config)
    load_model_tensors(model, unrounded(rounded(model_tensors(translator.model))))
    return with_model(translator, model.eval())


@cache
def shipped_pack(name: str) -> Packed:
    """A model that comes with the book, packed. Errors as in `shipped_model`."""
    return pack(shipped_model(name))


def page_model(name: str = "everyday") -> dict[str, Any]:
    """What a widget has to know to load a shipped model on a page, as `Packed` says it."""
    return shipped_pack(name).loading_info(name)


def write_scripts(packed: Packed, folder: Path, name: str) -> None:
    """Write the scripts FOLDER/0.js, FOLDER/1.js, ...; an earlier pack there is replaced whole.

    Raises:
        FileError: they could not be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        complete = Path(unfinished, folder.name)
        for i, script in enumerate(packed.scripts(name)):
            write_atomically(complete / f"{i}.js", script.encode())
        shutil.rmtree(folder, ignore_errors=True)
        complete.rename(folder)


def read_scripts(folder: Path) -> Packed:
    """The parts that `write_scripts` has left in a folder.

    Raises:
        ValueError: a script holds no part.
        OSError: there are none, or one cannot be read.
    """
    parts = []
    for i in range(max(1, len(list(folder.glob("*.js"))))):
        script = (folder / f"{i}.js").read_text(encoding="utf-8")
        match = SCRIPT_TEXT.search(script)
        if match is None:
            raise ValueError(f"{folder / f'{i}.js'} holds no part of a model")
        parts.append(base64.b64decode(match[1]))
    return Packed(tuple(parts))


def holds(packed: Packed, translator: Translator) -> bool:
    """Whether a pack is the translator's: its settings, its tokenizer, its weights in 8 bits."""
    config, lists, tensors = unpack(packed)
    expected = unrounded(rounded(model_tensors(translator.model)))
    return (
        config == translator.model.config
        and lists == _lists(translator.tokenizer)
        and tensors.keys() == expected.keys()
        and all(torch.equal(tensors[name], tensor.cpu()) for name, tensor in expected.items())
    )


def _lists(tokenizer: Tokenizer) -> Mapping[str, Any]:
    """What a tokenizer is made of: its tokens in the order of their ids, and its merges, if any.

    A merge is told by where it cuts the token that it makes, counted in UTF-16 as JavaScript does:
    the i-th merge makes the i-th of the tokens at the list's end. One that makes another token is
    its two parts, with a space between.

    Raises:
        ValueError: it is of neither kind.
    """
    if type(tokenizer) is WordTokenizer:
        return {"words": tokenizer.pieces(range(tokenizer.vocab_size))}
    if type(tokenizer) is BPETokenizer:
        vocab = tokenizer.pieces(range(tokenizer.vocab_size))
        found = json.loads(tokenizer.to_json())["model"]["merges"]
        merges = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in found]
        made = [*[None] * len(merges), *vocab][-len(merges) :] if merges else []
        return {
            "vocab": vocab,
            "merges": [
                len(first.encode("utf-16-le")) // 2
                if first + second == token
                else f"{first} {second}"
                for (first, second), token in zip(merges, made, strict=True)
            ],
        }
    raise ValueError(f"a page cannot read a tokenizer of the kind {type(tokenizer).__name__}")
