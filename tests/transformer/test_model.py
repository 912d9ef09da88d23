"""The whole model: what may influence what, its size, its first loss, the errors it explains."""

import copy
import inspect
import io
import math
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import (
    PAD,
    VOCAB,
    norms,
    same,
    seeds,
    sentence_lengths,
    sentences,
    small_config,
    small_model,
)
from transformer import Transformer, TransformerConfig
from transformer.compared.seq2seq import Seq2Seq, Seq2SeqConfig
from transformer.config import TABLE_3
from transformer.introspect import record_attention
from transformer.masks import padding_mask, target_mask

few = settings(max_examples=12)
kinds = st.fixed_dictionaries(
    {
        "norm": norms,
        "positions": st.sampled_from(["sinusoidal", "learned"]),
        "tie": st.sampled_from(["all", "decoder", "none"]),
        "d_k": st.sampled_from([None, 3]),
        "d_v": st.sampled_from([None, 5]),
    }
)


def pairs(count: int, longest: int = 6) -> st.SearchStrategy[tuple[list[int], list[int]]]:
    """Lengths of `count` source and target sentences."""
    lengths = st.lists(st.integers(1, longest), min_size=count, max_size=count)
    return st.tuples(lengths, lengths)


# What may influence what ---------------------------------------------------------------------


@few
@given(kind=kinds, seed=seeds, lengths=pairs(2), recording=st.booleans(), data=st.data())
def test_future_tokens_do_not_change_past_logits(
    kind: dict[str, Any],
    seed: int,
    lengths: tuple[list[int], list[int]],
    recording: bool,
    data: st.DataObject,
) -> None:
    model = small_model(seed, **kind)
    src, tgt = sentences(lengths[0], seed), sentences([6, 6], seed)
    cut = data.draw(st.integers(1, 5))
    other = tgt.clone()
    other[:, cut:] = (other[:, cut:] + 1) % VOCAB  # another word, or padding, everywhere

    def logits(tokens: Tensor) -> Tensor:
        if not recording:
            return model(src, tokens)
        with record_attention(model):
            return model(src, tokens)

    same(logits(other)[:, :cut], logits(tgt)[:, :cut])
    same(logits(tgt[:, :cut]), logits(tgt)[:, :cut])
    assert not torch.allclose(logits(other)[:, cut:], logits(tgt)[:, cut:])


@few
@given(kind=kinds, seed=seeds, position=st.integers(0, 5), training=st.booleans())
def test_a_logit_has_no_gradient_from_later_target_embeddings(
    kind: dict[str, Any], seed: int, position: int, training: bool
) -> None:
    model = small_model(seed, **kind).train(training)
    embedded: list[Tensor] = []
    model.tgt_embedding.register_forward_hook(lambda *call: embedded.append(call[-1]))
    logits = model(sentences([4, 2], seed), sentences([6, 6], seed))
    probe = torch.randn(VOCAB, dtype=logits.dtype)
    (gradient,) = torch.autograd.grad((logits[:, position] * probe).sum(), embedded[0])
    assert not gradient[:, position + 1 :].any()
    assert gradient[:, : position + 1].any(dim=-1).all()  # and it does look at all before


@few
@given(kind=kinds, seed=seeds, lengths=pairs(3), extra=st.integers(0, 4))
def test_padding_and_batch_neighbours_change_nothing(
    kind: dict[str, Any], seed: int, lengths: tuple[list[int], list[int]], extra: int
) -> None:
    model = small_model(seed, **kind)
    src, tgt = (sentences(side, seed, extra) for side in lengths)
    together = model(src, tgt)
    for row, (n, m) in enumerate(zip(*lengths, strict=True)):
        alone = model(src[row : row + 1, :n], tgt[row : row + 1, :m])
        same(together[row, :m], alone[0])


@few
@given(kind=kinds, seed=seeds, lengths=pairs(2))
def test_the_vector_of_padding_has_no_influence(
    kind: dict[str, Any], seed: int, lengths: tuple[list[int], list[int]]
) -> None:
    model = small_model(seed, **{**kind, "tie": "none"})
    src, tgt = (sentences(side, seed, extra=2) for side in lengths)
    before = model(src, tgt)
    with torch.no_grad():
        for embedding in (model.src_embedding, model.tgt_embedding):
            embedding.weight[PAD] = 100.0
    same(model(src, tgt)[tgt != PAD], before[tgt != PAD])


@few
@given(norm=norms, seed=seeds, length=st.integers(2, 6))
def test_without_positions_the_encoder_does_not_know_the_order(
    norm: str, seed: int, length: int
) -> None:
    model = small_model(seed, norm=norm)
    src = sentences([length], seed)
    order = torch.randperm(length)
    assert src.unique().numel() == 1 or not torch.allclose(
        model.encode(src.sort().values.flip(1)), model.encode(src.sort().values).flip(1)
    )
    model.src_positions.table.zero_()
    same(model.encode(src[:, order]), model.encode(src)[:, order])


@few
@given(kind=kinds, seed=seeds, lengths=pairs(2))
def test_recording_changes_no_logit_and_no_gradient(
    kind: dict[str, Any], seed: int, lengths: tuple[list[int], list[int]]
) -> None:
    model = small_model(seed, **kind).train()  # dropout is 0
    src, tgt = (sentences(side, seed, extra=1) for side in lengths)
    fast = model(src, tgt)
    with record_attention(model):
        written_out = model(src, tgt)
    same(written_out, fast)
    probe = torch.randn_like(fast)
    parameters = list(model.parameters())
    ours = torch.autograd.grad((written_out * probe).sum(), parameters)
    theirs = torch.autograd.grad((fast * probe).sum(), parameters)
    for a, b in zip(ours, theirs, strict=True):
        same(a, b)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("recording", [False, True], ids=["fast", "written out"])
def test_a_source_of_nothing_but_padding_harms_neither_itself_nor_its_neighbour(
    norm: str, recording: bool
) -> None:
    model = small_model(norm=norm).train()
    src, tgt = sentences([4, 3]), sentences([3, 5])
    alone = model(src[:1], tgt[:1, :3])
    src[1] = PAD
    if recording:
        with record_attention(model) as attention:
            logits = model(src, tgt)
        assert not attention["decoder.0.cross"][1].any()
    else:
        logits = model(src, tgt)
    same(logits[:1, :3], alone)
    assert logits.isfinite().all()
    logits.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


# Its pieces ----------------------------------------------------------------------------------


@few
@given(kind=kinds, seed=seeds, lengths=pairs(2))
def test_forward_is_encode_then_decode_then_logits(
    kind: dict[str, Any], seed: int, lengths: tuple[list[int], list[int]]
) -> None:
    model = small_model(seed, **kind)
    src, tgt = (sentences(side, seed) for side in lengths)
    memory = model.encode(src)
    hidden = model.decode(tgt, memory, src)
    assert memory.shape == (*src.shape, 16)
    assert hidden.shape == (*tgt.shape, 16)
    logits = model(src, tgt)
    assert logits.shape == (*tgt.shape, VOCAB)
    same(model.logits(hidden), logits)
    same(model.logits(hidden[:, -1]), logits[:, -1])


def test_the_two_vocabularies_may_differ() -> None:
    model = small_model(src_vocab_size=20, tgt_vocab_size=9, tie="decoder")
    logits = model(torch.tensor([[19, 1]]), torch.tensor([[8, 1, 2]]))
    assert logits.shape == (1, 3, 9)


@few
@given(seed=seeds, lengths=sentence_lengths)
def test_given_masks_are_used_and_missing_ones_are_made_from_the_padding(
    seed: int, lengths: list[int]
) -> None:
    model = small_model(seed)
    src, tgt = sentences(lengths, seed, extra=1), sentences(lengths, seed + 1)
    made = padding_mask(src, PAD), target_mask(tgt, PAD)
    same(model(src, tgt, *made), model(src, tgt))
    # Nobody may look at the first source token: it might as well be another.
    hidden = made[0].clone()
    hidden[..., 0] = False
    other = src.clone()
    other[:, 0] = other[:, 0] % (VOCAB - 1) + 1
    same(model(src, tgt, hidden), model(other, tgt, hidden))
    # A target mask without causality lets the future in.
    seen = padding_mask(tgt, PAD).expand(-1, -1, tgt.size(1), -1)
    if max(lengths) > 1:
        assert not torch.allclose(model(src, tgt, made[0], seen), model(src, tgt))


def test_the_pad_id_of_the_config_is_the_one_that_counts() -> None:
    model = small_model(pad_id=7)
    src, tgt = torch.tensor([[3, 0, 5, 7]]), torch.tensor([[0, 4, 7]])
    same(model(src, tgt)[:, :2], model(src[:, :3], tgt[:, :2]))
    with record_attention(model) as attention:
        model(src, tgt)
    for name, weights in attention.items():
        keys = tgt if name in ("decoder.0.self", "decoder.1.self") else src
        last_query = weights[0, 0, -1]  # it may see everything but padding
        assert torch.equal(last_query > 0, keys[0] != 7), name


@pytest.mark.parametrize("side", ["src", "tgt"])
def test_embeddings_are_scaled_and_positions_added_before_the_first_layer(side: str) -> None:
    model = small_model(norm="pre", tie="none")
    stack = {"src": model.encoder, "tgt": model.decoder}[side]
    seen: list[Tensor] = []
    stack.layers[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    src, tgt = sentences([5]), sentences([4])
    model(src, tgt)
    tokens = {"src": src, "tgt": tgt}[side]
    table = getattr(model, f"{side}_embedding").weight
    positions = getattr(model, f"{side}_positions").table[: tokens.size(1)]
    same(seen[0], table[tokens] * 4.0 + positions)


def test_dropout_of_section_5_4_falls_on_the_sums_of_embeddings_and_positions() -> None:
    model = small_model(dropout=0.5, d_model=64).train()
    seen: list[Tensor] = []
    for stack in (model.encoder, model.decoder):
        stack.layers[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    model(sentences([30]), sentences([30]))
    for x in seen:
        assert (x == 0).double().mean().item() == pytest.approx(0.5, abs=0.05)


def test_word_dropout_takes_whole_tokens_on_both_sides_and_leaves_their_positions() -> None:
    model = small_model(word_dropout=0.4).train()  # dropout is 0
    src, tgt = sentences([30]), sentences([30])
    seen: list[Tensor] = []
    for stack in (model.encoder, model.decoder):
        stack.layers[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    model(src, tgt)
    for x, tokens, side in zip(seen, (src, tgt), ("src", "tgt"), strict=True):
        vectors = x - getattr(model, f"{side}_positions").table[: tokens.size(1)]
        kept = getattr(model, f"{side}_embedding")(tokens) / 0.6  # the others make up for it
        dropped = (vectors.abs() < 1e-9).all(-1)
        assert 0.2 < dropped.double().mean().item() < 0.6
        same(vectors[~dropped], kept[~dropped])
    model.eval()
    same(model(src, tgt), model(src, tgt), 0.0)


def test_evaluation_is_deterministic_and_training_is_not() -> None:
    model = small_model(dropout=0.3)
    src, tgt = sentences([5]), sentences([4])
    same(model(src, tgt), model(src, tgt), 0.0)
    model.train()
    assert not torch.allclose(model(src, tgt), model(src, tgt))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_only_pre_norm_stacks_end_in_a_norm_of_their_own(norm: str) -> None:
    model = small_model(norm=norm)
    for stack in (model.encoder, model.decoder):
        assert isinstance(stack.norm, torch.nn.LayerNorm) == (norm == "pre")
    # Either way the stack's output is normed exactly once at its end (the gains are still 1).
    memory = model.encode(sentences([5, 3]))
    same(memory.mean(-1), torch.zeros(2, 5, dtype=torch.float64))
    same(memory.var(-1, unbiased=False), torch.ones(2, 5, dtype=torch.float64), 1e-3)


# Its size ------------------------------------------------------------------------------------


def count(config: TransformerConfig) -> int:
    """Trainable numbers, without storing any."""
    with torch.device("meta"):
        return Transformer(config).n_parameters()


def by_hand(c: TransformerConfig) -> int:
    """Trainable numbers from the paper's dimensions alone."""
    d, h, d_k, d_v = c.d_model, c.n_heads, c.key_width, c.value_width
    attention = h * (2 * d * d_k + d * d_v) + h * d_v * d  # W^Q, W^K, W^V, W^O
    feed_forward = (d * c.d_ff + c.d_ff) + (c.d_ff * d + d)
    norm = 2 * d  # gain and bias
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    matrices = {
        "all": c.tgt_vocab_size,
        "decoder": c.src_vocab_size + c.tgt_vocab_size,
        "none": c.src_vocab_size + 2 * c.tgt_vocab_size,
    }
    total = c.n_layers * (encoder_layer + decoder_layer) + matrices[c.tie] * d
    total += 2 * norm if c.norm == "pre" else 0
    total += 2 * c.max_len * d if c.positions == "learned" else 0
    return total


@pytest.mark.parametrize("row", TABLE_3)
def test_parameters_of_every_row_of_table_3_counted_by_hand(row: str) -> None:
    config = TransformerConfig.table3(row)
    assert count(config) == by_hand(config)


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_parameters_of_every_way_to_tie_norm_and_place_counted_by_hand(
    tie: str, norm: str, positions: str
) -> None:
    """Each adds a term of its own to the count, so one set of sizes will do for all."""
    settings = {"tie": tie, "norm": norm, "positions": positions, "d_k": 3, "d_v": 5}
    config = small_config(**settings, src_vocab_size=VOCAB + (tie != "all"))
    assert count(config) == by_hand(config)


# Millions at the shared vocabulary of 37,000 that section 5.1 states: ours, and the paper's column.
MILLIONS = {
    "base": (63, 65),
    "B1": (56, 58),
    "B2": (58, 60),
    "C1": (34, 36),
    "C2": (48, 50),
    "C3": (78, 80),
    "C4": (27, 28),
    "C5": (164, 168),
    "C6": (50, 53),
    "C7": (88, 90),
    "big": (214, 213),
}


def test_millions_of_parameters_beside_the_papers_column() -> None:
    printed = {name: row.params for name, row in TABLE_3.items() if row.params is not None}
    ours = {name: round(count(TransformerConfig.table3(name)) / 1e6) for name in printed}
    assert {name: (ours[name], printed[name]) for name in printed} == MILLIONS


def explaining_vocabularies(row: str) -> tuple[int, int]:
    """The smallest and largest shared vocabulary at which `row` rounds to the paper's figure."""
    config = TransformerConfig.table3(row)
    rest = count(config) - config.src_vocab_size * config.d_model
    millions = TABLE_3[row].params
    assert millions is not None
    low, high = ((millions + off) * 10**6 - rest for off in (-0.5, 0.5))
    return math.ceil(low / config.d_model), math.floor(high / config.d_model)


def test_one_larger_vocabulary_explains_every_row_of_the_papers_column_but_big() -> None:
    ranges = {row: explaining_vocabularies(row) for row in MILLIONS}
    base_sized = [ranges[row] for row in MILLIONS if row != "big"]
    low, high = max(r[0] for r in base_sized), min(r[1] for r in base_sized)
    assert (low, high) == (41_004, 41_208)
    assert ranges["big"][1] < 37_000 < low


# Sharing matrices ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tie", "distinct"), [("all", 1), ("decoder", 2), ("none", 3)], ids=["all", "decoder", "none"]
)
def test_tied_matrices_are_one_tensor_and_get_every_gradient(tie: str, distinct: int) -> None:
    model = small_model(tie=tie)
    src_side, tgt_side, out_side = (
        module.weight for module in (model.src_embedding, model.tgt_embedding, model.output)
    )
    assert len({id(w) for w in (src_side, tgt_side, out_side)}) == distinct
    assert len({w.data_ptr() for w in (src_side, tgt_side, out_side)}) == distinct
    assert (out_side is tgt_side) == (tie != "none")
    assert (src_side is tgt_side) == (tie == "all")

    src, tgt = torch.tensor([[3, 4]]), torch.tensor([[5, 6]])
    model(src, tgt).square().sum().backward()

    def touched(weight: Tensor) -> set[int]:
        assert weight.grad is not None
        return set(weight.grad.any(dim=1).nonzero().flatten().tolist())

    everything = set(range(VOCAB))  # the softmax touches every row
    assert touched(out_side) == everything
    assert touched(tgt_side) == ({5, 6} if tie == "none" else everything)
    assert touched(src_side) == (everything if tie == "all" else {3, 4})


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
def test_a_tied_matrix_gets_the_sum_of_the_gradients_of_its_uses(tie: str) -> None:
    tied, free = small_model(tie=tie), small_model(tie="none")
    free.load_state_dict(tied.state_dict())
    src, tgt = sentences([4, 2]), sentences([3, 5])
    for model in (tied, free):
        model(src, tgt).square().mean().backward()
    grads = {n: getattr(free, n).weight.grad for n in ("src_embedding", "tgt_embedding", "output")}
    shared = {
        "all": ["src_embedding", "tgt_embedding", "output"],
        "decoder": ["tgt_embedding", "output"],
        "none": ["output"],
    }[tie]
    same(tied.output.weight.grad, sum(grads[name] for name in shared))


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_parameter_gets_a_gradient(tie: str, positions: str, norm: str) -> None:
    model = small_model(tie=tie, positions=positions, norm=norm, max_len=6)
    logits = model(sentences([6, 6]), sentences([6, 6], seed=1))
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.arange(12) % VOCAB).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name


# Its first loss ------------------------------------------------------------------------------


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(
    ("vocab", "d_model", "n_layers"), [(11, 64, 2), (1000, 32, 4), (8000, 128, 2), (500, 256, 6)]
)
def test_the_first_loss_is_close_to_the_log_of_the_vocabulary(
    tie: str, norm: str, vocab: int, d_model: int, n_layers: int
) -> None:
    sizes = {"d_model": d_model, "d_ff": 4 * d_model, "n_heads": 4, "n_layers": n_layers}
    for seed in range(2):
        torch.manual_seed(seed)
        model = Transformer(TransformerConfig(vocab, vocab, **sizes, tie=tie, norm=norm)).eval()
        src, tgt = torch.randint(1, vocab, (2, 16, 13))
        with torch.no_grad():
            logits = model(src, tgt[:, :-1]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, tgt[:, 1:].flatten())
        assert abs(loss.item() - math.log(vocab)) < 0.35


def test_the_same_seed_gives_the_same_model_and_reset_gives_a_fresh_one() -> None:
    a, b, c = small_model(5), small_model(5), small_model(6)
    first = next(iter(a.parameters())).clone()
    for p, q in zip(a.parameters(), b.parameters(), strict=True):
        assert torch.equal(p, q)
    assert not torch.equal(first, next(iter(c.parameters())))
    a.reset_parameters()
    assert not torch.equal(first, next(iter(a.parameters())))
    assert a.output.weight is a.src_embedding.weight  # still one matrix


# Saving, copying, other precisions -------------------------------------------------------------


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_state_dict_brings_the_model_back(tie: str, positions: str) -> None:
    model = small_model(0, tie=tie, positions=positions)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = small_model(1, tie=tie, positions=positions)
    src, tgt = sentences([4, 2]), sentences([3, 5])
    assert not torch.allclose(other(src, tgt), model(src, tgt))
    other.load_state_dict(torch.load(file, weights_only=True))
    same(other(src, tgt), model(src, tgt), 0.0)
    assert other.n_parameters() == model.n_parameters()


def test_sinusoids_are_not_in_the_state_dict_so_max_len_may_change() -> None:
    short, long = small_model(0, max_len=8), small_model(1, max_len=64)
    long.load_state_dict(short.state_dict())
    same(long(sentences([8]), sentences([3])), short(sentences([8]), sentences([3])), 0.0)


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_a_copied_model_is_equal_apart_and_still_tied(how: str) -> None:
    model = small_model(tie="all")
    clone = copy.deepcopy(model) if how == "deepcopy" else pickle.loads(pickle.dumps(model))
    src, tgt = sentences([4, 2]), sentences([3, 5])
    expected = model(src, tgt)
    same(clone(src, tgt), expected, 0.0)
    assert clone.output.weight is clone.src_embedding.weight
    assert clone.output.weight is not model.output.weight
    assert clone.config == model.config
    with torch.no_grad():
        clone.output.weight.zero_()
    same(model(src, tgt), expected, 0.0)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("recording", [False, True], ids=["fast", "written out"])
def test_bfloat16_autocast_stays_close_forward_and_backward(norm: str, recording: bool) -> None:
    model = small_model(norm=norm, dtype=torch.float32)
    src, tgt = sentences([5, 2, 4]), sentences([3, 6, 2])
    expected = model(src, tgt)
    with torch.autocast("cpu", torch.bfloat16):
        if recording:
            with record_attention(model) as attention:
                logits = model(src, tgt)
            for weights in attention.values():
                same(weights.float().sum(-1), torch.ones(weights.shape[:-1]), 0.02)
        else:
            logits = model(src, tgt)
        loss = logits.float().square().mean()
    assert logits.dtype == torch.bfloat16
    same(logits.float(), expected, 0.1)
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("recording", [False, True], ids=["fast", "written out"])
def test_half_precision_masks_without_nan(dtype: torch.dtype, recording: bool) -> None:
    half, full = small_model(dtype=dtype), small_model(dtype=torch.float32)
    src, tgt = sentences([5, 2, 4], extra=2), sentences([3, 6, 2], extra=2)
    if recording:
        with record_attention(half):
            logits = half(src, tgt)
    else:
        logits = half(src, tgt)
    assert logits.dtype == dtype
    same(logits.float(), full(src, tgt), 0.1)
    src[1] = PAD  # a sentence that nobody may attend to
    assert half(src, tgt).isfinite().all()


# Bad input -----------------------------------------------------------------------------------


def test_a_token_id_out_of_range_is_named_with_its_side() -> None:
    model = small_model(src_vocab_size=20, tgt_vocab_size=VOCAB, tie="decoder")
    fine = torch.tensor([[1, 2]])
    with pytest.raises(ValueError) as error:
        model(torch.tensor([[1, 20]]), fine)
    assert str(error.value) == (
        "source token id 20 is out of range: the source vocabulary has 20 tokens, 0 to 19"
    )
    with pytest.raises(ValueError) as error:
        model(fine, torch.tensor([[13, 1]]))
    assert str(error.value) == (
        "target token id 13 is out of range: the target vocabulary has 13 tokens, 0 to 12"
    )
    with pytest.raises(ValueError, match=r"source token id -1 is out of range"):
        model.encode(torch.tensor([[-1, 99]]))
    with pytest.raises(ValueError, match=r"target token id -100 is out of range"):
        model(fine, torch.tensor([[1, -100]]))
    assert model(torch.tensor([[0, 19]]), torch.tensor([[12, 0]])).isfinite().all()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_sentence_longer_than_max_len_is_refused(positions: str) -> None:
    model = small_model(max_len=5, positions=positions)
    longest, too_long = sentences([5]), sentences([6])
    assert model(longest, longest).shape == (1, 5, VOCAB)
    with pytest.raises(ValueError) as error:
        model(too_long, longest)
    assert str(error.value) == (
        "the source has 6 tokens, more than max_len (5); "
        "shorten it, or build the model with a larger max_len"
    )
    with pytest.raises(ValueError, match=r"^the target has 6 tokens, more than max_len \(5\)"):
        model(longest, too_long)


@pytest.mark.parametrize("shape", [(1, 0), (0, 4), (0, 0)])
def test_an_empty_sentence_or_batch_is_refused(shape: tuple[int, int]) -> None:
    model, fine = small_model(), sentences([3])
    empty = torch.zeros(shape, dtype=torch.long)
    with pytest.raises(ValueError) as error:
        model.encode(empty)
    assert str(error.value) == "the source is empty; give at least one token per sentence"
    with pytest.raises(ValueError, match=r"^the target is empty; give at least one token"):
        model.decode(empty, model.encode(fine)[: shape[0]], fine[: shape[0]])


def test_a_cache_takes_one_new_token_at_a_time() -> None:
    from transformer.decoding import KeyValueCache

    model, src = small_model(), sentences([3])
    cache = KeyValueCache(model.config.n_layers)
    with pytest.raises(ValueError) as error:
        model.decode(sentences([2]), model.encode(src), src, cache=cache)
    assert str(error.value) == "with a cache, give one new token a sentence, not 2"


def test_a_cache_that_is_full_is_refused() -> None:
    from transformer.decoding import KeyValueCache

    model, src, word = small_model(max_len=3), sentences([3]), torch.tensor([[4]])
    memory, cache = model.encode(src), KeyValueCache(2)
    for _ in range(3):
        model.decode(word, memory, src, cache=cache)
    with pytest.raises(ValueError, match=r"^the target has 4 tokens, more than max_len \(3\)"):
        model.decode(word, memory, src, cache=cache)


def test_int32_tokens_work_like_int64_ones() -> None:
    model, src, tgt = small_model(), sentences([4, 2]), sentences([3, 5])
    same(model(src.int(), tgt.int()), model(src, tgt), 0.0)


def test_a_config_of_odd_head_widths_runs() -> None:
    config = small_config(d_model=10, n_heads=3, d_k=2, d_v=7)
    assert Transformer(config)(sentences([4]), sentences([3])).shape == (1, 3, VOCAB)


def test_a_sentence_without_its_batch_axis_is_said_to_lack_it():
    # The suite's shape checks would speak first, so the check itself is asked.
    with pytest.raises(ValueError, match=r"the source has shape \(5,\); give \(batch, len\)"):
        small_model()._check("source", torch.ones(5, dtype=torch.long), 10)


@pytest.mark.parametrize(
    ("n_src", "n_tgt", "n_memory"), [(1, 4, 1), (3, 2, 3), (4, 4, 1), (1, 2, 2)]
)
@pytest.mark.parametrize(
    "model", [small_model(), Seq2Seq(Seq2SeqConfig(VOCAB, VOCAB, d_model=8)).double()]
)
def test_batches_of_different_sizes_are_refused(model, n_src, n_tgt, n_memory):
    src, tgt = sentences([3] * n_src), sentences([2] * n_tgt)
    memory = torch.zeros(n_memory, 3, model.config.d_model, dtype=torch.float64)
    method = model.run if isinstance(model, Seq2Seq) else model.decode
    decode = inspect.unwrap(method.__func__)  # the suite's shape checks would speak first
    with pytest.raises(ValueError) as error:
        decode(model, tgt, memory, src)
    rows = f"{n_src}, {n_tgt} and {n_memory} rows"
    assert str(error.value) == f"source, target and memory have {rows}; give each target its own"
