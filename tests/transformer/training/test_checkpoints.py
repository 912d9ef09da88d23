"""Files of weights and training states: whole or not there, and never a pickle."""

import json
import math
import os
import pickle
import resource
from contextlib import contextmanager

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save

from tests.helpers import sentences, shapes, small_config, small_model
from tests.transformer.training.trainers import assert_identical, small_trainer, weights_of
from transformer.support.files import FileError
from transformer.weights import (
    CheckpointError,
    average_models,
    load_model,
    load_tensors,
    parameter_shapes,
    save_model,
    save_tensors,
)
from transformer.weights import checkpoints as weights

TIES = [("all", 1), ("decoder", 2), ("none", 3)]


@contextmanager
def files_no_larger_than(n_bytes):
    """As if the disk were full: the system refuses to write more than so much into a file."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a short run."""
    folder = tmp_path_factory.mktemp("run")
    small_trainer(steps=10, run_dir=folder).train()
    return folder


# There and back ------------------------------------------------------------------------------


@pytest.mark.parametrize(("tie", "n_matrices"), TIES)
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_model_comes_back_with_the_same_weights_and_settings(
    tmp_path, tie, n_matrices, positions
):
    model = small_model(3, torch.float32, tie=tie, positions=positions, norm="pre", d_k=5)
    save_model(tmp_path / "model.safetensors", model)
    loaded = load_model(tmp_path / "model.safetensors")
    assert loaded.config == model.config
    assert not loaded.training
    assert_identical(dict(loaded.named_parameters()), dict(model.named_parameters()))
    src, tgt = sentences([4, 2]), sentences([3, 5])
    assert torch.equal(loaded(src, tgt), model(src, tgt))


@pytest.mark.parametrize(("tie", "n_matrices"), TIES)
def test_a_shared_matrix_is_written_once_and_shared_again_after_loading(tmp_path, tie, n_matrices):
    model = small_model(0, torch.float32, tie=tie)
    save_model(tmp_path / "model.safetensors", model)
    tensors, _ = load_tensors(tmp_path / "model.safetensors")
    embedding = tuple(model.output.weight.shape)
    assert sum(tuple(t.shape) == embedding for t in tensors.values()) == n_matrices
    assert sum(t.numel() for t in tensors.values()) == model.n_parameters()
    loaded = load_model(tmp_path / "model.safetensors")
    assert (loaded.output.weight is loaded.tgt_embedding.weight) == (tie != "none")
    assert loaded.n_parameters() == model.n_parameters()


def test_the_same_weights_and_words_are_the_same_file(tmp_path):
    model = small_model(0, torch.float32)
    said = {key: {"zweite Zeile": "größer: ½ \n\x07", "first": 1.5} for key in "dbeca"}
    files = set()
    for _ in range(8):  # the library mixes five keys anew for each
        save_tensors(tmp_path / "model.safetensors", dict(model.named_parameters()), said)
        files.add((tmp_path / "model.safetensors").read_bytes())
    assert len(files) == 1
    assert load_tensors(tmp_path / "model.safetensors")[1] == said


# A file of the time when a layer's residuals had numbers, and what is in it.
NUMBERED = {
    "encoder.layers.0.residuals.0.": "encoder.layers.0.self_attention_residual.",
    "encoder.layers.0.residuals.1.": "encoder.layers.0.feed_forward_residual.",
    "encoder.layers.1.residuals.0.": "encoder.layers.1.self_attention_residual.",
    "encoder.layers.1.residuals.1.": "encoder.layers.1.feed_forward_residual.",
    "decoder.layers.0.residuals.0.": "decoder.layers.0.self_attention_residual.",
    "decoder.layers.0.residuals.1.": "decoder.layers.0.cross_attention_residual.",
    "decoder.layers.0.residuals.2.": "decoder.layers.0.feed_forward_residual.",
    "decoder.layers.1.residuals.0.": "decoder.layers.1.self_attention_residual.",
    "decoder.layers.1.residuals.1.": "decoder.layers.1.cross_attention_residual.",
    "decoder.layers.1.residuals.2.": "decoder.layers.1.feed_forward_residual.",
}


def with_numbers(path):
    """Gives the residuals in a file of weights their numbers; returns how many it renamed."""
    tensors, metadata = load_tensors(path)
    older = {}
    for name, tensor in tensors.items():
        for number, today in NUMBERED.items():
            name = name.replace(today, number)
        older[name] = tensor
    save_tensors(path, older, metadata)
    return len(older.keys() - tensors.keys())


def test_a_model_whose_residuals_have_numbers_is_read(tmp_path):
    model = small_model(3, torch.float32)
    for i, parameter in enumerate(model.parameters()):  # so that no two norms are alike
        parameter.data += i / 100
    save_model(tmp_path / "model.safetensors", model)
    assert with_numbers(tmp_path / "model.safetensors") == 2 * len(NUMBERED)
    loaded = load_model(tmp_path / "model.safetensors")
    assert_identical(dict(loaded.named_parameters()), dict(model.named_parameters()))


def test_a_run_whose_residuals_have_numbers_is_continued_exactly(tmp_path):
    straight, run = small_trainer(steps=20), small_trainer(steps=10, run_dir=tmp_path)
    straight.train()
    run.train()
    assert with_numbers(tmp_path / "checkpoint.safetensors") == 2 * len(NUMBERED)
    continued = small_trainer(weights=99, steps=20, run_dir=tmp_path)
    continued.resume(tmp_path / "checkpoint.safetensors")
    continued.train()
    assert_identical(weights_of(continued), weights_of(straight))


def test_files_are_plain_safetensors_with_readable_facts(finished):
    for name in ("model.safetensors", "checkpoint.safetensors"):
        with safe_open(finished / name, framework="pt") as file:
            facts = {key: json.loads(value) for key, value in file.metadata().items()}
            assert len(list(file.keys())) > 10
        assert facts["config"]["d_model"] == 16
    assert facts["training"]["steps"] == 10
    assert facts["step"] == 10


# A full disk ---------------------------------------------------------------------------------


def test_a_file_in_the_way_is_no_lack_of_space(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(FileError, match="Choose another folder, in which"):
        save_model(tmp_path / "run" / "model.safetensors", small_model(0, torch.float32))
    assert (tmp_path / "run").read_text() == "mine"


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "model.safetensors"
    old, new = small_model(0, torch.float32), small_model(1, torch.float32)
    save_model(path, old)
    message = rf"could not write {path}: .*; the earlier one is untouched. Free some space"
    with files_no_larger_than(4096), pytest.raises(FileError, match=message):
        save_model(path, new)
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]
    assert_identical(dict(load_model(path).named_parameters()), dict(old.named_parameters()))


def test_a_full_disk_leaves_nothing_where_nothing_was(tmp_path):
    path = tmp_path / "model.safetensors"
    with files_no_larger_than(100), pytest.raises(FileError) as error:
        save_model(path, small_model(0, torch.float32))
    assert "untouched" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_after_a_full_disk_training_goes_on_from_the_checkpoint_to_the_same_weights(tmp_path):
    straight = small_trainer(steps=20)
    straight.train()

    def fill_the_disk(model):
        if trainer.step == 20:
            resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))
        return {}

    # Large enough for the metrics, too small for a checkpoint.
    trainer = small_trainer(steps=20, run_dir=tmp_path, evaluate=fill_the_disk, evaluate_every=5)
    with files_no_larger_than(resource.RLIM_INFINITY), pytest.raises(FileError) as error:
        trainer.train()
    assert "checkpoint.safetensors" in str(error.value)
    assert "resume" in str(error.value)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["checkpoint.safetensors", "metrics.jsonl", "tensorboard"]

    again = small_trainer(weights=99, steps=20, run_dir=tmp_path, evaluate_every=5)
    again.resume(tmp_path / "checkpoint.safetensors")
    assert again.step == 10
    again.train()
    assert_identical(weights_of(again), weights_of(straight))


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FileError, match=r"could not write .*model.safetensors: "):
        save_model(tmp_path / "file" / "model.safetensors", small_model(0, torch.float32))


# Folders and states of strangers --------------------------------------------------------------


@pytest.mark.parametrize("name", ["weights", "tensorboard", "best"])
def test_a_run_neither_writes_nor_deletes_where_a_link_in_its_folder_leads(tmp_path, name):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for file in ("step-000000001.safetensors", "events.out.tfevents.1", "model.safetensors"):
        (theirs / file).write_text("theirs")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).symlink_to(theirs)
    trainer = small_trainer(
        steps=10,
        run_dir=tmp_path / "run",
        keep=1,
        evaluate=lambda model: {"bleu": 1.0},
        evaluate_every=5,
    )
    with pytest.raises(FileError, match=rf"{name} is a link to .*theirs"):
        trainer.train()
    assert len(list(theirs.iterdir())) == 3
    assert {path.read_text() for path in theirs.iterdir()} == {"theirs"}


MOMENTS = {
    "3.exp_avg": torch.zeros(1),
    "3.exp_avg_sq": torch.zeros(2, 2),
    "3.step": torch.zeros(2),
    "0.exp_avg": None,  # missing
    "0.step": None,
    "1.exp_avg": "int8",
    "9999.exp_avg": torch.zeros(1),
    "0.max_exp_avg_sq": torch.zeros(1),
    "x": torch.zeros(1),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_that_do_not_fit_the_parameters_are_refused(finished, tmp_path, name):
    """Adam's kernel would read and write past their ends."""
    tensors, metadata = load_tensors(finished / "checkpoint.safetensors")
    value, full_name = MOMENTS[name], f"adam.{name}"
    if value is None:
        del tensors[full_name]
    else:
        tensors[full_name] = tensors[full_name].to(torch.int8) if value == "int8" else value
    save_tensors(tmp_path / "odd", tensors, metadata)
    trainer = small_trainer(steps=20)
    before = weights_of(trainer)
    with pytest.raises(CheckpointError, match=r"odd: .*Adam's moments"):
        trainer.resume(tmp_path / "odd")
    assert_identical(weights_of(trainer), before)


ENTRY = {"step": 5, "loss": 1.0, "tokens_per_second": 9, "seconds": 0.1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step", "x"),
        ("step", None),
        ("step", True),
        ("step", -1),
        ("step", 10**400),
        ("seconds", "long"),
        ("batches_seen", -1),
        ("pairs_seen", 1.5),
        ("metrics", {}),
        ("metrics", [1]),
        ("metrics", [{"a": 1}]),
        ("metrics", [{**ENTRY, "step": "5"}]),
        ("metrics", [{**ENTRY, "loss": 10**400}]),
        ("metrics", [{**ENTRY, "bleu": "good"}]),
        ("scaler", {"scale": "x"}),
        ("training", []),
        ("marks", 3),
    ],
)
def test_a_value_of_another_kind_is_refused_before_training_goes_on(
    finished, tmp_path, name, value
):
    tensors, metadata = load_tensors(finished / "checkpoint.safetensors")
    assert name in metadata
    save_tensors(tmp_path / "odd", tensors, {**metadata, name: value})
    with pytest.raises(CheckpointError, match=rf"odd is damaged \(its {name} is not what"):
        small_trainer(steps=20).resume(tmp_path / "odd")
    save_tensors(tmp_path / "even", tensors, {**metadata, "metrics": [ENTRY]})
    small_trainer(steps=20).resume(tmp_path / "even")


def test_metadata_that_becomes_far_larger_than_its_text_is_not_read(tmp_path):
    text = "[" + (weights.FREE_BRACKETS + 20_000) * "[]," + "{}]"
    (tmp_path / "odd").write_bytes(save({"x": torch.ones(1)}, {"metrics": text}))
    with pytest.raises(CheckpointError, match=r"its metrics holds 151,074 lists or dictionaries"):
        load_tensors(tmp_path / "odd")
    # A run may well report more often than are free.
    entries = 160_000 * [{**ENTRY, "epoch": 1.25}]
    save_tensors(tmp_path / "long", {"x": torch.ones(1)}, {"metrics": entries})
    assert len(load_tensors(tmp_path / "long")[1]["metrics"]) == 160_000


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (lambda w: w * math.nan, "output.weight holds numbers that are not finite"),
        (lambda w: w.double() * 1e300, "output.weight holds numbers that are not finite"),
        (lambda w: w.to(torch.complex64), "output.weight holds torch.complex64, and weights"),
        (lambda w: w.bool(), "output.weight holds torch.bool, and weights"),
        (lambda w: w.to(torch.int8), "output.weight holds torch.int8, and weights"),
    ],
)
def test_weights_that_are_no_finite_numbers_are_refused(tmp_path, weight, sentence):
    model = small_model(0, torch.float32, tie="none")
    tensors = {name: p.detach() for name, p in model.named_parameters()}
    tensors["output.weight"] = weight(tensors["output.weight"])
    save_tensors(tmp_path / "odd", tensors, {"config": model.config.to_dict()})
    with pytest.raises(CheckpointError, match=f"odd: {sentence}"):
        load_model(tmp_path / "odd")


# Damaged and foreign files -------------------------------------------------------------------


@given(data=st.data())
@settings(max_examples=50)
def test_a_file_cut_anywhere_is_refused(finished, tmp_path_factory, data):
    whole = (finished / "model.safetensors").read_bytes()
    cut = tmp_path_factory.mktemp("cut") / "model.safetensors"
    cut.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(CheckpointError, match="is no complete safetensors file of this program"):
        load_model(cut)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=60)
def test_a_damaged_header_is_refused_or_harmless(finished, tmp_path_factory, data):
    # Whatever byte of the header is wrong: a sentence, or a state that loads; no other error.
    content = bytearray((finished / "checkpoint.safetensors").read_bytes())
    size = 8 + int.from_bytes(content[:8], "little")
    content[data.draw(st.integers(0, size - 1))] = data.draw(st.integers(0, 255))
    damaged = tmp_path_factory.mktemp("damaged") / "checkpoint.safetensors"
    damaged.write_bytes(content)
    trainer = small_trainer(steps=10)
    try:
        trainer.resume(damaged)
    except CheckpointError as error:
        assert str(damaged) in str(error)


@pytest.mark.parametrize("name", ["model.safetensors", "checkpoint.safetensors"])
def test_a_flipped_bit_is_noticed_and_a_file_without_a_checksum_is_read(finished, tmp_path, name):
    load = load_model if name.startswith("model") else small_trainer(steps=10).resume
    content = bytearray((finished / name).read_bytes())
    older = content.replace(b'"sha256"', b'"sha000"')  # in the metadata, as if there were none
    for path, written in ((tmp_path / "older", older), (tmp_path / "flipped", content)):
        written[len(written) // 2 + 3] ^= 0x40  # a weight that is astronomically large, and finite
        path.write_bytes(written)
    load(tmp_path / "older")
    with pytest.raises(CheckpointError, match="flipped .*not those that were written.*another"):
        load(tmp_path / "flipped")


def test_a_checksum_is_of_all_kinds_of_numbers(tmp_path):
    tensors = {
        "bf16": torch.ones(3, dtype=torch.bfloat16),
        "empty": torch.ones(0),
        "one": torch.tensor(2.0),
        "turned": torch.arange(6).view(2, 3).T,
        "whole": torch.tensor([-1, 1], dtype=torch.int8),
    }
    save_tensors(tmp_path / "file", tensors, {"step": 1})
    again, metadata = load_tensors(tmp_path / "file")
    assert_identical(again, tensors)
    assert metadata == {"step": 1}


def test_a_pickle_is_refused_without_being_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "exploded"),))

    for name in ("model.safetensors", "checkpoint.safetensors"):  # whatever it calls itself
        torch.save({"model": Bomb()}, tmp_path / name)
        (tmp_path / f"old-{name}").write_bytes(pickle.dumps(Bomb()))
    for path in tmp_path.glob("*.safetensors"):
        for load in (load_model, small_trainer().resume, lambda path: average_models([path])):
            with pytest.raises(CheckpointError, match="is no complete safetensors file of this"):
                load(path)
    assert not (tmp_path / "exploded").exists()
    pickle.loads((tmp_path / "old-model.safetensors").read_bytes())  # that it would have been
    assert (tmp_path / "exploded").exists()


def test_another_programs_safetensors_file_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file({"weight": torch.ones(2)}, tmp_path / "theirs.safetensors")
    with pytest.raises(CheckpointError, match="holds no model configuration"):
        load_model(tmp_path / "theirs.safetensors")
    save_file({"weight": torch.ones(2)}, tmp_path / "theirs.safetensors", {"format": "pt"})
    with pytest.raises(CheckpointError, match="is no complete safetensors file of this program"):
        load_model(tmp_path / "theirs.safetensors")


def test_a_missing_file_and_a_folder_are_sentences(tmp_path):
    with pytest.raises(CheckpointError, match=r"could not read .*gone: No such file"):
        load_model(tmp_path / "gone")
    with pytest.raises(CheckpointError, match=r"could not read .*: Is a directory"):
        load_model(tmp_path)


def test_models_and_checkpoints_are_told_apart(finished):
    with pytest.raises(CheckpointError, match=r"is a training checkpoint.* model.safetensors"):
        load_model(finished / "checkpoint.safetensors")
    with pytest.raises(CheckpointError, match="is not a training checkpoint"):
        small_trainer(steps=10).resume(finished / "model.safetensors")


def test_weights_of_another_shape_or_name_are_refused(tmp_path):
    model = small_model(0, torch.float32)
    wide, deep = (small_model(0, torch.float32, **s) for s in ({"d_ff": 32}, {"n_layers": 3}))
    path = tmp_path / "model.safetensors"
    config = {"config": model.config.to_dict()}
    save_tensors(path, dict(wide.named_parameters()), config)
    with pytest.raises(CheckpointError, match=r"inner.weight is \(24, 16\) .* \(32, 16\)"):
        load_model(path)
    save_tensors(path, dict(deep.named_parameters()), config)
    with pytest.raises(CheckpointError, match=r"layers.2.* is not in both"):
        load_model(path)


def test_a_weight_with_a_damaged_name_is_refused_with_the_files_name(finished, tmp_path):
    for name, load in (
        ("model.safetensors", load_model),
        ("checkpoint.safetensors", small_trainer(steps=10).resume),
    ):
        content = (finished / name).read_bytes()
        (tmp_path / name).write_bytes(content.replace(b"encoder.layers.0", b"encoded.layers.0"))
        with pytest.raises(CheckpointError, match=rf"{tmp_path / name}: .* is not in both"):
            load(tmp_path / name)


def test_an_impossible_configuration_in_a_file_is_a_sentence(tmp_path):
    model = small_model(0, torch.float32)
    for settings_, named in (({"depth": 3}, "depth"), ({"d_model": 15}, "must be divisible")):
        config = {"config": {**model.config.to_dict(), **settings_}}
        save_tensors(tmp_path / "odd", dict(model.named_parameters()), config)
        with pytest.raises(CheckpointError, match=f"has a configuration that .*{named}"):
            load_model(tmp_path / "odd")


@pytest.mark.slow
@given(shape=shapes)
def test_names_and_shapes_of_parameters_are_known_without_a_model(shape):
    model = small_model(0, torch.float32, **shape)
    expected = {name: tuple(p.shape) for name, p in model.named_parameters()}
    before = torch.get_rng_state()
    assert parameter_shapes(model.config) == expected
    assert torch.equal(torch.get_rng_state(), before)
    assert parameter_shapes(small_config(**{**shape, "n_layers": 9}), most_layers=3) == (
        parameter_shapes(small_config(**{**shape, "n_layers": 3}))
    )


def test_positions_far_heavier_than_the_weights_are_refused(tmp_path, monkeypatch):
    """Up to a limit a long max_len is what somebody has trained with."""
    path = tmp_path / "model.safetensors"
    save_model(path, small_model(0, torch.float32, max_len=4096))
    assert load_model(path).config.max_len == 4096
    monkeypatch.setattr(weights, "FREE_POSITIONS", 0)
    monkeypatch.setattr(weights, "POSITIONS_RATIO", 1)
    with pytest.raises(CheckpointError, match=r"max_len \(4096\) would take 0 MB for positions"):
        load_model(path)
    save_model(path, small_model(0, torch.float32, max_len=4096, positions="learned"))
    assert load_model(path).config.max_len == 4096
