"""Early stopping, the best weights, and what a task evaluates."""

import json
import math

import jaxtyping
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.transformer.training.trainers import (
    assert_identical,
    small_config,
    small_trainer,
    timeless,
    weights_of,
)
from transformer.runs import load_run, train_task
from transformer.tasks import copy_task
from transformer.training import TrainingConfig, why_ended
from transformer.training.distributed import Workers
from transformer.training.stopping import best_evaluation, out_of_patience, scores_for_all
from transformer.weights import load_model

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}


def scripted(scores, key="bleu"):
    """An evaluation that gives these scores, whatever the model."""
    coming = iter(scores)
    return lambda model: {key: next(coming)}


def stopping_trainer(scores, *, patience=2, steps=40, key="bleu", **settings):
    return small_trainer(
        steps=steps,
        evaluate=scripted(scores, key),
        evaluate_every=4,
        patience=patience,
        **settings,
    )


# When ----------------------------------------------------------------------------------------


def test_it_stops_after_so_many_evaluations_without_a_better_one():
    trainer = stopping_trainer([1.0, 5.0, 4.0, 5.0, 9.0])
    metrics = trainer.train()
    assert trainer.step == 16  # the second is best; to equal it is not to be better
    assert [entry["bleu"] for entry in metrics if "bleu" in entry] == [1.0, 5.0, 4.0, 5.0]
    assert not trainer.model.training


def test_a_lower_loss_is_better():
    trainer = stopping_trainer([3.0, 2.0, 2.5, 2.2, 1.0], key="valid_loss", stop_on="loss")
    trainer.train()
    assert trainer.step == 16
    assert best_evaluation(trainer.metrics, "loss") == (8, 2.0)


def test_without_patience_it_goes_on_to_the_end():
    trainer = stopping_trainer([9.0] + [1.0] * 9, patience=0)
    trainer.train()
    assert trainer.step == 40


def test_a_score_that_is_no_number_is_never_the_best():
    trainer = stopping_trainer([math.nan, 2.0, math.nan, math.nan])
    trainer.train()
    assert trainer.step == 16


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 4))
def test_the_rule_is_the_one_that_a_counter_follows(scores, patience):
    config = small_config(evaluate_every=1, patience=patience)
    best, waited, stops = -1, 0, []
    for score in scores:
        best, waited = (score, 0) if score > best else (best, waited + 1)
        stops.append(waited >= patience)
    metrics = [{"step": i, "bleu": float(score)} for i, score in enumerate(scores, 1)]
    for i in range(1, stops.index(True) + 2 if True in stops else len(stops) + 1):
        assert out_of_patience(metrics[:i], config) == stops[i - 1]


def test_a_run_says_why_it_ended():
    stopped, through = stopping_trainer([1.0, 5.25, 4.0, 5.0]), stopping_trainer(range(10))
    assert why_ended(stopped.train(), stopped.config) == (
        "stopped after 16 of 40 steps: no better BLEU than 5.25 (step 8) in 2 evaluations"
    )
    assert why_ended(through.train(), through.config) == "all 40 steps are done"
    by_loss = stopping_trainer([2.0, 3.0, 3.0], key="valid_loss", stop_on="loss")
    assert "no lower validation loss than 2 (step 4)" in why_ended(by_loss.train(), by_loss.config)


def entries(*scores, signature="tok:13a"):
    """Metrics of evaluations one step apart, from (BLEU, chrF, loss); None is left out."""
    keys = ("bleu", "chrf", "valid_loss")
    return [
        {"step": i, "signature": signature}
        | {key: x for key, x in zip(keys, values, strict=True) if x is not None}
        for i, values in enumerate(scores, 1)
    ]


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([(20, 40, 3), (20, 45, 4), (20, 44, 2)], 2),  # of equal BLEUs chrF decides
        ([(20, 40, 3), (20, 40, 2), (20, 40, 2)], 2),  # then the loss
        ([(0, 30, 3), (0, 40, 4), (0, 35, 2)], 2),  # sentences of two words
        ([(0.2, 1.5, 6), (0.1, 0.3, 5), (0, 0, 4)], 3),  # nothing but chance: the loss
        ([(0, 30, 3), (2, 20, 4), (0, 50, 1)], 2),
        ([(0, None, 5), (0, None, 4), (3, 30, 4)], 3),  # of a run that knew no chrF
        ([(7, None, 5), (7, None, 4), (7, 30, 6)], 3),
        ([(math.nan, 90, 1), (1, 10, 3), (0, 60, math.nan)], 2),
    ],
)
def test_a_score_that_cannot_move_does_not_choose_the_best(scores, best):
    assert best_evaluation(entries(*scores), "bleu") == (best, scores[best - 1][0])


def test_chrf_judges_where_bleu_knows_no_words():
    scores = [(9, 20, 3), (12, 19, 3), (10, 25, 3), (14, 24, 3)]
    assert best_evaluation(entries(*scores, signature="nrefs:1|tok:char|x"), "bleu") == (3, 25)
    assert best_evaluation(entries(*scores), "bleu") == (4, 14)
    assert best_evaluation(entries(*scores, signature="tok:char"), "loss") == (1, 3)
    config = small_config(steps=9, evaluate_every=1, patience=1)
    assert "no better chrF than 25 (step 3)" in why_ended(
        entries(*scores, signature="tok:char"), config
    )


@given(
    st.lists(st.tuples(*3 * [st.floats(0, 9)]), min_size=1, max_size=9),
    st.sampled_from(["tok:char", "tok:13a"]),
    st.integers(1, 3),
)
@example([(0, 4, 9), (0, 3.9, 8), (0, 3.8, 7), (0, 3.7, 6)], "tok:char", 3)
def test_all_processes_stop_at_the_same_evaluation(scores, signature, patience):
    config = small_config(steps=99, evaluate_every=1, patience=patience)
    sent = []
    first, other = Workers(), Workers()
    other.first = False
    first.broadcast = lambda x: sent.append(x) or x
    other.broadcast = lambda _: sent.pop(0)
    kept = []
    for entry in entries(*scores, signature=signature):
        step = {"step": entry.pop("step")}
        assert scores_for_all(entry, config, first) == entry
        kept.append((step | entry, step | scores_for_all({}, config, other)))
        assert len({out_of_patience(metrics, config) for metrics in zip(*kept, strict=True)}) == 1


@given(st.lists(st.sampled_from([0.0, 0.2, 0.9]), min_size=2, max_size=9), st.data())
def test_while_the_score_says_nothing_patience_waits_for_all_numbers(bleus, data):
    """Falling losses or a rising chrF keep a run going; where nothing moves, it ends."""
    config = small_config(steps=99, evaluate_every=1, patience=1)
    moving = data.draw(st.sampled_from(["loss", "chrf"]))
    for i in range(2, len(bleus) + 1):
        metrics = [
            (bleu, k if moving == "chrf" else 0.3, 9 - k if moving == "loss" else 9)
            for k, bleu in enumerate(bleus[:i])
        ]
        assert not out_of_patience(entries(*metrics), config)
    still = entries(*metrics, (0.0, metrics[-1][1], metrics[-1][2]))
    assert out_of_patience(still, config)


def test_a_run_whose_bleu_stays_0_says_so(tmp_path):
    losses = [6.0, 5.0, 5.5, 5.2, 1.0]
    coming = iter(losses)
    trainer = small_trainer(
        steps=40, evaluate_every=4, patience=2, run_dir=tmp_path,
        evaluate=lambda model: {"bleu": 0.0, "chrf": 0.7, "valid_loss": next(coming)},
    )  # fmt: skip
    assert why_ended(trainer.train(), trainer.config) == (
        "stopped after 16 of 40 steps: BLEU stayed below 1, and no better chrF or lower validation "
        "loss came in 2 evaluations"
    )
    assert not (tmp_path / "best").exists()  # a 0 is never a best


# The best weights ----------------------------------------------------------------------------


def test_the_best_weights_are_those_of_the_best_evaluation(tmp_path):
    seen = {}
    scores = iter([1.0, 5.0, 4.0, 3.0])

    def evaluate(model):
        score = next(scores)
        seen[score] = {name: p.detach().clone() for name, p in model.named_parameters()}
        return {"bleu": score}

    small_trainer(
        steps=40, evaluate=evaluate, evaluate_every=4, patience=2, run_dir=tmp_path
    ).train()
    best = load_model(tmp_path / "best" / "model.safetensors")
    assert_identical(dict(best.named_parameters()), seen[5.0])
    last = load_model(tmp_path / "model.safetensors")
    assert_identical(dict(last.named_parameters()), seen[3.0])


def test_one_evaluation_at_the_end_makes_no_best(tmp_path):
    small_trainer(steps=4, evaluate=scripted([1.0]), run_dir=tmp_path).train()
    assert not (tmp_path / "best").exists()


@pytest.mark.slow
def test_the_best_is_a_run_that_translates(tmp_path):
    training = {"steps": 6, "evaluate_every": 2, "stop_on": "loss", "max_tokens": 110}
    task = copy_task(model=SMALL, training=training)
    _, metrics = train_task(task, tmp_path / "run", device="cpu", show_progress=False)
    translator, facts = load_run(tmp_path / "run" / "best")
    assert facts["task"] == "copy"
    step, loss = best_evaluation(metrics, "loss")
    again = task.evaluator()(translator.model)
    assert again["valid_loss"] == pytest.approx(loss)
    assert len(translator.translate(["1 2 3"])) == 1
    assert step in (2, 4, 6)


# Resuming ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("killed_after", [8, 12, 13])
def test_a_resumed_run_stops_where_it_would_have_stopped(tmp_path, killed_after):
    """The best evaluation is at step 8: killed right after it, after a worse one, and between."""
    scores = [1.0, 5.0, 4.0, 3.0, 9.0]
    straight = stopping_trainer(scores, checkpoint_every=1, run_dir=tmp_path / "straight")
    straight.train()

    class Killed(Exception):
        pass

    first = stopping_trainer(scores, checkpoint_every=1, run_dir=tmp_path / "broken")
    save = first.save

    def save_and_die(path):
        save(path)
        if first.step == killed_after:
            raise Killed

    first.save = save_and_die
    with pytest.raises(Killed):
        first.train()
    rest = scores[killed_after // 4 :]
    second = stopping_trainer(rest, weights=99, checkpoint_every=1, run_dir=tmp_path / "broken")
    second.resume(tmp_path / "broken" / "checkpoint.safetensors")
    second.train()
    assert second.step == straight.step == 16
    assert_identical(weights_of(second), weights_of(straight))
    assert timeless(second.metrics) == timeless(straight.metrics)
    kept = [load_model(tmp_path / n / "best/model.safetensors") for n in ("straight", "broken")]
    assert_identical(*(dict(model.named_parameters()) for model in kept))


def test_a_stopped_run_stays_stopped_and_goes_on_with_more_patience(tmp_path):
    stopping_trainer([5.0, 4.0, 3.0], run_dir=tmp_path).train()
    same = stopping_trainer([], run_dir=tmp_path)
    same.resume(tmp_path / "checkpoint.safetensors")
    same.train()
    assert same.step == 12
    longer = stopping_trainer([6.0, 1.0, 1.0, 1.0], patience=3, run_dir=tmp_path)
    longer.resume(tmp_path / "checkpoint.safetensors")
    longer.train()
    assert longer.step == 28


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [{"log_every": 1}, {"evaluate_every": 3}, {"checkpoint_every": 7}, {"keep": 2}],
)
def test_what_a_run_reports_and_keeps_may_change_and_the_weights_do_not(tmp_path, change):
    straight = small_trainer(steps=20)
    straight.train()
    small_trainer(steps=10, run_dir=tmp_path).train()
    second = small_trainer(**{"weights": 99, "steps": 20, "run_dir": tmp_path, **change})
    second.resume(tmp_path / "checkpoint.safetensors")
    second.train()
    assert_identical(weights_of(second), weights_of(straight))


# What cannot be ------------------------------------------------------------------------------


def test_patience_without_evaluations_is_an_error():
    with pytest.raises(ValueError, match=r"patience \(2\) counts evaluations.*evaluate_every"):
        TrainingConfig(steps=1, patience=2)
    with pytest.raises(ValueError, match=r"patience \(-1\) must be 0 or more"):
        TrainingConfig(steps=1, patience=-1)
    with pytest.raises(ValueError, match=r"patience \(2\) needs scores; give evaluate too"):
        small_trainer(patience=2, evaluate_every=5)


def test_an_evaluation_without_the_score_that_decides_is_an_error():
    trainer = stopping_trainer([0.5], key="exact")
    with pytest.raises(ValueError, match="stop_on=bleu looks at bleu, but evaluate gives exact"):
        trainer.train()


def test_an_unknown_rule_is_an_error():
    jaxtyping.config.update("jaxtyping_disable", True)  # as a user runs it
    try:
        with pytest.raises(ValueError, match=r"stop_on \('chrf'\) must be bleu or loss"):
            TrainingConfig(steps=1, stop_on="chrf")
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


def test_a_tasks_evaluator_gives_loss_and_bleu():
    task = copy_task(model=SMALL)
    scores = task.evaluator(n_sentences=5)(task.build_model().eval())
    assert {"bleu", "signature", "valid_loss", "valid_nll", "perplexity"} <= scores.keys()
    assert scores["perplexity"] == pytest.approx(math.exp(scores["valid_nll"]))
    json.dumps(scores)
