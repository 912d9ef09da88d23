"""What makes a step on a processor short must not change what is learned."""

import json
import random
from pathlib import Path

import pytest
import torch

from measurements import longer_training
from measurements.longer_training import BLOCK, PooledDropout, SmoothedLoss
from transformer.runs import load_run
from transformer.training import label_smoothing_loss

from transformer_book.shipped import shipped_folder


def test_the_loss_and_its_gradients_are_those_of_label_smoothing() -> None:
    torch.manual_seed(0)
    hidden = torch.randn(BLOCK + 3, 8, requires_grad=True)  # more than one block
    weight = torch.randn(20, 8, requires_grad=True)
    target = torch.randint(1, 20, (BLOCK + 3,))
    loss = SmoothedLoss.apply(hidden, weight, target, 0.1)
    expected, _ = label_smoothing_loss(hidden @ weight.T, target, smoothing=0.1, pad_id=0)
    torch.testing.assert_close(loss, expected)
    found = torch.autograd.grad(loss, (hidden, weight))
    torch.testing.assert_close(found, torch.autograd.grad(expected, (hidden, weight)))


def test_dropout_from_a_pool_drops_its_share_and_keeps_the_mean() -> None:
    pool = (torch.rand(10_000, generator=torch.Generator().manual_seed(0)) >= 0.25) / 0.75
    drop = PooledDropout(pool, random.Random(0))
    dropped = drop(torch.ones(50, 100))
    assert set(dropped.unique().tolist()) == {0.0, pool.max().item()}
    assert dropped.mean().item() == pytest.approx(1, abs=0.05)
    assert not drop(torch.ones(50, 100)).equal(dropped)


@pytest.mark.slow
def test_two_processes_leave_a_run_that_translates(real_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert not longer_training.make(shipped_folder(), out, data=real_data / "everyday", steps=1)
    (said,) = map(json.loads, (out / "metrics.jsonl").read_text().splitlines())
    assert said["step"] == 1
    translator, about = load_run(out)
    assert about["processes"] == 2
    assert translator.translate(["→en Guten Tag!"])[0]
