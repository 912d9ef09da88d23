"""The book's learning tasks, ready to train, and the one registry in which all commands find them.

A module of this package with `KINDS` in it adds its tasks to `TASKS`: nothing else has to be
changed for a new one.
"""

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from transformer.tasks.copying import copy_splits, copy_task
from transformer.tasks.corpora import LARGE, SMALL, iwslt_task, text_task
from transformer.tasks.multi30k import multi30k_splits, multi30k_task
from transformer.tasks.parsing import TREES, parsing_splits, parsing_task
from transformer.tasks.start import Start
from transformer.tasks.task import (
    Judge,
    Recipe,
    Settings,
    Splits,
    Task,
    TaskKind,
    build_task,
    chosen_split,
    translatable,
)
from transformer.tasks.toy_german import TOY_PAIRS, toy_german_splits, toy_german_task

__all__ = [
    "LARGE",
    "SMALL",
    "TASKS",
    "TOY_PAIRS",
    "TREES",
    "Judge",
    "Recipe",
    "Settings",
    "Splits",
    "Start",
    "Task",
    "TaskKind",
    "build_task",
    "chosen_split",
    "copy_splits",
    "copy_task",
    "fetch_data",
    "iwslt_task",
    "kind_of",
    "multi30k_splits",
    "multi30k_task",
    "parsing_splits",
    "parsing_task",
    "splits_of_run",
    "text_task",
    "toy_german_splits",
    "toy_german_task",
    "translatable",
]


def _found(folders: Iterable[str]) -> dict[str, TaskKind]:
    """The tasks of all modules in the package's folders, the easiest first."""
    modules = [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(folders)]
    kinds = {
        name: kind for module in modules for name, kind in getattr(module, "KINDS", {}).items()
    }
    return dict(sorted(kinds.items(), key=lambda item: (item[1].level, item[0])))


TASKS = _found(__path__)


def kind_of(name: str) -> TaskKind:
    """The entry of a task.

    Raises:
        ValueError: there is no task of this name.
    """
    if name not in TASKS:
        raise ValueError(f"unknown task {name!r}; choose one of {', '.join(TASKS)}")
    return TASKS[name]


def splits_of_run(run: Mapping[str, Any], data_path: Path | None = None) -> Splits:
    """The texts by which a run is judged, from its config.json and from where the data lie.

    Raises:
        ValueError: the run learned a task that is not known here, or does not say on which data.
        DataError: the data are missing or damaged.
    """
    try:
        return kind_of(run["task"]).splits(data_path, run)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(
            f"the run's config.json does not say what it was trained on ({error!r})"
        ) from error


def fetch_data(name: str, folder: Path | None = None) -> Path:
    """Download a task's data where they are not there yet; return what `--data` takes.

    Args:
        name: the task.
        folder: where to keep them; the user's cache when None.

    Raises:
        ValueError: there is no such task, or nothing to download for it.
        DataError: no address gave the file that was expected.
    """
    fetch = TASKS[name].fetch if name in TASKS else None
    if fetch is None:
        there = ", ".join(name for name, kind in TASKS.items() if kind.fetch)
        raise ValueError(f"no corpus {name!r} to fetch; there are {there}")
    return fetch(folder)
