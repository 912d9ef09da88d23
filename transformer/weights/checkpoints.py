"""Weights on disk, and their mean (section 6.1): safetensors, never pickle, never half a file."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as serialise_tensors
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from transformer.config import TransformerConfig
from transformer.model import EncoderDecoder, Transformer
from transformer.support.files import FileError, is_device, is_hollow, own_folder, write_atomically
from transformer.weights.elsewhere import replaced_parts
from transformer.weights.rounding import rounded, unrounded, unrounded_shapes

CHECKSUM = "sha256"  # in the metadata: of all tensors, where a file is not older than that
KEPT_WEIGHTS = "weights"  # a run's folder for the weights of its last checkpoints
# In bytes, of a file's list of tensors and metadata; a checkpoint's holds all metrics of its run.
LARGEST_HEADER = 2**20
LARGEST_STATE_HEADER = 2**24
# So many lists and dictionaries metadata may hold, and beyond them one for so many bytes: an entry
# of the metrics takes a hundred, an empty list takes three and becomes sixty in memory.
FREE_BRACKETS, BYTES_PER_BRACKET = 2**17, 32
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
# In bytes: so much the positions of a model may take, and so many times what its weights take.
FREE_POSITIONS, POSITIONS_RATIO = 2**23, 16

Shape = tuple[int, ...]

# Older files number the residuals of a layer, in this order.
RESIDUALS = {
    "encoder": ["self_attention", "feed_forward"],
    "decoder": ["self_attention", "cross_attention", "feed_forward"],
}
NUMBERED = re.compile(r"(?P<layer>(?P<stack>encoder|decoder)\.layers\.\d+)\.residuals\.(?P<n>\d)\.")


class CheckpointError(FileError):
    """Weights that could not be read, or do not fit; the message says why and what to do."""


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Write named tensors and JSON-able metadata, atomically.

    Raises:
        FileError: the file could not be written; an earlier one is untouched.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    metadata = {**metadata, CHECKSUM: _checksum(contiguous)}
    file = serialise_tensors(contiguous, {key: json.dumps(one) for key, one in metadata.items()})
    # The library writes the metadata in an order that changes; the same weights are the same file.
    end = 8 + int.from_bytes(file[:8], "little")
    header = json.dumps(json.loads(file[8:end]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    size = len(header).to_bytes(8, "little")
    write_atomically(path, b"".join([size, header, memoryview(file)[end:]]))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Raises:
        CheckpointError: the file is missing, damaged, or no safetensors file.
    """
    _, metadata = read_header(path, LARGEST_STATE_HEADER)
    with _said_of(path):
        tensors = parse_tensors(path.read_bytes())
        if metadata.pop(CHECKSUM, None) not in (None, _checksum(tensors)):
            raise ValueError("its numbers are not those that were written")
    return tensors, metadata


def _checksum(tensors: Mapping[str, Tensor]) -> str:
    """Of all numbers: a flipped bit can leave one finite, and the model speaking nonsense."""
    digest = sha256()
    for name in sorted(tensors):
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def read_header(path: Path, largest: int) -> tuple[dict[str, Shape], dict[str, Any]]:
    """The names and shapes of a file's tensors, and its metadata; the tensors stay on the disk.

    Args:
        path: what `save_tensors` wrote.
        largest: so many bytes the header may have.

    Raises:
        CheckpointError: the file is missing, cut short, or no safetensors file.
    """
    with _said_of(path):
        if is_device(path):
            raise ValueError("it is a pipe or a device")
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
        if size > largest:
            raise ValueError(f"its header would have {size:,} bytes")
        if is_hollow(path):
            raise ValueError("hardly anything of it has ever been written")
        with safe_open(path, framework="pt") as header:
            names = header.keys()
            shapes = {name: tuple(header.get_slice(name).get_shape()) for name in names}
            metadata = header.metadata() or {}
        return shapes, {key: _parsed(key, value) for key, value in metadata.items()}


def _parsed(key: str, text: str) -> Any:
    """A value of the metadata, if it does not become far larger than its text."""
    n_brackets = text.count("[") + text.count("{")
    if n_brackets > FREE_BRACKETS + len(text) / BYTES_PER_BRACKET:
        raise ValueError(f"its {key} holds {n_brackets:,} lists or dictionaries, nearly all empty")
    return json.loads(text)


@contextmanager
def _said_of(path: Path) -> Iterator[None]:
    """What may be wrong with a file of tensors, as sentences."""
    try:
        yield
    except OSError as error:
        raise CheckpointError(f"could not read {path}: {error.strerror or error}") from error
    except (SafetensorError, ValueError, LookupError, RecursionError) as error:
        raise CheckpointError(
            f"{path} is no complete safetensors file of this program ({error}); "
            "take another checkpoint, or train again"
        ) from error


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters, a shared matrix once, under its first name."""
    return dict(model.named_parameters())


def current_name(name: str) -> str:
    """A parameter's name today, where an older file numbers the residuals.

    encoder.layers.0.residuals.1.norm.weight -> encoder.layers.0.feed_forward_residual.norm.weight
    """

    def named(found: re.Match[str]) -> str:
        sublayers, n = RESIDUALS[found["stack"]], int(found["n"])
        return f"{found['layer']}.{sublayers[n]}_residual." if n < len(sublayers) else found[0]

    return NUMBERED.sub(named, name)


def load_model_tensors(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Copy saved parameters into a model of the same shape; their names may be older ones.

    Raises:
        CheckpointError: names or shapes differ, or what is in them is not finite numbers.
    """
    tensors = {current_name(name): tensor for name, tensor in tensors.items()}
    parameters = model_tensors(model)
    _require_same(_shapes(parameters), _shapes(tensors))
    for name, parameter in parameters.items():
        kind = tensors[name].dtype
        if kind not in FLOATS:
            raise CheckpointError(f"{name} holds {kind}, and weights are torch.float32")
        if not tensors[name].to(parameter.dtype).isfinite().all():
            raise CheckpointError(f"{name} holds numbers that are not finite; train again")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[name])


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, Shape]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _require_same(of_model: Mapping[str, Shape], of_file: Mapping[str, Shape]) -> None:
    """Hold names and shapes of a model against those of a file."""
    if of_model.keys() != of_file.keys():
        odd = min(of_model.keys() ^ of_file.keys())
        raise CheckpointError(f"the weights belong to another model: {odd} is not in both")
    for name, shape in of_model.items():
        if shape != of_file[name]:
            raise CheckpointError(
                f"the weights belong to another model: {name} is {shape} in the model and "
                f"{of_file[name]} in the file"
            )


def parameter_shapes(config: TransformerConfig, most_layers: int | None = None) -> dict[str, Shape]:
    """The names and shapes of a model's parameters, known without building it.

    Args:
        config: the model's settings.
        most_layers: the later layers are left out.

    Raises:
        ValueError: no tensor can be as large as the settings say.
    """
    # All layers are alike; and sinusoids, which are no parameters, would be computed.
    one = replace(config, n_layers=1, positions="learned")
    try:
        with torch.device("meta"), _WithoutDrawing():
            first = _shapes(model_tensors(Transformer(one)))
    except (RuntimeError, TypeError, OverflowError):
        raise ValueError("no tensor can be as large as the model's settings say") from None
    if config.positions == "sinusoidal":
        first = {name: shape for name, shape in first.items() if "_positions." not in name}
    n_layers = config.n_layers if most_layers is None else min(config.n_layers, most_layers)
    layers = {name: shape for name, shape in first.items() if ".layers.0." in name}
    return first | {
        name.replace(".layers.0.", f".layers.{i}."): shape
        for i in range(1, n_layers)
        for name, shape in layers.items()
    }


class _WithoutDrawing(TorchFunctionMode):
    """Weights stay as they are made; on `meta`, drawing them would load half of torch."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in ("uniform_", "normal_", "kaiming_uniform_"):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def _require_fitting(config: TransformerConfig, shapes: Mapping[str, Shape], n_bytes: int) -> None:
    """Hold a configuration against a file's tensors, before there is a model of it in memory.

    Raises:
        CheckpointError: the file has other tensors, or positions that outweigh them all.
    """
    # One layer more than there can be in the file: enough to differ.
    expected = parameter_shapes(config, most_layers=len(shapes) // 8 + 1)
    _require_same(expected, {current_name(name): shape for name, shape in shapes.items()})
    table = 4 * config.max_len * config.d_model
    if config.positions == "sinusoidal" and table > FREE_POSITIONS + POSITIONS_RATIO * n_bytes:
        raise CheckpointError(
            f"max_len ({config.max_len}) would take {table / 2**20:,.0f} MB for positions alone, "
            f"far more than the weights, {n_bytes / 2**20:,.1f} MB; is it damaged?"
        )


def save_model(path: Path, model: EncoderDecoder, *, in_8_bits: bool = False) -> None:
    """Write the weights and the configuration into one file, and which tokenizer is beside it.

    Args:
        path: the file.
        model: stays as it is.
        in_8_bits: round the matrices as `rounding.py` does; the file is a quarter as large.
    """
    tensors = model_tensors(model)
    metadata: dict[str, Any] = {"config": model.config.to_dict()}
    if tokenizer := _tokenizer_beside(path):
        metadata["tokenizer"] = tokenizer
    if replaced := replaced_parts(model):
        metadata["replaced"] = replaced
    save_tensors(path, rounded(tensors) if in_8_bits else tensors, metadata)


def _tokenizer_beside(path: Path) -> str:
    """What tells the tokenizer in the folder of some weights from all others; "" for none."""
    beside = path.with_name("tokenizer.json")
    return sha256(beside.read_bytes()).hexdigest() if beside.is_file() else ""


def load_model(path: Path) -> Transformer:
    """Build the model that `save_model` wrote, in evaluation mode, on the CPU.

    Raises:
        CheckpointError: the file is damaged, or not of a model of the paper's, or the tokenizer
            beside it is not the one that was there when it was written.
    """
    shapes, metadata = read_header(path, LARGEST_HEADER)
    if "config" not in metadata:
        raise CheckpointError(f"{path} holds no model configuration; it is not a model's file")
    if "training" in metadata:
        raise CheckpointError(f"{path} is a training checkpoint; the model is in model.safetensors")
    if replaced := metadata.get("replaced"):
        raise CheckpointError(
            f"{path} holds a variant of the paper's model, with {str(replaced)[:300]} in "
            "it: build the same one (transformer.variants.build) and give it the file's tensors "
            "(load_model_tensors)"
        )
    beside = _tokenizer_beside(path)
    if beside and metadata.get("tokenizer", beside) != beside:
        raise CheckpointError(
            f"{path} was written beside another tokenizer than the tokenizer.json that is there "
            "now; take both from a copy of the run"
        )
    try:
        config = TransformerConfig(**metadata["config"])
        _require_fitting(config, unrounded_shapes(shapes), path.stat().st_size)
        model = Transformer(config)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    except (TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{path} has a configuration that does not fit: {error}") from error
    tensors, _ = load_tensors(path)
    try:
        load_model_tensors(model, unrounded(tensors))
    except (CheckpointError, ValueError) as error:
        raise CheckpointError(f"{path}: {error}") from error
    return model.eval()


def keep_weights(run_dir: Path, step: int, model: EncoderDecoder, keep: int) -> None:
    """Put the weights of a step beside those of earlier ones, of which the last `keep` stay.

    Raises:
        FileError: they could not be written, or RUN/weights is a link.
    """
    folder = own_folder(run_dir / KEPT_WEIGHTS)
    folder.mkdir(parents=True, exist_ok=True)
    save_model(folder / f"step-{step:09}.safetensors", model)
    for path in kept_weights(run_dir)[:-keep]:
        path.unlink()


def kept_weights(run_dir: Path) -> list[Path]:
    """The files that `keep_weights` has left, the oldest first."""
    return sorted((run_dir / KEPT_WEIGHTS).glob("step-*.safetensors"))


@torch.no_grad()
def average_models(paths: Sequence[Path]) -> Transformer:
    """A model whose weights are the mean of those in the files.

    The paper averages the last 5 checkpoints of the base model, written ten minutes apart, and
    the last 20 of the big one.

    Raises:
        CheckpointError: a file is damaged, or holds a model of another shape.
        ValueError: there are no files.
    """
    if not paths:
        raise ValueError("there are no weights to average; give at least one file")
    average = load_model(paths[0])
    sums = {name: tensor.double() for name, tensor in model_tensors(average).items()}
    for path in paths[1:]:
        model = load_model(path)
        if model.config != average.config:
            raise CheckpointError(f"{path} holds another model than {paths[0]}")
        for name, tensor in model_tensors(model).items():
            sums[name] += tensor
    means = {name: (total / len(paths)).float() for name, total in sums.items()}
    load_model_tensors(average, means)
    return average
