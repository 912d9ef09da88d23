"""Where code runs, and how large the book's experiments are."""

import pytest
import torch

from transformer.support.devices import pick_device

from transformer_book.scales import scale, scaled


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A machine with the given accelerators."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in request.param)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2 * ("cuda" in request.param))
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in request.param)
    monkeypatch.delenv("TRANSFORMER_SCALE", raising=False)


@pytest.mark.parametrize(
    ("machine", "device", "size"),
    [
        ("", "cpu", "cpu"),
        ("mps", "mps", "gpu"),
        ("cuda", "cuda", "gpu"),
        ("cuda mps", "cuda", "gpu"),
    ],
    indirect=["machine"],
    ids=["bare", "mps", "cuda", "both"],
)
@pytest.mark.usefixtures("machine")
def test_the_best_device_is_picked_and_the_scale_follows_it(device: str, size: str) -> None:
    assert pick_device() == torch.device(device)
    assert scale() == size


@pytest.mark.parametrize("machine", ["cuda"], indirect=True)
@pytest.mark.parametrize("chosen", ["smoke", "cpu", "gpu"])
@pytest.mark.usefixtures("machine")
def test_the_environment_overrides_the_device(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", chosen)
    assert scale() == chosen


@pytest.mark.parametrize("machine", [""], indirect=True)
@pytest.mark.usefixtures("machine")
def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", "")
    assert scale() == "cpu"


def test_an_unknown_scale_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", "huge")
    with pytest.raises(ValueError) as error:
        scale()
    assert str(error.value) == "TRANSFORMER_SCALE is 'huge'; use smoke, cpu or gpu"


@pytest.mark.parametrize(("chosen", "steps"), [("smoke", 20), ("cpu", 600), ("gpu", 3000)])
def test_experiments_take_the_size_of_the_scale(
    monkeypatch: pytest.MonkeyPatch, chosen: str, steps: int
) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", chosen)
    assert scaled(smoke=20, cpu=600, gpu=3000) == steps
    assert scaled(smoke=20, cpu=600) == min(steps, 600)


@pytest.mark.parametrize("machine", ["cuda"], indirect=True)
@pytest.mark.usefixtures("machine")
def test_a_device_asked_for_is_given() -> None:
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("cuda:1") == torch.device("cuda", 1)


@pytest.mark.parametrize("machine", ["cuda"], indirect=True)
@pytest.mark.usefixtures("machine")
def test_a_gpu_of_a_number_that_is_not_here_is_a_sentence() -> None:
    with pytest.raises(ValueError) as error:
        pick_device("cuda:9")
    sentence = "device 'cuda:9' asked for, but the last GPU that torch finds is cuda:1"
    assert str(error.value) == sentence


@pytest.mark.parametrize("machine", [""], indirect=True)
@pytest.mark.usefixtures("machine")
def test_an_unknown_or_missing_device_is_refused() -> None:
    with pytest.raises(ValueError) as error:
        pick_device("gpu")
    assert str(error.value) == "unknown device 'gpu'; use cpu, cuda, cuda:1 or mps"
    with pytest.raises(ValueError) as error:
        pick_device("cuda")
    assert str(error.value) == "device 'cuda' asked for, but torch finds no CUDA GPU; use cpu"


@pytest.mark.parametrize("machine", [""], indirect=True)
@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("name", ["cuda", "mps", "meta"])
def test_a_device_that_is_not_here_is_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match=rf"device '{name}'.*use cpu"):
        pick_device(name)
