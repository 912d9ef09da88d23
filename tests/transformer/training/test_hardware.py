"""What a run takes of its hardware: 16 bits where they are fast, and a compiler where it pays."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers import small_model
from tests.transformer.training.trainers import (
    assert_identical,
    random_pairs,
    small_trainer,
    weights_of,
)
from transformer.training import Trainer, TrainingConfig
from transformer.training import hardware as hardware_module
from transformer.training.hardware import (
    SLOW_BF16,
    WORTH_COMPILING,
    chosen_compile,
    chosen_precision,
    warning_of,
)
from transformer.weights import load_tensors

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
GPUS = {"P100": (6, 0), "V100": (7, 0), "T4": (7, 5), "A100": (8, 0), "H200": (9, 0)}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """A machine with the GPU of the given name; with what torch was asked about bfloat16."""
    capability, asked = GPUS[request.param], []

    def supports_bf16(**how: Any) -> bool:
        asked.append(how)
        return capability >= (8, 0) or how.get("including_emulation", True)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supports_bf16)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: capability)
    monkeypatch.setattr(hardware_module, "find_spec", lambda name: name == "triton" or None)
    return asked


@pytest.mark.parametrize(
    ("gpu", "precision"),
    [
        ("P100", "float32"),
        ("V100", "float16"),
        ("T4", "float16"),
        ("A100", "bf16"),
        ("H200", "bf16"),
    ],
    indirect=["gpu"],
)
def test_auto_precision_is_what_the_gpu_has_units_for(gpu: list[Any], precision: str) -> None:
    assert chosen_precision(TrainingConfig(steps=1), CUDA) == precision
    assert gpu == [{"including_emulation": False}]  # a T4 emulates it, slower than float32
    assert chosen_precision(TrainingConfig(steps=1), CPU) == "float32"
    asked_for = TrainingConfig(steps=1, precision="float32")
    assert chosen_precision(asked_for, CUDA) == "float32"


CPUS = {
    "AVX2": ({"avx512_bf16": False, "amx_bf16": False, "avx_ne_convert": False}, True),
    "Sapphire Rapids": ({"avx512_bf16": True, "amx_bf16": True, "avx_ne_convert": False}, False),
    "Sierra Forest": ({"avx512_bf16": False, "amx_bf16": False, "avx_ne_convert": True}, False),
    "Cortex-A72": ({"neon": True, "bf16": False}, True),
    "Neoverse V1": ({"neon": True, "bf16": True}, False),
    "one of which torch says nothing": ({"architecture": "riscv64"}, False),
}


@pytest.mark.parametrize("cpu", CPUS)
def test_bf16_on_a_cpu_without_units_for_it_gets_a_sentence(cpu, monkeypatch, capsys) -> None:
    units, slow = CPUS[cpu]
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: units, raising=False)
    assert warning_of("bf16", CPU) == (SLOW_BF16 if slow else None)
    assert warning_of("float32", CPU) is None
    assert warning_of("bf16", CUDA) is None
    assert chosen_precision(TrainingConfig(steps=1), CPU) == "float32"  # auto never chooses it
    small_trainer(steps=1, precision="bf16").train()
    assert capsys.readouterr().out.count(SLOW_BF16) == slow


def test_where_torch_cannot_say_what_a_cpu_has_nothing_is_said(monkeypatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert warning_of("bf16", CPU) is None


@pytest.mark.parametrize(
    ("gpu", "compiles"), [("P100", False), ("T4", True), ("H200", True)], indirect=["gpu"]
)
@pytest.mark.usefixtures("gpu")
def test_a_run_is_compiled_where_it_is_long_and_on_cuda_or_where_asked_for(compiles: bool) -> None:
    long, short = (TrainingConfig(steps=n) for n in (WORTH_COMPILING, WORTH_COMPILING - 1))
    assert chosen_compile(long, CUDA) == compiles
    assert not chosen_compile(short, CUDA)
    assert not chosen_compile(long, CPU)
    for asked in (True, False):
        for device in (CPU, CUDA):
            assert chosen_compile(TrainingConfig(steps=10**6, compile=asked), device) == asked


@pytest.mark.parametrize("gpu", ["H200"], indirect=True)
@pytest.mark.usefixtures("gpu")
def test_without_triton_nothing_is_compiled_unasked(monkeypatch) -> None:
    monkeypatch.setattr(hardware_module, "find_spec", lambda name: None)
    assert not chosen_compile(TrainingConfig(steps=10**6), CUDA)


def trainer_on_a_gpu(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Trainer:
    """As if the model had moved to a CUDA GPU."""
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    model = small_model(dtype=torch.float32)
    model.to = lambda device: model  # type: ignore[method-assign]
    config = TrainingConfig(steps=settings.pop("steps", 1), max_tokens=50, **settings)
    return Trainer(model, random_pairs(), config, device="cuda:0", show_progress=False)


@pytest.mark.parametrize(
    ("gpu", "precision"), [("T4", "float16"), ("H200", "bf16")], indirect=["gpu"]
)
@pytest.mark.filterwarnings("ignore:torch.cuda.amp.GradScaler is enabled")
@pytest.mark.usefixtures("gpu")
def test_a_trainer_takes_them_and_keeps_attention_from_cudnn(monkeypatch, precision: str) -> None:
    torch.backends.cuda.enable_cudnn_sdp(True)
    try:
        trainer = trainer_on_a_gpu(monkeypatch)
        assert trainer.precision == precision
        assert not trainer.compiled
        assert trainer.loader.pinned
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)


@pytest.mark.parametrize("gpu", ["H200"], indirect=True)
@pytest.mark.usefixtures("gpu")
def test_the_shared_model_is_compiled_and_not_the_compiled_model_shared(monkeypatch) -> None:
    from transformer.training.distributed import Workers

    order: list[str] = []

    def wrap(self: Workers, model: torch.nn.Module) -> torch.nn.Module:
        order.append(f"share {type(model).__name__}")
        return torch.nn.Sequential(model)

    def compile_(model: torch.nn.Module, **how: Any) -> torch.nn.Module:
        order.append(f"compile {type(model).__name__} {how}")
        return model

    monkeypatch.setattr(Workers, "wrap", wrap)
    monkeypatch.setattr(torch, "compile", compile_)
    # What `monkeypatch` puts back there is hidden from then on.
    with torch._dynamo.config.patch(suppress_errors=False):
        asked_for = trainer_on_a_gpu(monkeypatch, compile=True)
        assert order == ["share ModelWithLoss", "compile Sequential {'dynamic': True}"]
        assert asked_for.loader.multiple == 8
        assert not torch._dynamo.config.suppress_errors  # who asked for it is told why it fails
        assert trainer_on_a_gpu(monkeypatch, steps=WORTH_COMPILING).compiled
        assert torch._dynamo.config.suppress_errors


# A step never waits --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"clip": 0.1}, {"accumulate": 2}], ids=str)
def test_a_step_never_looks_at_a_value_of_the_device(monkeypatch, settings) -> None:
    """On the device "meta" there are no values: who looks at one, as `.item()` does, fails."""
    plain = torch.optim.Adam
    monkeypatch.setattr(torch.optim, "Adam", lambda *a, fused, **how: plain(*a, **how))
    trainer = Trainer(
        small_model(dtype=torch.float32, dropout=0.1),
        random_pairs(),
        TrainingConfig(steps=3, max_tokens=50, **settings),
        device=torch.device("meta"),
        show_progress=False,
    )
    batches = iter(trainer.loader)
    for _ in range(3):
        loss, n_tokens = trainer._update(next(batches))
    assert (loss.device.type, trainer.step) == ("meta", 3)
    assert n_tokens > 0
    with pytest.raises(RuntimeError):
        loss.item()


# float16 -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_float16_trains_with_weights_in_float32() -> None:
    settings = {"model": {"dropout": 0.0}, "steps": 60, "log_every": 1, "factor": 0.3}
    trainer = small_trainer(precision="float16", **settings)
    seen = set()
    trainer.model.output.register_forward_hook(lambda *call: seen.add(call[-1].dtype))
    losses = [entry["loss"] for entry in trainer.train()]
    assert seen == {torch.float16}
    assert {p.dtype for p in trainer.model.parameters()} == {torch.float32}
    assert trainer.scaler.get_scale() > 1
    whole = [entry["loss"] for entry in small_trainer(**settings).train()]
    assert losses[:20] == pytest.approx(whole[:20], abs=0.02)
    assert losses[-1] < losses[0] - 0.3


def test_the_gradient_is_clipped_in_its_own_scale() -> None:
    trainer = small_trainer(steps=5, clip=0.01, precision="float16")
    norms = []

    def look(optimizer: Any, *_: Any) -> None:
        factor = 1.0 if optimizer.grad_scale is None else float(optimizer.grad_scale)
        grads = [p.grad / factor for p in trainer.model.parameters()]  # as Adam will use them
        norms.append(float(torch.nn.utils.get_total_norm(grads)))

    trainer.optimizer.register_step_pre_hook(look)
    trainer.train()
    assert norms == pytest.approx([0.01] * 5, rel=1e-3)


def overflowing(trainer: Trainer) -> Trainer:
    """Its scale is too large at first, and grows too large again every few steps."""
    trainer.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**30, growth_interval=3)
    return trainer


def adams_steps(trainer: Trainer) -> int:
    return int(max(state["step"] for state in trainer.optimizer.state.values()))


def test_a_step_whose_gradient_overflows_leaves_the_weights_and_the_schedule_goes_on() -> None:
    trainer = overflowing(small_trainer(steps=1, precision="float16", log_every=1))
    before = weights_of(trainer)
    (entry,) = trainer.train()
    assert_identical(weights_of(trainer), before)
    assert (trainer.step, adams_steps(trainer), entry["step"]) == (1, 0, 1)
    assert math.isfinite(entry["loss"])
    assert entry["rate"] > 0
    assert trainer.scaler.get_scale() == 2.0**29


@pytest.mark.parametrize("stop", [3, pytest.param(17, marks=pytest.mark.slow)])
def test_a_float16_run_is_resumed_to_the_last_bit_skipped_steps_and_all(tmp_path, stop) -> None:
    settings = {"precision": "float16", "log_every": 1}
    straight = overflowing(small_trainer(steps=30, **settings))
    straight.train()
    assert 5 < adams_steps(straight) < 30  # some steps were skipped, and some not

    first = overflowing(small_trainer(steps=stop, run_dir=tmp_path, **settings))
    first.train()
    second = small_trainer(weights=99, steps=30, run_dir=tmp_path, **settings)
    second.scaler = torch.amp.GradScaler("cpu", growth_interval=3)
    second.resume(tmp_path / "checkpoint.safetensors")
    second.train()
    assert_identical(weights_of(second), weights_of(straight))
    assert adams_steps(second) == adams_steps(straight)
    assert second.scaler.get_scale() == straight.scaler.get_scale()
    rates = [[entry["rate"] for entry in run.metrics] for run in (second, straight)]
    assert rates[0] == rates[1]


def test_a_run_on_another_gpu_goes_on_with_what_that_one_has(tmp_path) -> None:
    """Begun where "auto" was float32, continued where it is float16, and back."""
    small_trainer(steps=4, run_dir=tmp_path).train()
    for steps, half in ((8, True), (12, False)):
        trainer = small_trainer(weights=9, steps=steps, run_dir=tmp_path)
        if half:
            trainer.precision, trainer.scaler = "float16", torch.amp.GradScaler("cpu")
        trainer.resume(tmp_path / "checkpoint.safetensors")
        trainer.train()
        _, metadata = load_tensors(tmp_path / "checkpoint.safetensors")
        assert metadata["step"] == steps
        assert bool(metadata["scaler"]) == half


def test_a_loss_beyond_float16_says_which_precision_has_more_range(tmp_path) -> None:
    from transformer.training import TrainingError

    trainer = small_trainer(precision="float16", log_every=1, run_dir=tmp_path)

    def overflow(module: Any, inputs: Any, output: Tensor) -> Tensor:
        return output * 1e6

    trainer.model.output.register_forward_hook(overflow)
    with pytest.raises(TrainingError, match="the loss became .* or choose --precision float32"):
        trainer.train()
