"""A GPU computes what the CPU computes; for the day on which somebody has one.

Each test takes its device as a parameter. So its own lines are proved wherever the tests run, on
the CPU, and on CUDA they prove the GPU's kernels.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from tests.helpers import EOS, MARKS, lively_model, padded_sources, sentences
from tests.helpers.processes import run_program
from tests.transformer.training.trainers import small_trainer, weights_of
from transformer.attention import MultiHeadAttention
from transformer.decoding import beam_search, greedy_search
from transformer.masks import causal_mask, padding_mask, target_mask
from transformer.support.devices import use_device
from transformer.training import Trainer
from transformer.training.hardware import DTYPES
from transformer.weights import load_tensors

ROOT = Path(__file__).parents[2]
HAS_CUDA = torch.cuda.is_available()
CUDA = pytest.param(
    "cuda", marks=pytest.mark.skipif(not HAS_CUDA, reason="torch finds no CUDA GPU here")
)
everywhere = pytest.mark.parametrize("device", ["cpu", CUDA])
in_all_precisions = pytest.mark.parametrize("precision", ["float32", "bf16", "float16"])
# How far a result may be off, of the largest number in it.
TOLERANCES = {"float32": 1e-4, "bf16": 3e-2, "float16": 4e-3}
WIDE = {"d_model": 64, "d_ff": 128, "n_heads": 4}  # heads of 16, which GPUs' kernels take
PATHS = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": PATHS}


def close(actual: Tensor, expected: Tensor, tolerance: float) -> None:
    """Equal to a share of the largest expected number; NaN equals nothing."""
    actual, expected = actual.detach().float().cpu(), expected.detach().float().cpu()
    limit = tolerance * max(1e-6, float(expected.abs().max()))
    torch.testing.assert_close(actual, expected, rtol=0, atol=limit)


# A step --------------------------------------------------------------------------------------


def gradient_of_a_step(device: str, precision: str) -> Tensor:
    """What Adam is given in the first step, all in one vector."""
    trainer = small_trainer(
        model={**WIDE, "dropout": 0.0},
        steps=1,
        precision=precision,
        device=device,
        max_tokens=200,
        clip=1e9,  # so that a scaled gradient is divided before anybody looks
    )
    found: list[Tensor] = []

    def look(*_: Any) -> None:
        found.append(torch.cat([p.grad.flatten() for p in trainer.model.parameters()]))

    trainer.optimizer.register_step_pre_hook(look)
    trainer.train()
    return found[0].float().cpu()


@everywhere
@in_all_precisions
def test_a_steps_gradient_is_that_of_the_processor_in_float32(device, precision) -> None:
    expected, found = gradient_of_a_step("cpu", "float32"), gradient_of_a_step(device, precision)
    error = float((found - expected).norm() / expected.norm())
    assert error < TOLERANCES[precision]
    # In 16 bits it is off by something, else they were not used; in float32 it may be, or not.
    assert precision == "float32" or error > 1e-5


@pytest.mark.slow
@everywhere
@in_all_precisions
def test_training_learns(device, precision) -> None:
    settings = {"model": {**WIDE, "dropout": 0.0}, "steps": 60, "log_every": 1, "factor": 0.3}
    losses = [
        e["loss"] for e in small_trainer(device=device, precision=precision, **settings).train()
    ]
    assert sum(losses[-5:]) / 5 < sum(losses[:5]) / 5 - 0.3


# Attention -----------------------------------------------------------------------------------

TOKENS = sentences([7, 3, 5])  # a length that 8 does not divide
MASKS = {
    "none": None,
    "padding": padding_mask(TOKENS, 0),
    "causal": causal_mask(7),
    "target": target_mask(TOKENS, 0),
    "of all heads": target_mask(TOKENS, 0).expand(3, 4, 7, 7),
    "rows without a key": target_mask(TOKENS, 0) & (torch.arange(7) % 3 > 0)[:, None],
    "nothing at all": torch.zeros(3, 1, 1, 7, dtype=torch.bool),
}


def attend(device: str, precision: str, mask: Tensor | None, written_out: bool) -> list[Tensor]:
    """The output of attention with random weights, and the gradients of input and weights."""
    use_device(torch.device(device))  # so that the kernels are those of a run
    torch.manual_seed(0)
    attention = MultiHeadAttention(64, 4)
    x, weigh = torch.randn(3, 7, 64), torch.randn(3, 7, 64)
    attention, x, weigh = attention.to(device), x.to(device).requires_grad_(), weigh.to(device)
    if written_out:
        attention.on_weights = lambda weights: None
    mask = None if mask is None else mask.to(device)
    with torch.autocast(device, DTYPES[precision], enabled=precision != "float32"):
        output = attention(x, x, x, mask)
    (output.float() * weigh).sum().backward()
    return [output.detach(), x.grad, *(p.grad for p in attention.parameters())]


@everywhere
@in_all_precisions
@pytest.mark.parametrize("name", MASKS)
def test_attention_under_every_mask_is_the_formula_of_the_processor(
    device, precision, name
) -> None:
    expected = attend("cpu", "float32", MASKS[name], written_out=True)
    found = attend(device, precision, MASKS[name], written_out=False)
    largest = max(float(tensor.abs().max()) for tensor in expected)
    for actual, wanted in zip(found, expected, strict=True):
        difference = (actual.float().cpu() - wanted).abs().max()
        assert float(difference) <= 2 * TOLERANCES[precision] * max(largest, 1e-6)
    if name == "nothing at all":
        assert not found[0].any()


@pytest.mark.slow
@everywhere
def test_attention_has_the_kernels_that_need_no_plan(device) -> None:
    torch.backends.cuda.enable_cudnn_sdp(True)
    small_trainer(device=device, steps=1).train()
    assert torch.backends.cuda.cudnn_sdp_enabled() == (device == "cpu")


# Searches ------------------------------------------------------------------------------------


@pytest.mark.slow
@everywhere
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_search_finds_what_the_processor_finds(device, beam_size) -> None:
    model, src = lively_model(0, **WIDE), padded_sources(9, 13)

    def found(device: str) -> list[Any]:
        limits: dict[str, Any] = {**MARKS, "max_len": 12}
        placed = model.to(device)  # in float64, so that no rounding decides between two
        if beam_size == 1:
            return greedy_search(placed, src.to(device), **limits)
        return beam_search(placed, src.to(device), beam_size=beam_size, n_best=2, **limits)

    expected = found("cpu")
    for best, wanted in zip(found(device), expected, strict=True):
        assert [h.tokens for h in best] == [h.tokens for h in wanted]
        assert [h.score for h in best] == pytest.approx([h.score for h in wanted], abs=1e-4)
    assert len({tuple(best[0].tokens) for best in expected}) > 1
    assert EOS not in expected[0][0].tokens


# Saved and resumed ---------------------------------------------------------------------------


@pytest.mark.slow
@everywhere
@pytest.mark.parametrize("precision", ["auto", "float16"])
def test_a_resumed_run_is_the_uninterrupted_one(device, precision, tmp_path) -> None:
    """With dropout, whose numbers come from the device; up to the order of a GPU's sums."""
    settings = {"model": {**WIDE, "dropout": 0.2}, "precision": precision, "device": device}
    settings |= {"log_every": 4}
    straight = small_trainer(steps=16, **settings)
    straight.train()
    small_trainer(steps=8, run_dir=tmp_path, **settings).train()
    state, _ = load_tensors(tmp_path / "checkpoint.safetensors")
    assert (f"rng.{device}" in state) or device == "cpu"
    second = small_trainer(weights=9, steps=16, **settings)
    torch.manual_seed(5)
    second.resume(tmp_path / "checkpoint.safetensors")
    second.train()
    for name, weight in weights_of(straight).items():
        close(weights_of(second)[name], weight, 0.0 if device == "cpu" else 1e-2)
    losses = [[entry["loss"] for entry in run.metrics] for run in (straight, second)]
    assert losses[1] == pytest.approx(losses[0], abs=1e-3)


@everywhere
def test_evaluation_leaves_the_devices_random_numbers_alone(device) -> None:
    def evaluate(model: Any) -> dict[str, float]:
        torch.rand(100, device=device)
        return {}

    plain = small_trainer(steps=8, device=device)
    watched = small_trainer(steps=8, device=device, evaluate=evaluate, evaluate_every=2)
    for trainer in (plain, watched):
        trainer.train()
    for name, weight in weights_of(plain).items():
        close(weights_of(watched)[name], weight, 0.0 if device == "cpu" else 1e-2)


# Waiting, and memory -------------------------------------------------------------------------


def set_sync_mode(mode: str) -> None:
    """What torch does with whoever waits for the GPU; that this may change it says, once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Synchronization debug mode")
        torch.cuda.set_sync_debug_mode(mode)


@contextmanager
def no_waiting(device: str) -> Iterator[None]:
    """Inside, whoever waits for the GPU fails; on a CPU there is nothing to wait for."""
    try:
        if device == "cuda":
            set_sync_mode("error")
        yield
    finally:
        if device == "cuda":
            set_sync_mode("default")


def steps_without_waiting(trainer: Trainer, device: str) -> Tensor:
    """The loss of the last of three steps, none of which waits for the device."""
    batches = iter(trainer.loader)
    trainer._update(next(batches))  # makes what is made once
    steps = [next(batches) for _ in range(3)]
    with no_waiting(device):
        for step in steps:
            loss, _ = trainer._update(step)
    return loss


def test_the_watch_for_waiting_warns_of_nothing_and_is_taken_off(monkeypatch) -> None:
    modes = []

    def set_mode(mode: str) -> None:
        modes.append(mode)
        warnings.warn("Synchronization debug mode is a prototype feature", stacklevel=1)

    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", set_mode)
    with pytest.raises(KeyError), no_waiting("cuda"):
        raise KeyError
    assert modes == ["error", "default"]


@pytest.mark.slow
@everywhere
@in_all_precisions
@pytest.mark.parametrize("settings", [{}, {"clip": 0.5, "accumulate": 2}], ids=str)
def test_no_step_waits_for_the_device(device, precision, settings) -> None:
    trainer = small_trainer(device=device, precision=precision, steps=5, **settings)
    loss = steps_without_waiting(trainer, device)
    assert loss.isfinite()
    if device == "cuda":
        with no_waiting(device), pytest.raises(RuntimeError, match="synchronizing"):
            loss.item()


@pytest.mark.skipif(not HAS_CUDA, reason="torch finds no CUDA GPU here")
@in_all_precisions
def test_no_step_of_a_real_size_waits_for_the_device(precision) -> None:
    """Thousands of tokens and a vocabulary of 37,000, whose logits come in slices."""
    trainer = small_trainer(
        model={**WIDE, "tgt_vocab_size": 37_000, "tie": "decoder"},
        pairs=[([5] * 19, [6] * 19)] * 2000,  # batches of 5000 tokens
        device="cuda",
        precision=precision,
        steps=5,
        max_tokens=5000,
    )
    assert steps_without_waiting(trainer, "cuda").isfinite()


@everywhere
def test_a_batch_comes_from_memory_that_the_device_can_fetch_itself(device) -> None:
    trainer = small_trainer(device=device)
    (batch,) = next(iter(trainer.loader))
    assert batch.src.is_pinned() == (device == "cuda")


@pytest.mark.skipif(not HAS_CUDA, reason="torch finds no CUDA GPU here")
def test_the_papers_step_fits_beside_its_logits() -> None:
    """25,000 tokens, a vocabulary of 37,000: the loss takes a seventh of what it took at once."""
    from tests.helpers import small_config
    from transformer import Transformer
    from transformer.training.loss import MOST_LOGITS, ModelWithLoss

    if torch.cuda.get_device_properties(0).total_memory < 6 * 2**30:
        pytest.skip("the GPU has less than 6 GB")
    model = Transformer(small_config(tgt_vocab_size=37_000, tie="none")).cuda()
    hidden = torch.randn(250, 100, model.config.d_model, device="cuda", requires_grad=True)
    target = torch.randint(1, 37_000, (250, 100), device="cuda")
    torch.cuda.reset_peak_memory_stats()
    with torch.autocast("cuda", torch.float16):
        loss = ModelWithLoss(model, 0.1).in_slices(hidden, target, MOST_LOGITS // 37_000)
    loss.backward()
    assert torch.cuda.max_memory_allocated() < 4 * 2**30


# In processes of their own -------------------------------------------------------------------

# The checks of these tests do not compile. On a CPU no machine code is made, which takes long.
COMPILED = """
import functools, sys, torch
from tests.transformer.training.trainers import small_trainer
device = sys.argv[1]
if device == "cpu":
    torch.compile = functools.partial(torch.compile, backend="eager")
pairs = [([4 + n % 9] * n, [4 + n % 7] * max(1, n - k)) for n in range(1, 41) for k in (0, 1, 5)]
runs = [
    small_trainer(
        model={"d_model": 64, "d_ff": 128, "n_heads": 4, "dropout": 0.0, "max_len": 64},
        pairs=pairs, steps=len(pairs), max_tokens=41, device=device, log_every=1, compile=compiled,
    )
    for compiled in (False, True)
]
plain, compiled = ([entry["loss"] for entry in run.train()] for run in runs)
assert max(abs(a - b) for a, b in zip(plain, compiled, strict=True)) < 0.05, (plain, compiled)
lengths = {(b.src.size(1), b.tgt_in.size(1)) for run in runs for b in [next(iter(run.loader))[0]]}
print("steps", len(compiled), "lengths of the first batches", sorted(lengths))
"""


@pytest.mark.slow
@everywhere
def test_a_compiled_model_takes_every_length_from_1_to_40(device) -> None:
    command = [sys.executable, "-c", COMPILED, device]
    done = run_program(command, timeout=900, cwd=ROOT, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "steps 120" in done.stdout


@pytest.mark.slow
@everywhere
def test_processes_of_torchrun_train_as_one(device, tmp_path) -> None:
    """By NCCL as many as there are GPUs, by gloo two."""
    n = torch.cuda.device_count() if device == "cuda" else 2
    if n < 2:
        pytest.skip("NCCL needs two GPUs")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n)]
    copying = ["-m", "transformer", "train", "copy", "--steps", "12", "--no-score"]
    copying += ["--dropout", "0", "--d-model", "32", "--d-ff", "32", "--n-heads", "2"]
    copying += ["--n-layers", "1", "--device", device, "--precision", "float32"]
    for name, start in (("alone", []), ("together", torchrun)):
        full = [sys.executable, *start, *copying, "--out", str(tmp_path / name)]
        done = run_program(full, timeout=300, cwd=ROOT, env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr[-3000:]
    alone, together = (load_file(tmp_path / n / "model.safetensors") for n in ("alone", "together"))
    for name, weight in alone.items():
        close(together[name], weight, 1e-3)
