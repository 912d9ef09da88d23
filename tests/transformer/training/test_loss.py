"""Label smoothing against torch's, against its own definition, and against other conventions."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import PAD, VOCAB, LiveBytes, same, seeds, sentences, small_config, small_model
from tests.transformer.training.trainers import random_pairs
from transformer import Transformer
from transformer.training import (
    label_smoothing_loss,
    make_batch,
    smoothed_targets,
    validation_loss,
)
from transformer.training import loss as loss_module
from transformer.training.loss import MOST_LOGITS, ModelWithLoss

smoothings = st.floats(0.0, 0.9)
shapes = st.lists(st.integers(1, 4), max_size=3).map(tuple)


def example(seed: int, shape: tuple[int, ...] = (3, 5)) -> tuple[Tensor, Tensor]:
    """Logits with a gradient, and targets of which some are padding."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(*shape, VOCAB, generator=generator, dtype=torch.float64)
    target = torch.randint(0, VOCAB, shape, generator=generator)
    return logits.float().requires_grad_(), target


def gradient(loss: Tensor, logits: Tensor) -> Tensor:
    return torch.autograd.grad(loss, logits)[0]


@given(seeds, smoothings, shapes)
def test_equals_torchs_cross_entropy_with_the_same_smoothing(seed, smoothing, shape):
    logits, target = example(seed, shape)
    loss, n_tokens = label_smoothing_loss(logits, target, smoothing, PAD)
    expected = F.cross_entropy(
        logits.reshape(-1, VOCAB),
        target.reshape(-1),
        label_smoothing=smoothing,
        ignore_index=PAD,
        reduction="sum",
    )
    same(loss, expected, 1e-6)
    same(gradient(loss, logits), gradient(expected, logits), 1e-6)
    assert n_tokens == sum(token != PAD for token in target.flatten().tolist())


@given(seeds, smoothings)
def test_is_the_cross_entropy_against_the_smoothed_targets(seed, smoothing):
    logits, target = example(seed)
    words = target != PAD
    asked = smoothed_targets(target, VOCAB, smoothing)[words]
    by_definition = -(asked * logits.log_softmax(-1)[words]).sum()
    loss, _ = label_smoothing_loss(logits, target, smoothing, PAD)
    same(loss, by_definition, 1e-5)


@given(seeds, st.floats(0.01, 0.9))
def test_differs_from_the_kl_divergence_by_the_targets_entropy_only(seed, smoothing):
    logits, target = example(seed)
    words = target != PAD
    asked = smoothed_targets(target, VOCAB, smoothing)[words]
    divergence = F.kl_div(logits.log_softmax(-1)[words], asked, reduction="sum")
    entropy = -(asked[0] * asked[0].log()).sum() if words.any() else 0.0
    loss, n_tokens = label_smoothing_loss(logits, target, smoothing, PAD)
    same(loss, divergence + n_tokens * entropy, 1e-5)
    same(gradient(loss, logits), gradient(divergence, logits), 1e-5)


@given(seeds, st.floats(0.0, 0.8))
def test_mass_over_the_other_tokens_is_ours_with_a_larger_smoothing(seed, smoothing):
    # tensor2tensor: 1 - eps for the true token, eps / (V - 1) for each of the others.
    logits, target = example(seed)
    words = target != PAD
    one_hot = F.one_hot(target, VOCAB).float()
    asked = torch.where(one_hot.bool(), 1 - smoothing, smoothing / (VOCAB - 1))[words]
    theirs = -(asked * logits.log_softmax(-1)[words]).sum()
    ours, _ = label_smoothing_loss(logits, target, smoothing * VOCAB / (VOCAB - 1), PAD)
    same(ours, theirs, 1e-5)


@given(seeds, st.floats(0.0, 0.8))
def test_mass_over_all_but_the_true_token_and_padding_stands_in_a_known_relation(seed, smoothing):
    # The Annotated Transformer: 1 - eps for the true token, a share of eps / (V - 2) for each of
    # the others, nothing for padding. Ours with smoothing share * V gives padding a share too and
    # the true token a share less.
    logits, target = example(seed)
    words = target != PAD
    share = smoothing / (VOCAB - 2)
    asked = torch.full((*target.shape, VOCAB), share).scatter(-1, target[..., None], 1 - smoothing)
    asked[..., PAD] = 0
    log_p = logits.log_softmax(-1)[words]
    theirs = -(asked[words] * log_p).sum()

    ours, _ = label_smoothing_loss(logits, target, share * VOCAB, PAD)
    true = log_p.gather(-1, target[words][:, None]).sum()
    same(theirs, ours + share * (log_p[:, PAD].sum() - true), 1e-5)


@given(seeds)
def test_without_smoothing_it_is_plain_cross_entropy(seed):
    logits, target = example(seed)
    loss, _ = label_smoothing_loss(logits, target, 0.0, PAD)
    words = target != PAD
    same(loss, F.cross_entropy(logits[words], target[words], reduction="sum"), 1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_padding_carries_neither_loss_nor_gradient(smoothing):
    logits, target = example(0, (2, 6))
    target[0, 3:] = PAD
    loss, n_tokens = label_smoothing_loss(logits, target, smoothing, PAD)
    grad = gradient(loss, logits)
    assert not grad[target == PAD].any()
    assert grad[target != PAD].any(dim=-1).all()

    other = logits.detach().clone()
    other[target == PAD] = 1e4
    again, _ = label_smoothing_loss(other, target, smoothing, PAD)
    assert again == loss
    assert n_tokens == (target != PAD).sum()


def test_nothing_but_padding_is_a_loss_of_zero_with_zero_gradient():
    logits, target = example(0)
    loss, n_tokens = label_smoothing_loss(logits, torch.full_like(target, PAD), 0.1, PAD)
    assert (loss.item(), n_tokens.item()) == (0.0, 0)
    assert not gradient(loss, logits).any()


def test_the_loss_is_smallest_where_the_model_gives_the_smoothed_targets():
    target = torch.tensor([3, 7])
    asked = smoothed_targets(target, VOCAB, 0.1)
    best, _ = label_smoothing_loss(asked.log(), target, 0.1, PAD)
    entropy = -(asked * asked.log()).sum()
    same(best, entropy, 1e-5)
    certain = 30.0 * F.one_hot(target, VOCAB)
    worse, _ = label_smoothing_loss(certain, target, 0.1, PAD)
    assert worse > best + 1


def test_smoothed_targets_worked_by_hand():
    # Four tokens, epsilon 0.2: 0.8 + 0.05 for the true one, 0.05 for each other.
    expected = torch.tensor([[0.05, 0.85, 0.05, 0.05], [0.05, 0.05, 0.05, 0.85]])
    same(smoothed_targets(torch.tensor([1, 3]), 4, 0.2), expected, 1e-6)


@given(seeds, smoothings)
def test_smoothed_targets_are_distributions(seed, smoothing):
    _, target = example(seed)
    asked = smoothed_targets(target, VOCAB, smoothing)
    assert (asked >= 0).all()
    same(asked.sum(-1), torch.ones(target.shape), 1e-5)


def test_logits_in_bfloat16_are_summed_in_float32():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(400, VOCAB, generator=generator).bfloat16()
    target = torch.randint(1, VOCAB, (400,), generator=generator)
    loss, _ = label_smoothing_loss(logits, target, 0.1, PAD)
    assert loss.dtype == torch.float32
    exact, _ = label_smoothing_loss(logits.float(), target, 0.1, PAD)
    assert loss == exact


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, math.nan])
def test_a_smoothing_outside_0_to_1_is_an_error(smoothing):
    logits, target = example(0)
    message = rf"smoothing \({smoothing}\) must be at least 0 and below 1"
    with pytest.raises(ValueError, match=message):
        label_smoothing_loss(logits, target, smoothing, PAD)
    with pytest.raises(ValueError, match=message):
        smoothed_targets(target, VOCAB, smoothing)


# In slices -----------------------------------------------------------------------------------


def gradients(model: Transformer) -> dict[str, Tensor]:
    found = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    return found


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("tie", ["all", "none"])
def test_in_slices_the_loss_and_its_gradient_are_the_same(monkeypatch, size, tie, precision):
    model = small_model(dtype=torch.float32, tie=tie).train()
    src, tgt_in = sentences([5, 3, 7]), sentences([6, 2, 4], seed=1)
    tgt_out = tgt_in.roll(-1, 1)
    both = ModelWithLoss(model, 0.1)

    def run() -> tuple[Tensor, dict[str, Tensor]]:
        with torch.autocast("cpu", precision, enabled=precision != torch.float32):
            loss = both(src, tgt_in, tgt_out)
        loss.backward()
        return loss.detach(), gradients(model)

    whole, expected = run()
    read = []
    handle = model.output.register_forward_hook(lambda *call: read.append(call[-1].size(0)))
    monkeypatch.setattr(loss_module, "MOST_LOGITS", size * VOCAB)
    loss, found = run()
    handle.remove()
    n = tgt_out.numel()
    assert read[0] == min(size, n) or size == 1000
    exact = 1e-5 if precision == torch.float32 else 2e-2
    same(loss, whole, exact)
    for name, gradient in expected.items():
        same(found[name], gradient, exact)


def test_where_there_are_few_logits_the_model_is_called_as_ever_and_computes_them_once():
    model = small_model(dtype=torch.float32)
    calls = []
    model.register_forward_hook(lambda *call: calls.append("model"))
    model.output.register_forward_hook(lambda *call: calls.append("output"))
    tgt = sentences([6, 2])
    ModelWithLoss(model, 0.1)(sentences([5, 3]), tgt, tgt).backward()
    assert calls == ["output", "model"]
    # The largest recipe of the book's own runs is far below the limit.
    assert MOST_LOGITS / 10 > 1024 * 6000


def peak_of_the_loss(tokens: int, vocab_size: int, slice_size: int | None) -> int:
    """Bytes alive at most from the last hidden vectors to their gradient."""
    with torch.device("meta"):
        model = Transformer(small_config(tgt_vocab_size=vocab_size, tie="none"))
        hidden = torch.zeros(1, tokens, model.config.d_model, requires_grad=True)
        target = torch.zeros(1, tokens, dtype=torch.int64)
    with LiveBytes() as memory:
        if slice_size is None:  # all at once, by somebody who keeps the logits
            logits = model.logits(hidden)
            loss, _ = label_smoothing_loss(logits, target, 0.1, PAD)
        else:
            loss = ModelWithLoss(model, 0.1).in_slices(hidden, target, slice_size)
        loss.backward()
    assert hidden.grad is not None
    return memory.peak


def test_the_papers_step_holds_2_gigabytes_for_the_loss_and_not_15() -> None:
    tokens, vocab_size = 25_000, 37_000
    whole = peak_of_the_loss(tokens, vocab_size, None)
    assert whole == pytest.approx(4 * tokens * vocab_size * 4, rel=0.01)
    sliced = peak_of_the_loss(tokens, vocab_size, MOST_LOGITS // vocab_size)
    assert sliced < 2.2e9


# The loss on sentences apart -----------------------------------------------------------------


def test_the_validation_loss_is_that_of_the_probabilities_token_by_token():
    model, pairs, smoothing = small_model(dtype=torch.float32), random_pairs(12), 0.2
    smoothed, nll, n = 0.0, 0.0, 0
    for pair in pairs:  # one at a time, so no padding and no batch
        batch = make_batch([pair], bos_id=1, eos_id=2, pad_id=0)
        log_p = model(batch.src, batch.tgt_in)[0].log_softmax(-1)
        true = log_p.gather(-1, batch.tgt_out[0, :, None]).sum().item()
        nll -= true
        smoothed -= (1 - smoothing) * true + smoothing * log_p.mean(-1).sum().item()
        n += batch.n_tokens
    for max_tokens in (30, 4096):
        found = validation_loss(model, pairs, smoothing=smoothing, max_tokens=max_tokens)
        assert found["valid_nll"] == pytest.approx(nll / n, rel=1e-5)
        assert found["valid_loss"] == pytest.approx(smoothed / n, rel=1e-5)
        assert found["perplexity"] == pytest.approx(math.exp(nll / n), rel=1e-4)


def test_without_sentences_there_is_no_validation_loss():
    with pytest.raises(ValueError, match="give at least one"):
        validation_loss(small_model(dtype=torch.float32), [], smoothing=0.1)
