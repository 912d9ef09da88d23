"""The book's tasks: their data fit their tokenizers, their recipes their models."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from transformer.data.toy_german import ToyGerman, toy_german
from transformer.tasks import (
    Recipe,
    Task,
    build_task,
    copy_splits,
    copy_task,
    multi30k_splits,
    multi30k_task,
    splits_of_run,
    toy_german_splits,
    toy_german_task,
)
from transformer.text import UNK_ID, WordTokenizer


@pytest.mark.slow
def test_the_copy_task_is_judged_by_sequences_that_it_has_not_seen() -> None:
    task = copy_task()
    test = task.splits["test"]
    trained = {task.tokenizer.decode(source) for source, _ in task.pairs}
    assert not trained & set(test.source)
    assert test.source == test.target
    assert len(test) == 1000


@cache
def small_corpus() -> ToyGerman:
    """One that does not take half a minute."""
    return toy_german(n_train=10_000)


def small_toy_german_task(**settings: Any) -> Task:
    return toy_german_task(corpus=small_corpus(), **settings)


@pytest.mark.slow
def test_toy_german_has_a_word_for_everything() -> None:
    corpus = small_corpus()
    task = toy_german_task(corpus=corpus)
    for pair, sides in zip(corpus.train, task.pairs, strict=True):
        for words, ids in zip((pair.source, pair.target), sides, strict=True):
            assert UNK_ID not in ids
            assert tuple(task.tokenizer.decode(ids).split()) == words
    for text in task.splits.values():
        for line in (*text.source, *text.target):
            assert UNK_ID not in task.tokenizer.encode(line)
            assert task.tokenizer.decode(task.tokenizer.encode(line)) == line


@pytest.mark.slow
def test_multi30k_recipe_counts_epochs_in_steps(few_captions) -> None:
    one, two = (
        multi30k_task(few_captions, training={"epochs": epochs}).training for epochs in (1, 2)
    )
    assert two.steps == pytest.approx(2 * one.steps, abs=1)
    assert one.evaluate_every == one.steps
    accumulated = multi30k_task(few_captions, training={"epochs": 1, "accumulate": 4})
    assert accumulated.training.steps == pytest.approx(one.steps / 4, abs=1)


def test_steps_override_epochs(few_captions) -> None:
    task = multi30k_task(few_captions, training={"steps": 7})
    assert task.training.steps == 7
    assert multi30k_splits(few_captions) == task.splits


@pytest.mark.slow
@pytest.mark.parametrize("task", [copy_task, small_toy_german_task])
def test_epochs_stand_in_place_of_the_recipes_steps(task) -> None:
    half, whole = (task(training={"epochs": epochs}).training for epochs in (0.5, 1))
    assert whole.steps == pytest.approx(2 * half.steps, abs=1)
    assert whole.steps != task().training.steps
    assert whole.evaluate_every == whole.steps


@pytest.mark.slow
def test_steps_and_epochs_together_are_refused() -> None:
    with pytest.raises(ValueError, match="set one of them"):
        copy_task(training={"steps": 7, "epochs": 1})
    with pytest.raises(ValueError, match=r"epochs \(0\) must be more than 0"):
        copy_task(training={"epochs": 0})
    for epochs in (math.inf, math.nan):
        with pytest.raises(ValueError, match="must be more than 0 and finite"):
            copy_task(training={"epochs": epochs})
    with pytest.raises(ValueError, match="accumulate"):
        copy_task(training={"epochs": 1, "accumulate": 0})


@pytest.mark.slow
def test_the_splits_are_the_tasks_without_its_training() -> None:
    assert copy_splits(3) == copy_task(training={"seed": 3}).splits
    corpus = small_corpus()
    assert toy_german_splits(corpus) == toy_german_task(corpus=corpus).splits


def test_settings_of_the_model_override_the_recipe() -> None:
    task = copy_task(model={"n_layers": 3, "norm": "post"}, training={"seed": 5})
    model = task.build_model()
    assert (model.config.n_layers, model.config.norm, task.training.seed) == (3, "post", 5)


@pytest.mark.slow
def test_the_seed_decides_the_first_weights() -> None:
    first, same, other = (
        copy_task(training={"seed": seed}).build_model().output.weight for seed in (1, 1, 2)
    )
    assert first.equal(same)
    assert not first.equal(other)


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(ValueError, match="no split 'dev'; there are test"):
        copy_task().evaluator("dev")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_layers": 10**6}, r"a model of [\d,]+ parameters would take [\d,]+ GB to train"),
        ({"max_len": 2**40}, "this machine has .* GB of memory; choose a smaller d_model"),
        ({"d_ff": 2**62}, "no tensor can be as large as the model's settings say"),
    ],
)
def test_what_no_memory_could_hold_is_refused_before_it_is_built(settings, message) -> None:
    recipe = Recipe({}, {"steps": 1, "max_tokens": 99})
    task = build_task("copy", WordTokenizer(["a", "b"]), [([4], [5])], {}, recipe)
    assert task.build_model().config == task.config
    with pytest.raises(ValueError, match=message):
        replace(task, config=replace(task.config, **settings)).build_model()


@pytest.mark.parametrize("run", [{"task": "iwslt16"}, {"task": "copy", "training": 3}])
def test_a_run_that_does_not_say_its_data_is_refused_with_a_sentence(run) -> None:
    with pytest.raises(ValueError, match="config.json does not say what it was trained on"):
        splits_of_run(run)
