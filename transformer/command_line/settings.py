"""What a dataclass or a function says about its settings: each is written once, with its help."""

import inspect
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

IN_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
    list[str]: "a list of texts",
}
# Of a value in a message. What YAML repeats by reference would be endless when written out.
SHORT = reprlib.Repr()
SHORT.maxlevel = 2


@dataclass(frozen=True)
class Setting:
    """What may be set.

    Attributes:
        type: of its values: one of IN_WORDS, a `Literal` of words, or a tuple of numbers.
        may_be_none: whether None is a value too.
        help: a sentence.
    """

    type: Any
    may_be_none: bool
    help: str

    def read(self, value: Any, name: str) -> Any:
        """A value, as JSON or YAML gives it, in the setting's type.

        Raises:
            ValueError: it has another type; the message calls it by the name.
        """
        if value is None and self.may_be_none:
            return None
        try:
            return _in_type(value, self.type)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"{name} ({SHORT.repr(value)}) must be {_in_words(self.type)}"
            ) from None


def settings_of(described: Any) -> dict[str, Setting]:
    """The fields of a dataclass or the parameters of a function that a person can write down.

    Others (objects, settings within settings) are left out.
    """
    helps, found = help_of(described), {}
    for name, hint in get_type_hints(described).items():
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        kind = Path if Path in kinds else kinds[0]
        kind = list[str] if kind == Sequence[str] else kind
        if kind in IN_WORDS or get_origin(kind) in (Literal, tuple):
            found[name] = Setting(kind, NoneType in kinds, helps.get(name, ""))
    return found


def help_of(described: Any) -> dict[str, str]:
    """The text about each setting, by name, from the `Args:` of a docstring.

    A text that runs over several lines comes on one.
    """
    _, _, section = (inspect.getdoc(described) or "").partition("\nArgs:\n")
    args, _, _ = section.partition("\n\n")
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", args, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def read_settings(
    given: Any, settings: Mapping[str, Setting], name: str, *, ignored: Sequence[str] = ()
) -> dict[str, Any]:
    """Several values, as JSON or YAML gives them, in their settings' types.

    Raises:
        ValueError: one is no setting, or of another type; the message begins with the name.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{name} ({SHORT.repr(given)}) must be settings with their values")
    given = {key: value for key, value in given.items() if key not in ignored}
    for key in given:
        if key not in settings:
            raise ValueError(f"{name}.{key} is no setting; there are {', '.join(settings)}")
    return {key: settings[key].read(value, f"{name}.{key}") for key, value in given.items()}


def _in_type(value: Any, kind: Any) -> Any:
    if get_origin(kind) is tuple:
        return tuple(_in_type(v, k) for v, k in zip(value, get_args(kind), strict=True))
    if get_origin(kind) is Literal:
        fits = value in get_args(kind)
    elif kind == list[str]:
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
    elif kind is float and type(value) in (int, str):
        return float(value)  # YAML takes 1e-9 for text
    elif kind is Path:
        return Path(value)
    else:
        fits = type(value) is kind
    if not fits:
        raise ValueError
    return value


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if get_origin(kind) is tuple:
        return f"{len(get_args(kind))} numbers"
    return IN_WORDS[kind]
