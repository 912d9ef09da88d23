"""All variants alike: they are causal, blind to padding, and searched with a cache as without."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import (
    BOS,
    MARKS,
    PAD,
    assert_same_steps,
    same,
    seeds,
    sentence_lengths,
    sentences,
    small_config,
)
from transformer import Transformer, TransformerConfig
from transformer.data.copy_task import CopyTask
from transformer.decoding import beam_search, greedy_search
from transformer.decoding.steps import CachedSteps, RecomputedSteps, start_decoding
from transformer.training import Trainer, TrainingConfig
from transformer.variants import MODERN, VARIANTS, build
from transformer.weights import (
    CheckpointError,
    average_models,
    load_model,
    load_model_tensors,
    load_tensors,
    save_model,
)

COMBINED = {**{name: (name,) for name in VARIANTS}, "modern": MODERN}
each = pytest.mark.parametrize("names", COMBINED.values(), ids=COMBINED)
norms = st.sampled_from(["post", "pre"])


def small_variant(names, seed: int = 0, **changes) -> Transformer:
    torch.manual_seed(seed)
    return build(small_config(**{"n_heads": 4, **changes}), *names).double().eval()


@each
@given(seeds, sentence_lengths, st.integers(0, 3), norms)
@settings(max_examples=5)
@torch.no_grad()
def test_padding_changes_nothing(names, seed, lengths, extra, norm):
    model = small_variant(names, seed, norm=norm)
    src, tgt = sentences(lengths, seed), sentences([4] * len(lengths), seed + 1)
    wider = torch.nn.functional.pad(src, (0, extra), value=PAD)
    logits = model(src, tgt)
    # Padding moves a single stack's text, and turns are rounded to float32.
    tolerance = 1e-6 if "rotary" in names else 1e-10
    same(model(wider, tgt), logits, tolerance)
    for row, length in enumerate(lengths):  # nor do the neighbours
        same(model(src[row : row + 1, :length], tgt[row : row + 1])[0], logits[row], tolerance)


@each
@torch.no_grad()
def test_no_position_sees_what_it_is_asked_for(names):
    model, src = small_variant(names), sentences([5])
    before = model(src, torch.tensor([[BOS, 4, 5, 6]]))
    after = model(src, torch.tensor([[BOS, 4, 7, 8]]))
    same(after[:, :2], before[:, :2])
    if names != ("no_residuals",):  # without shortcuts, a fresh stack makes all positions alike
        assert (after[:, 2:] - before[:, 2:]).abs().amax(-1).min() > 1e-4


@each
@given(seeds, sentence_lengths, st.integers(1, 3), norms, st.data())
@settings(max_examples=5)
@torch.inference_mode()
def test_a_step_with_a_cache_gives_what_the_whole_prefix_gives(
    names, seed, lengths, rows, norm, data
):
    model = small_variant(names, seed, norm=norm)
    src = sentences(lengths, seed)
    ways = [RecomputedSteps(model, src, rows), CachedSteps(model, src, rows)]
    assert_same_steps(ways, len(lengths), rows, seed, data, most_steps=7)


@each
def test_searches_take_the_cache_and_find_the_same_without_it(names):
    model, src = small_variant(names), sentences([5, 2, 3])
    assert type(start_decoding(model, src)) is CachedSteps  # what packs a decoder knows no variants
    found = greedy_search(model, src, max_len=9, **MARKS)
    plain = greedy_search(model, src, max_len=9, use_cache=False, **MARKS)
    beam = beam_search(model, src, beam_size=1, max_len=9, **MARKS)
    assert [h[0].tokens for h in found] == [h[0].tokens for h in plain]
    assert [h[0].tokens for h in found] == [h[0].tokens for h in beam]


def test_the_config_stays_true_and_each_name_is_known_once():
    assert all(VARIANTS[name].name == name for name in VARIANTS)
    with pytest.raises(ValueError, match="unknown variant 'alibi'; choose from rms_norm"):
        build(small_config(), "alibi")
    with pytest.raises(ValueError, match="'rotary' stands twice"):
        build(small_config(), "rotary", "rotary")
    with pytest.raises(ValueError, match="has no MultiHeadAttention to replace"):
        build(small_config(), "multi_query", "grouped")


@pytest.mark.slow
def test_the_same_trainer_teaches_all_changes_together():
    torch.manual_seed(0)
    task = CopyTask(n_symbols=5, min_length=1, max_length=3)
    sizes = {"d_model": 32, "d_ff": 64, "n_heads": 4, "n_layers": 1, "norm": "pre", "dropout": 0.0}
    model = build(TransformerConfig(task.vocab_size, task.vocab_size, **sizes), *MODERN)
    settings = TrainingConfig(steps=60, max_tokens=256, warmup=20, factor=1.0, log_every=20)
    trainer = Trainer(model, task.pairs(300, seed=0), settings, device="cpu", show_progress=False)
    losses = [entry["loss"] for entry in trainer.train()]
    assert losses[0] > losses[1] > losses[2]
    assert losses[2] < 0.75 * losses[0]


@each
@pytest.mark.parametrize("in_8_bits", [False, True])
def test_a_file_of_a_variant_is_not_taken_for_the_papers_model(names, in_8_bits, tmp_path):
    path = tmp_path / "model.safetensors"
    save_model(path, small_variant(names), in_8_bits=in_8_bits)
    for load in (load_model, lambda file: average_models([file])):
        with pytest.raises(CheckpointError, match=r"holds a variant .* with \['.*'\] in it: build"):
            load(path)


@torch.no_grad()
def test_the_tensors_of_a_file_make_the_variant_whole_again(tmp_path):
    model, again = small_variant(("rotary",)), small_variant(("rotary",), seed=1)
    save_model(tmp_path / "file", model)
    load_model_tensors(again, load_tensors(tmp_path / "file")[0])
    src = sentences([5])
    same(again(src, src), model(src, src))
