"""Packages that offer the names of their modules, each imported when it is first asked for.

So `from transformer_book.figures import mask_heatmap` reads the figures of masks and no others, and
a new figure or widget is offered without a list in which it would have to stand.
"""

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

PUBLIC = r"^(?:def|class) ([A-Za-z]\w*)"


def definitions(folder: Path, package: str, defined: str = PUBLIC) -> dict[str, str]:
    """What the modules of a folder define at their top: by name, the module's full name.

    Args:
        folder: of the package.
        package: its name.
        defined: finds the name in a line; all public functions and classes by default.
    """
    return {
        name: f"{package}.{path.stem}"
        for path in sorted(folder.glob("[!_]*.py"))
        for name in re.findall(defined, path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: its name.
        homes: by the names that it offers, the modules in which they are. A module of the name
            itself is what is offered.
    """

    def ask(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        value = module if homes[name].endswith(f".{name}") else getattr(module, name)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return ask, names
