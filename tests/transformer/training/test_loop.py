"""The training loop: its arithmetic, its hooks, exact resuming, and what stops it."""

import json
import math
import sys
import time
import zlib
from dataclasses import asdict
from pathlib import Path

import jaxtyping
import pytest
import torch

from tests.helpers import small_model
from tests.helpers.processes import run_program
from tests.transformer.training.trainers import (
    assert_identical,
    random_pairs,
    small_trainer,
    timeless,
    weights_of,
)
from transformer.support.devices import NotEnoughMemoryError
from transformer.training import (
    TrainingConfig,
    TrainingError,
    label_smoothing_loss,
    make_batch,
    noam_rate,
    token_batches,
)
from transformer.weights import CheckpointError, load_model, load_tensors, save_tensors


@pytest.fixture
def type_checks_off():
    """As a user runs it: the hook of these tests would refuse a wrong word before we do."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


ROOT = Path(__file__).parents[3]
MARKS = {"bos_id": 1, "eos_id": 2, "pad_id": 0}


def mean_loss(model, pairs, smoothing):
    """Nats per target token over all pairs, in one batch."""
    batch = make_batch(pairs, **MARKS)
    with torch.no_grad():
        logits = model(batch.src, batch.tgt_in)
        loss, n_tokens = label_smoothing_loss(logits, batch.tgt_out, smoothing, 0)
    return float(loss / n_tokens)


# Arithmetic ----------------------------------------------------------------------------------


def test_accumulated_batches_step_like_one_large_batch():
    # Batches of very different token counts: averaging their averages would give other weights.
    # An epsilon of 1 makes Adam's step proportional to the gradient, not to its sign.
    pairs = random_pairs(20)
    n = len(list(token_batches(pairs, 25)))
    assert n > 5
    runs = [
        small_trainer(
            model={"dropout": 0.0}, pairs=pairs, steps=4, warmup=1, factor=5.0, eps=1.0, **settings
        )
        for settings in ({"max_tokens": 1000}, {"max_tokens": 25, "accumulate": n})
    ]
    before = weights_of(runs[0])
    for run in runs:
        run.train()
    whole, parts = map(weights_of, runs)
    assert max(float((whole[name] - before[name]).abs().max()) for name in whole) > 0.1
    for name in whole:
        torch.testing.assert_close(parts[name], whole[name], rtol=0, atol=1e-6)
    assert timeless(runs[1].metrics)[0]["loss"] == pytest.approx(runs[0].metrics[0]["loss"])


def test_update_n_is_made_at_rate_n_counted_from_1():
    trainer = small_trainer(steps=6, warmup=3, factor=0.7, log_every=1)
    used = []
    step = trainer.optimizer.step
    trainer.optimizer.step = lambda: (used.append(trainer.optimizer.param_groups[0]["lr"]), step())
    metrics = trainer.train()
    expected = [noam_rate(n, 16, 3, 0.7) for n in range(1, 7)]
    assert used == expected
    assert [entry["rate"] for entry in metrics] == expected


def test_the_rate_cools_down_in_the_last_share_of_the_steps():
    metrics = small_trainer(steps=8, warmup=3, cooldown=0.5, log_every=1).train()
    shares = [entry["rate"] / noam_rate(n, 16, 3) for n, entry in enumerate(metrics, 1)]
    assert shares == pytest.approx([1, 1, 1, 1, 1, 0.75, 0.5, 0.25])


def test_the_reported_loss_is_per_token_over_all_steps_since_the_last_report():
    pairs = random_pairs(30)
    n = len(list(token_batches(pairs, 25)))
    trainer = small_trainer(
        model={"dropout": 0.0}, pairs=pairs, steps=2 * n, log_every=n, max_tokens=25, factor=1e-9
    )
    expected = mean_loss(trainer.model, pairs, 0.1)  # the rate is next to nothing
    assert [entry["loss"] for entry in trainer.train()] == pytest.approx([expected] * 2, rel=1e-5)


def test_training_learns_and_ends_in_evaluation_mode():
    trainer = small_trainer(model={"dropout": 0.0}, steps=60, log_every=1, factor=0.3)
    losses = [entry["loss"] for entry in trainer.train()]
    assert sum(losses[-5:]) / 5 < sum(losses[:5]) / 5 - 0.3
    assert not trainer.model.training


def test_clip_bounds_the_gradient_of_each_update():
    trainer = small_trainer(steps=5, clip=0.01)
    norms = []

    def look(*_):
        grads = [p.grad for p in trainer.model.parameters()]
        norms.append(float(torch.nn.utils.get_total_norm(grads)))

    trainer.optimizer.register_step_pre_hook(look)
    trainer.train()
    assert norms == pytest.approx([0.01] * 5, rel=1e-4)


def test_epochs_count_sentences():
    trainer = small_trainer(pairs=random_pairs(40), steps=12, log_every=1, max_tokens=40)
    epochs = [entry["epoch"] for entry in trainer.train()]
    assert epochs == sorted(epochs)
    per_epoch = len(list(token_batches(random_pairs(40), 40, seed=0)))
    assert epochs[per_epoch - 1] == 1.0


def test_each_epoch_has_all_sentences_in_an_order_of_its_own():
    pairs = random_pairs(40)
    per_epoch = len(list(token_batches(pairs, 40, seed=0)))
    trainer = small_trainer(pairs=pairs, max_tokens=40, steps=2 * per_epoch)
    read = []
    trainer.model.register_forward_pre_hook(lambda _, inputs: read.extend(inputs[0].tolist()))
    trainer.train()
    epochs = [
        [[token for token in row if token not in (0, 2)] for row in part]
        for part in (read[: len(pairs)], read[len(pairs) :])
    ]
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(source for source, _ in pairs)


def test_bf16_autocast_trains_with_weights_in_float32():
    trainer = small_trainer(
        model={"dropout": 0.0}, steps=60, log_every=1, factor=0.3, precision="bf16"
    )
    seen = set()
    trainer.model.output.register_forward_hook(lambda *call: seen.add(call[-1].dtype))
    losses = [entry["loss"] for entry in trainer.train()]
    assert seen == {torch.bfloat16}
    assert {p.dtype for p in trainer.model.parameters()} == {torch.float32}
    assert sum(losses[-5:]) / 5 < sum(losses[:5]) / 5 - 0.3


def test_auto_precision_is_float32_on_a_cpu():
    trainer = small_trainer(steps=1)
    seen = set()
    trainer.model.output.register_forward_hook(lambda *call: seen.add(call[-1].dtype))
    trainer.train()
    assert seen == {torch.float32}


# Hooks, metrics, what is left on disk --------------------------------------------------------


def test_evaluation_comes_at_its_steps_and_at_the_end_in_evaluation_mode():
    calls = []

    def evaluate(model):
        calls.append((trainer.step, model.training))
        return {"bleu": 7.0 + len(calls)}

    trainer = small_trainer(steps=17, evaluate_every=5, log_every=4, evaluate=evaluate)
    metrics = trainer.train()
    assert calls == [(5, False), (10, False), (15, False), (17, False)]
    assert [e["step"] for e in metrics] == [4, 5, 8, 10, 12, 15, 16, 17]
    assert {e["step"]: e["bleu"] for e in metrics if "bleu" in e} == {5: 8, 10: 9, 15: 10, 17: 11}


def test_evaluation_changes_nothing_in_training():
    def evaluate(model):
        torch.rand(1000)
        return {}

    plain = small_trainer(steps=12)
    watched = small_trainer(steps=12, evaluate=evaluate, evaluate_every=3)
    plain.train()
    watched.train()
    assert_identical(weights_of(watched), weights_of(plain))


def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    runs = [small_trainer(seed=seed, steps=12) for seed in (3, 3, 4)]
    for trainer in runs:
        trainer.train()
    first, again, other = map(weights_of, runs)
    assert_identical(again, first)
    assert any(not torch.equal(first[name], other[name]) for name in first)
    assert timeless(runs[0].metrics) == timeless(runs[1].metrics)


def test_metrics_on_disk_are_the_metrics_returned(tmp_path):
    trainer = small_trainer(run_dir=tmp_path, evaluate=lambda model: {"exact": 0.5}, steps=12)
    metrics = trainer.train()
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == metrics
    assert metrics[-1]["exact"] == 0.5
    assert {"step", "epoch", "loss", "rate", "tokens_per_second", "seconds"} <= metrics[0].keys()


def test_a_run_leaves_metrics_checkpoint_and_model_and_nothing_else(tmp_path):
    trainer = small_trainer(run_dir=tmp_path / "new" / "run", steps=12)
    trainer.train()
    names = sorted(path.name for path in (tmp_path / "new" / "run").iterdir())
    files = ["checkpoint.safetensors", "metrics.jsonl", "model.safetensors"]
    assert names == [*files, "tensorboard"]
    model = load_model(tmp_path / "new" / "run" / "model.safetensors")
    assert_identical(dict(model.named_parameters()), weights_of(trainer))
    assert model.config == trainer.model.config


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_trainer(steps=12).train()
    assert list(tmp_path.iterdir()) == []


def test_a_silent_run_prints_nothing(capfd):
    small_trainer(steps=3).train()
    assert capfd.readouterr() == ("", "")


COMPILED = """
import functools, torch
from tests.transformer.training.trainers import small_trainer, weights_of
# This back end makes no machine code, which takes long: the way through torch.compile is shown.
torch.compile = functools.partial(torch.compile, backend="eager")
runs = [small_trainer(model={"dropout": 0.0}, steps=3, compile=c) for c in (False, True)]
for trainer in runs:
    trainer.train()
plain, compiled = map(weights_of, runs)
for name in plain:
    torch.testing.assert_close(compiled[name], plain[name], rtol=0, atol=1e-6)
"""


@pytest.mark.slow
def test_a_compiled_model_trains_to_the_same_weights():
    # In a process of its own, because torch.compile cannot look through the tests' type checks.
    done = run_program([sys.executable, "-c", COMPILED], timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr


# Resuming ------------------------------------------------------------------------------------


def draw_numbers(model):
    return {"drawn": float(torch.rand(()) > 2)}


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "accumulate"), [(10, 1), (23, 3)])
def test_a_resumed_run_is_the_uninterrupted_run_to_the_last_bit(tmp_path, accumulate, stop):
    # An epoch has about 9 batches, so the 40 steps cross several, and a stop lies within one.
    settings = {"accumulate": accumulate, "evaluate_every": 10, "evaluate": draw_numbers}
    settings |= {"log_every": 1}
    straight = small_trainer(steps=40, **settings)
    straight.train()
    assert straight.metrics[-1]["epoch"] > 2

    first = small_trainer(steps=stop, run_dir=tmp_path, **settings)
    first.train()
    second = small_trainer(weights=99, steps=40, run_dir=tmp_path, **settings)
    torch.manual_seed(12345)
    second.resume(tmp_path / "checkpoint.safetensors")
    assert second.step == stop
    second.train()

    assert_identical(weights_of(second), weights_of(straight))
    ours, theirs = (run.optimizer.state_dict()["state"] for run in (second, straight))
    assert ours.keys() == theirs.keys()
    for i in ours:
        assert_identical(ours[i], theirs[i])
    kept = {key for entry in straight.metrics for key in entry} - {"drawn"}
    strip = [
        [{k: v for k, v in entry.items() if k in kept} for entry in timeless(run.metrics)]
        for run in (second, straight)
    ]
    assert strip[0] == strip[1]
    assert [e["step"] for e in second.metrics] == list(range(1, 41))


def test_resuming_a_finished_run_changes_nothing(tmp_path):
    first = small_trainer(steps=12, run_dir=tmp_path)
    first.train()
    second = small_trainer(weights=99, steps=12, run_dir=tmp_path)
    second.resume(tmp_path / "checkpoint.safetensors")
    assert second.train() == first.metrics
    assert_identical(weights_of(second), weights_of(first))


def test_steps_may_be_raised_when_resuming(tmp_path):
    straight = small_trainer(steps=14)
    straight.train()
    small_trainer(steps=10, run_dir=tmp_path).train()
    longer = small_trainer(steps=14, run_dir=tmp_path)
    longer.resume(tmp_path / "checkpoint.safetensors")
    longer.train()
    assert_identical(weights_of(longer), weights_of(straight))


def test_a_run_that_has_cooled_down_cannot_be_made_longer(tmp_path):
    small_trainer(steps=10, run_dir=tmp_path, cooldown=0.5).train()
    longer = small_trainer(steps=14, cooldown=0.5)
    with pytest.raises(CheckpointError, match="was made with steps=10, not 14"):
        longer.resume(tmp_path / "checkpoint.safetensors")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"cooldown": 0.5, "steps": 10}, "cooldown=0.0, not 0.5"),
        ({"factor": 0.5}, "factor=1.0, not 0.5"),
        ({"max_tokens": 60}, "max_tokens=50, not 60"),
        ({"seed": 1}, "seed=0, not 1"),
        ({"betas": (0.9, 0.999)}, r"betas=\[0.9, 0.98\], not \[0.9, 0.999\]"),
        ({"model": {"n_layers": 1}}, "n_layers=2, not 1"),
        ({"model": {"dropout": 0.1}}, "dropout=0.2, not 0.1"),
        ({"pairs": random_pairs(49)}, "pairs=50, not 49"),
        ({"pairs": random_pairs(seed=1)}, "fingerprint="),
    ],
)
def test_resuming_with_other_settings_is_an_error(tmp_path, change, named):
    first = small_trainer(steps=10, run_dir=tmp_path)
    first.train()
    other = small_trainer(**{"weights": 99, "steps": 20, **change})
    before = weights_of(other)
    with pytest.raises(CheckpointError, match=f"was made with {named}.*resume with the same"):
        other.resume(tmp_path / "checkpoint.safetensors")
    assert_identical(weights_of(other), before)
    assert other.step == 0


@pytest.mark.slow
def test_a_state_can_be_handed_over_without_a_file():
    straight, first = small_trainer(steps=30), small_trainer(steps=15)
    straight.train()
    first.train()
    state = first.state_dict()
    second, third = (small_trainer(weights=99, steps=30) for _ in range(2))
    for trainer in (second, third):  # none of them changes what the next one is given
        trainer.load_state_dict(state)
        trainer.train()
        assert_identical(weights_of(trainer), weights_of(straight))
        assert timeless(trainer.metrics) == timeless(straight.metrics)
    assert first.step == 15
    assert [entry["step"] for entry in first.metrics] == [5, 10, 15]


def test_a_state_of_another_setting_is_refused_without_a_file():
    state = small_trainer(seed=1).state_dict()
    with pytest.raises(CheckpointError, match="the state was made with seed=1, not 0"):
        small_trainer().load_state_dict(state)


@pytest.mark.slow
@pytest.mark.parametrize("rng_of", ["one process", "before there were several"])
def test_a_checkpoint_is_laid_out_as_ever_so_that_earlier_ones_can_be_resumed(tmp_path, rng_of):
    # Written down by name here, because runs that were begun by an earlier version hold this.
    straight, first = small_trainer(steps=20), small_trainer(steps=10)
    straight.train()
    first.train()
    rng = torch.get_rng_state()
    tensors = {f"model.{name}": p for name, p in first.model.named_parameters()}
    for i, p in enumerate(first.model.parameters()):
        for key in ("step", "exp_avg", "exp_avg_sq"):
            tensors[f"adam.{i}.{key}"] = first.optimizer.state[p][key]
    tensors["rng.cpu"] = rng[None] if rng_of == "one process" else rng
    training = asdict(first.config)
    del training["stop_on"]  # as if it had not existed yet
    pairs = json.dumps([list(pair) for pair in random_pairs()])
    metadata = {
        "step": 10,
        "batches_seen": 10,
        "pairs_seen": first.loader.pairs_seen,
        "seconds": 1.5,
        "metrics": first.metrics,
        "config": first.model.config.to_dict(),
        "training": training,
        "data": {"pairs": 50, "fingerprint": zlib.crc32(pairs.encode())},
        "marks": MARKS,
    }
    save_tensors(tmp_path / "old.safetensors", tensors, metadata)
    second = small_trainer(weights=99, steps=20)
    torch.manual_seed(5)
    second.resume(tmp_path / "old.safetensors")
    second.train()
    assert_identical(weights_of(second), weights_of(straight))
    assert timeless(second.metrics) == timeless(straight.metrics)


@pytest.mark.slow
def test_killed_at_20_random_moments_and_resumed_it_ends_with_the_same_weights(tmp_path):
    script = Path(__file__).with_name("killed.py")
    done = run_program([sys.executable, str(script), str(tmp_path)], timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    kills = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(kills) == 20
    assert {kill["when"] for kill in kills} == {"in a step", "half", "written", "replaced"}
    saved = [kill["checkpoint"] for kill in kills]
    assert saved == sorted(saved)
    assert len(set(saved)) >= 6  # killed all along the way

    straight, killed = (tmp_path / name for name in ("straight", "killed"))
    weights, _ = load_tensors(straight / "model.safetensors")
    again, _ = load_tensors(killed / "model.safetensors")
    assert_identical(again, weights)
    logs = [
        timeless([json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()])
        for run in (straight, killed)
    ]
    assert logs[0] == logs[1]
    for folder in (".", "weights"):  # nothing half-written is left
        names = [
            sorted(path.name for path in (run / folder).iterdir()) for run in (straight, killed)
        ]
        assert names[0] == names[1]
    for run in (straight, killed):
        assert len(list((run / "tensorboard").iterdir())) == 1


def saved_at(monkeypatch, folder, minutes_a_step, **settings):
    """The steps of a run at which it left checkpoints, by a clock of its own."""
    trainer = small_trainer(run_dir=folder, steps=40, log_every=2, **settings)
    monkeypatch.setattr(time, "monotonic", lambda: 60.0 * minutes_a_step * trainer.step)
    steps, save = [], trainer.save
    trainer.save = lambda path: (steps.append(trainer.step), save(path))
    trainer.train()
    return steps


@pytest.mark.slow
def test_checkpoints_come_by_minutes_where_asked_for_and_else_by_steps(monkeypatch, tmp_path):
    by_steps = saved_at(monkeypatch, tmp_path / "1", 1, checkpoint_every=15)
    assert by_steps == [15, 30, 40]
    by_time = saved_at(monkeypatch, tmp_path / "2", 1, checkpoint_every=15, checkpoint_minutes=10.0)
    assert by_time == [10, 20, 30, 40]
    slow = saved_at(monkeypatch, tmp_path / "3", 7, checkpoint_minutes=10.0)
    assert slow == list(range(2, 41, 2))
    fast = saved_at(monkeypatch, tmp_path / "4", 0.001, checkpoint_minutes=10.0)
    assert fast == [40]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"checkpoint_minutes": -1.0}, "must be a finite number from 0 up"),
        ({"checkpoint_minutes": math.nan}, "must be a finite number from 0 up"),
        ({"checkpoint_minutes": 5.0, "log_every": 0}, "looked at when the run reports.*log_every"),
    ],
)
def test_minutes_that_cannot_be_kept_are_errors(settings, sentence):
    with pytest.raises(ValueError, match=rf"checkpoint_minutes \(.*\) .*{sentence}"):
        TrainingConfig(steps=1, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("before", [False, True])
def test_a_run_may_be_resumed_compiled_or_not(tmp_path, before):
    """A run of a time when `compile` was false or true, and not left to the device."""
    small_trainer(steps=10, run_dir=tmp_path, log_every=5).train()
    tensors, metadata = load_tensors(tmp_path / "checkpoint.safetensors")
    metadata["training"] |= {"compile": before}
    del metadata["training"]["checkpoint_minutes"], metadata["scaler"]
    save_tensors(tmp_path / "checkpoint.safetensors", tensors, metadata)
    straight, resumed = small_trainer(steps=20), small_trainer(steps=20, weights=9)
    straight.train()
    resumed.resume(tmp_path / "checkpoint.safetensors")
    resumed.train()
    assert_identical(weights_of(resumed), weights_of(straight))


# What stops a run ----------------------------------------------------------------------------


@pytest.mark.parametrize("error", [torch.OutOfMemoryError, MemoryError])
def test_a_batch_that_the_memory_does_not_hold_ends_in_the_remedy(monkeypatch, error, tmp_path):
    trainer = small_trainer(run_dir=tmp_path, max_tokens=50, accumulate=3)

    def full(batches):
        raise error("CUDA out of memory")

    monkeypatch.setattr(trainer, "_update", full)
    remedy = "memory of cpu does not hold .* 50 tokens.* --max-tokens 25 --accumulate 6, in a new f"
    with pytest.raises(NotEnoughMemoryError, match=remedy):
        trainer.train()
    assert list(tmp_path.iterdir()) == []


def test_the_remedy_leaves_the_step_as_it_is():
    n_tokens = [
        sum(batch.n_tokens for batch in next(iter(small_trainer(**settings).loader)))
        for settings in ({"max_tokens": 200}, {"max_tokens": 100, "accumulate": 2})
    ]
    assert n_tokens[0] == pytest.approx(n_tokens[1], rel=0.25)


def test_a_rate_that_is_far_too_large_ends_in_a_sentence(tmp_path):
    trainer = small_trainer(factor=1e30, log_every=1, run_dir=tmp_path)
    message = r"the (loss became (nan|inf)|weights are no longer finite) between .* Lower factor"
    with pytest.raises(TrainingError, match=message):
        trainer.train()
    assert all(math.isfinite(entry["loss"]) for entry in trainer.metrics)
    assert not (tmp_path / "model.safetensors").exists()
    assert not (tmp_path / "checkpoint.safetensors").exists()


def test_after_nan_in_the_loss_the_checkpoint_from_before_stands(tmp_path):
    def poison(model):
        with torch.no_grad():
            model.output.weight[5] = math.nan
        return {}

    trainer = small_trainer(
        run_dir=tmp_path, checkpoint_every=5, log_every=5, evaluate_every=7, evaluate=poison
    )
    message = "the loss became nan between steps 8 and 10; .*checkpoint.safetensors is from before"
    with pytest.raises(TrainingError, match=message):
        trainer.train()
    tensors, facts = load_tensors(tmp_path / "checkpoint.safetensors")
    assert facts["step"] == 5
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    assert not (tmp_path / "model.safetensors").exists()
    for line in (tmp_path / "metrics.jsonl").read_text().splitlines():
        assert math.isfinite(json.loads(line)["loss"])


def test_an_update_that_ruins_the_weights_is_not_saved_though_its_loss_was_finite(tmp_path):
    trainer = small_trainer(run_dir=tmp_path, checkpoint_every=5, log_every=50)

    def ruin(*_):
        if trainer.step == 10:
            trainer.model.encoder.layers[0].feed_forward.inner.bias.data[0] = math.inf

    trainer.optimizer.register_step_post_hook(ruin)
    with pytest.raises(TrainingError, match="the weights are no longer finite between steps 6 and"):
        trainer.train()
    assert load_tensors(tmp_path / "checkpoint.safetensors")[1]["step"] == 5


def test_an_empty_corpus_is_an_error():
    with pytest.raises(ValueError, match="there is nothing to train on"):
        small_trainer(pairs=[])


def test_a_sentence_longer_than_the_model_takes_is_an_error_before_anything_is_written(tmp_path):
    message = r"sentence pair 0 has 41 tokens, more than the model takes \(32\)"
    with pytest.raises(ValueError, match=message):
        small_trainer(pairs=[([5] * 40, [5])], max_tokens=100, run_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_sentence_longer_than_a_batch_is_an_error():
    message = r"sentence pair 1 has 21 tokens, more than a batch may hold \(20\)"
    with pytest.raises(ValueError, match=message):
        small_trainer(pairs=[([5], [5]), ([5] * 20, [5])], max_tokens=20)


@pytest.mark.parametrize("name", ["steps", "max_tokens", "accumulate", "warmup"])
def test_settings_below_1_are_errors(name):
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
        TrainingConfig(**{"steps": 1, name: 0})


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_cooldown_that_is_no_share_is_an_error(share):
    with pytest.raises(ValueError, match=r"is a share of the steps, 0 to 1"):
        TrainingConfig(steps=1, cooldown=share)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, x) for name in ("factor", "eps", "clip") for x in (0.0, -1.0, math.nan, math.inf)),
        *(("betas", (0.9, x)) for x in (-0.1, 1.0, math.nan)),
        *(("label_smoothing", x) for x in (-0.1, 1.0, 2.0, math.nan)),
        *(("seed", x) for x in (-1, 2**63, 2**70)),
    ],
)
def test_a_setting_that_no_run_could_use_is_an_error_before_the_run(name, value):
    with pytest.raises(ValueError, match=rf"{name} \(.*\) must be a"):
        TrainingConfig(steps=1, **{name: value})


def test_the_largest_seed_gives_every_process_and_step_its_numbers():
    small_trainer(seed=2**63 - 1, steps=1).train()


@pytest.mark.usefixtures("type_checks_off")
def test_an_unknown_precision_is_an_error():
    with pytest.raises(ValueError, match=r"precision \('fp8'\) must be auto, float32, bf16 or"):
        TrainingConfig(steps=1, precision="fp8")


def test_the_given_model_is_trained_in_place():
    model = small_model(dtype=torch.float32)
    from transformer.training import Trainer

    before = model.output.weight.detach().clone()
    trainer = Trainer(model, random_pairs(), TrainingConfig(steps=1), show_progress=False)
    trainer.train()
    assert trainer.model is model
    assert not torch.equal(model.output.weight, before)
