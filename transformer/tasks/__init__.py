"""The book's learning tasks, ready to train, by name."""

from collections.abc import Callable

from transformer.tasks.copying import copy_splits, copy_task
from transformer.tasks.corpora import CAMPAIGNS, CORPUS_TASKS, LARGE, SMALL, iwslt_task, text_task
from transformer.tasks.multi30k import multi30k_splits, multi30k_task
from transformer.tasks.task import Settings, Task, build_task, chosen_split
from transformer.tasks.toy_german import TOY_PAIRS, toy_german_splits, toy_german_task

__all__ = [
    "CAMPAIGNS",
    "CORPUS_TASKS",
    "LARGE",
    "SMALL",
    "TASKS",
    "TOY_PAIRS",
    "Settings",
    "Task",
    "build_task",
    "chosen_split",
    "copy_splits",
    "copy_task",
    "iwslt_task",
    "multi30k_splits",
    "multi30k_task",
    "text_task",
    "toy_german_splits",
    "toy_german_task",
]

TASKS: dict[str, Callable[..., Task]] = {
    "copy": copy_task,
    "toy": toy_german_task,
    "multi30k": multi30k_task,
}
