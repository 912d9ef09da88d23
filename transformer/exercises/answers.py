"""Compares an answer with the target: first its form, then its numbers; differences in words."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

ORDINALS = ("first", "second", "third")


class Gap(NamedTuple):
    """Where an answer differs from the target.

    Attributes:
        sentence: which entry, what it is and what it should be.
        part: the index of the part of the result, where there are several.
        position: of the entry.
    """

    sentence: str
    part: int
    position: tuple[int, ...]


def form_fault(answer: Any, target: Any, names: Sequence[str], axes: Sequence[str | None]) -> str:
    """What is wrong with an answer's type, shape or dtype, as the end of a sentence; "" if nothing.

    Args:
        names: of the parts of the result, if there are several.
        axes: the names of the axes of each part.
    """
    if answer is None:
        return "returns nothing (None): is a `return` missing?"
    if isinstance(target, tuple):
        return _parts_fault(answer, target, names, axes)
    return _fault(answer, target, axes[0] if axes else None)


def _parts_fault(
    answer: Any, target: tuple[Any, ...], names: Sequence[str], axes: Sequence[str | None]
) -> str:
    wanted = ", ".join(names)
    if not isinstance(answer, tuple | list):
        return f"returns {_kind(answer)}; it should return {len(target)} things: {wanted}"
    if len(answer) != len(target):
        return f"returns {len(answer)} things; it should return {len(target)}: {wanted}"
    for name, one in zip(names, answer, strict=True):
        if one is None:
            return f"returns None for {name}"
    for name, one, other, each in zip(names, answer, target, axes, strict=True):
        if fault := _fault(one, other, each):
            return f"{fault} ({name})"
    return ""


def _fault(answer: Any, target: Any, axes: str | None) -> str:
    if isinstance(target, Tensor):
        return _tensor_fault(answer, target, axes)
    if isinstance(target, list):
        return _list_fault(answer, target)
    kind = int if isinstance(target, int) else float
    # A whole number serves where any number does, and NumPy's numbers do.
    allowed = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
    if isinstance(answer, bool) or not isinstance(answer, allowed):
        way = ": .item() makes one of it" if isinstance(answer, Tensor) else ""
        whole = "a whole number (int)" if kind is int else "a plain number (float)"
        return f"returns {_kind(answer)}; it should return {whole}{way}"
    return ""


def _tensor_fault(answer: Any, target: Tensor, axes: str | None) -> str:
    if isinstance(answer, np.ndarray):
        return "returns a NumPy array; it should return a torch.Tensor"
    if not isinstance(answer, Tensor):
        return f"returns {_kind(answer)}; it should return a torch.Tensor"
    if not is_plain(answer):
        kind = f"{answer.layout} on {answer.device}".replace("torch.", "")
        return f"returns a tensor that is {kind}; it should be an ordinary one on the CPU"
    if answer.shape != target.shape:
        names = (axes or "").replace("*batch", "...").split()
        named = f", that is ({', '.join(names)})" if names else ""
        return f"returns shape {_shape(answer)}; here it should be {_shape(target)}{named}"
    if answer.dtype != target.dtype:
        return f"returns a tensor of {_dtype(answer.dtype)}; it should be {_dtype(target.dtype)}"
    return ""


def _list_fault(answer: Any, target: list[Any]) -> str:
    kind = "strings" if target and isinstance(target[0], str) else "whole numbers"
    if not isinstance(answer, list | tuple):
        way = ": .tolist() makes one of it" if isinstance(answer, Tensor | np.ndarray) else ""
        return f"returns {_kind(answer)}; it should return a list of {kind}{way}"
    allowed = str if kind == "strings" else (int, np.integer)
    for i, each in enumerate(answer if target else ()):  # of an empty list the kind is not known
        if not isinstance(each, allowed):
            return f"returns a list of {kind} in which element {i} is {_kind(each)}"
    return ""


def _kind(value: Any) -> str:
    """What something is, with its article: "a list", "a tensor"."""
    name = "tensor" if isinstance(value, Tensor) else type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _dtype(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    return {"bool": "True and False (bool)"}.get(name, name)


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor's numbers can be looked at: it is dense, and in the CPU's memory."""
    return tensor.layout == torch.strided and tensor.is_cpu and not tensor.is_quantized


def equal(one: Any, other: Any, tolerance: float) -> bool:
    """Whether two results are the same but for rounding; NaN equals NaN."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(equal(a, b, tolerance) for a, b in pairs)
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        if not (is_plain(one) and is_plain(other)):
            return False
        if not one.is_floating_point():
            return torch.equal(one, other)
        return torch.allclose(one, other, rtol=tolerance, atol=tolerance / 10, equal_nan=True)
    if isinstance(one, float | int | np.number) and isinstance(other, float | int | np.number):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-12)
    return type(one) is type(other) and bool(one == other)


def changed(before: Any, after: Any) -> bool:
    """Whether an argument is another one after a call than before."""
    if isinstance(before, Tensor):
        return before.shape != after.shape or not equal(before, after.detach(), 0.0)
    if isinstance(before, list):
        other = any(changed(a, b) for a, b in zip(before, after, strict=False))
        return other or len(before) != len(after)
    return isinstance(before, int | float | str) and before != after


def gap(answer: Any, target: Any, tolerance: float, names: Sequence[str] = ()) -> Gap | None:
    """The first difference between an answer and the target, whose forms are the same."""
    if not isinstance(target, tuple):
        return _gap(answer, target, tolerance, "the result", 0)
    for part, (one, other, name) in enumerate(zip(answer, target, names, strict=True)):
        if found := _gap(one, other, tolerance, name, part):
            return found
    return None


def _gap(answer: Any, target: Any, tolerance: float, name: str, part: int) -> Gap | None:
    if equal(answer, target, tolerance):
        return None
    if not isinstance(target, Tensor):
        if isinstance(target, list):
            return Gap(f"{name} is {list(answer)}, and should be {target}", part, ())
        return Gap(f"{name} is {number(answer)}, and should be {number(target)}", part, ())
    if target.is_floating_point():
        close = torch.isclose(answer, target, tolerance, tolerance / 10, equal_nan=True)
    else:
        close = answer == target
    wrong = (~close).nonzero()
    index = tuple(wrong[0].tolist())
    where = f"entry [{', '.join(map(str, index))}] of {name}" if index else name
    share = f" ({len(wrong)} of {target.numel()} entries differ)" if target.numel() > 1 else ""
    one, other = number(answer[index].item()), number(target[index].item())
    return Gap(f"{where} is {one}, and should be {other}{share}", part, index)


def number(value: Any) -> str:
    """A number as a sentence has it."""
    if isinstance(value, bool) or not isinstance(value, float | np.floating):
        return (
            f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
        )
    if math.isnan(value):
        return "NaN"
    return "0" if value == 0 else f"{value:.4g}"
