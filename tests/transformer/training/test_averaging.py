"""Averaged checkpoints: which weights are kept, and that their mean is the mean."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.helpers import small_model
from transformer.runs import RunError, average_run, load_run, train_task
from transformer.support.files import FileError
from transformer.tasks import copy_task
from transformer.weights import (
    CheckpointError,
    average_models,
    keep_weights,
    kept_weights,
    load_model,
    save_model,
)

TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}


@pytest.fixture(scope="module")
def train():
    """Trains `steps` of a task whose sequences are made once."""
    copying = copy_task(TINY, {"keep": 3, "checkpoint_every": 4})

    def train(folder: Path, steps: int, resume: bool = False, **training) -> None:
        settings = replace(copying.training, steps=steps, **training)
        task = replace(copying, training=settings)
        train_task(task, folder, resume=resume, device="cpu", show_progress=False)

    return train


@pytest.mark.slow
def test_the_last_checkpoints_weights_are_kept(train, tmp_path):
    train(tmp_path / "run", 18)
    kept = kept_weights(tmp_path / "run")
    assert [path.name for path in kept] == [f"step-{n:09}.safetensors" for n in (12, 16, 18)]
    for n, path in zip((12, 16, 18), kept, strict=True):
        train(tmp_path / str(n), n, keep=0)
        alone = load_model(tmp_path / str(n) / "model.safetensors").state_dict()
        for name, tensor in load_model(path).state_dict().items():
            assert torch.equal(tensor, alone[name])
        assert not kept_weights(tmp_path / str(n))


@pytest.mark.slow
def test_a_resumed_run_keeps_the_same(train, tmp_path):
    train(tmp_path / "whole", 20)
    train(tmp_path / "halves", 10)
    # What the first half left at its end is no checkpoint of the whole run.
    train(tmp_path / "halves", 20, resume=True)
    whole, halves = (kept_weights(tmp_path / name) for name in ("whole", "halves"))
    assert [path.name for path in whole] == [path.name for path in halves]
    assert [path.read_bytes() for path in whole] == [path.read_bytes() for path in halves]


@pytest.mark.slow
def test_the_average_is_the_mean_of_each_weight(tmp_path):
    models = [small_model(seed, torch.float32) for seed in range(3)]
    for step, model in enumerate(models):
        keep_weights(tmp_path, step, model, 3)
    average = average_models(kept_weights(tmp_path)).state_dict()
    for name, tensor in average.items():
        mean = torch.stack([model.state_dict()[name].double() for model in models]).mean(0)
        torch.testing.assert_close(tensor, mean.float())
    (same,) = [average_models([kept_weights(tmp_path)[1]])]
    assert torch.equal(same.output.weight, models[1].output.weight)


def test_shared_matrices_stay_shared(tmp_path):
    for step in range(2):
        keep_weights(tmp_path, step, small_model(step, torch.float32, tie="all"), 2)
    average = average_models(kept_weights(tmp_path))
    assert average.output.weight is average.tgt_embedding.weight is average.src_embedding.weight


def test_models_of_different_shape_are_not_averaged(tmp_path):
    for width in (16, 32):
        save_model(tmp_path / f"{width}.safetensors", small_model(0, d_model=width))
    with pytest.raises(CheckpointError, match=r"32.safetensors holds another model than .*16"):
        average_models(sorted(tmp_path.iterdir()))
    with pytest.raises(ValueError, match="no weights to average"):
        average_models([])


@pytest.mark.slow
def test_an_averaged_run_is_a_run(train, tmp_path):
    train(tmp_path / "run", 12)
    folder = average_run(tmp_path / "run", 2)
    assert folder == tmp_path / "run" / "average-2"
    translator, facts = load_run(folder)
    expected = average_models(kept_weights(tmp_path / "run")[-2:])
    assert torch.equal(translator.model.output.weight, expected.output.weight)
    assert facts["averaged"] == ["step-000000008.safetensors", "step-000000012.safetensors"]
    assert len(translator.translate(["1 2 3"])) == 1
    with pytest.raises(FileError, match="average-2 is there already"):
        average_run(tmp_path / "run", 2)
    with pytest.raises(RunError, match=r"kept the weights of 3 checkpoints, not of 4"):
        average_run(tmp_path / "run", 4)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    files = {"checkpoint.safetensors", "config.json", "metrics.jsonl", "model.safetensors"}
    assert names == files | {"average-2", "tensorboard", "tokenizer.json", "weights"}


def test_a_negative_number_is_refused():
    with pytest.raises(ValueError, match=r"keep \(-1\) must be 0 or more"):
        copy_task(training={"keep": -1})
