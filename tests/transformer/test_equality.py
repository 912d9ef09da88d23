"""With the same weights, other people's Transformers give the same outputs and gradients."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers import PAD, VOCAB, same, sentences, small_model
from transformer import Transformer, TransformerConfig
from transformer.attention import MultiHeadAttention
from transformer.masks import padding_mask, target_mask

from transformer_book.export.hugging_face import weight_pairs

PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-11)]
Pairs = Iterator[tuple[nn.Parameter, Tensor]]


def assert_same_gradients(pairs: Any) -> None:
    """Each of our weights has a gradient, the same as the other model's."""
    for ours, theirs, tolerance in pairs:
        assert ours.grad is not None
        assert ours.grad.any()
        same(ours.grad, theirs, tolerance)


# torch.nn.Transformer ------------------------------------------------------------------------


def torch_attention_pairs(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> Any:
    """Ours against the rows of torch's packed projection: (weight, its weight, its gradient)."""
    grad = theirs.in_proj_weight.grad
    grads = grad.chunk(3) if grad is not None else (None,) * 3
    projections = (ours.w_query, ours.w_key, ours.w_value)
    for linear, weight, part in zip(
        projections, theirs.in_proj_weight.chunk(3), grads, strict=True
    ):
        yield linear.weight, weight, part
    yield ours.w_output.weight, theirs.out_proj.weight, theirs.out_proj.weight.grad


def torch_pairs(ours: Transformer, theirs: nn.Transformer) -> Any:
    """Every weight of our stacks with torch's, and torch's gradient."""

    def plain(a: nn.Module, b: nn.Module) -> Any:
        for p, q in zip(a.parameters(), b.parameters(), strict=True):
            yield p, q, q.grad

    stacks = [(ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)]
    for our_stack, their_stack in stacks:
        if their_stack.norm is not None:
            yield from plain(our_stack.norm, their_stack.norm)
        for a, b in zip(our_stack.layers, their_stack.layers, strict=True):
            yield from torch_attention_pairs(a.self_attention, b.self_attn)
            residuals = [a.self_attention_residual, a.feed_forward_residual]
            if hasattr(a, "cross_attention"):
                yield from torch_attention_pairs(a.cross_attention, b.multihead_attn)
                residuals.insert(1, a.cross_attention_residual)
            yield from plain(a.feed_forward.inner, b.linear1)
            yield from plain(a.feed_forward.outer, b.linear2)
            for i, residual in enumerate(residuals, start=1):
                yield from plain(residual.norm, getattr(b, f"norm{i}"))


def torch_transformer(config: TransformerConfig) -> nn.Transformer:
    """torch's model of the same shape. Its default stacks end in a norm; post-norm needs none."""
    c, pre = config, config.norm == "pre"
    shape = {"dropout": 0.0, "batch_first": True, "norm_first": pre}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(c.d_model, c.n_heads, c.d_ff, **shape),
        c.n_layers,
        nn.LayerNorm(c.d_model) if pre else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(c.d_model, c.n_heads, c.d_ff, **shape),
        c.n_layers,
        nn.LayerNorm(c.d_model) if pre else None,
    )
    return nn.Transformer(
        c.d_model,
        c.n_heads,
        custom_encoder=encoder,
        custom_decoder=decoder,
        batch_first=True,
    )


def scramble(model: nn.Module) -> None:
    """Move every weight off its initial value: gains off 1, biases off 0."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS, ids=["float32", "float64"])
@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
def test_outputs_and_gradients_equal_those_of_torch_nn_transformer(
    norm: str, dtype: torch.dtype, tolerance: float, training: bool
) -> None:
    model = small_model(norm=norm, dtype=dtype, n_heads=4, n_layers=3)
    scramble(model)
    model.train(training)
    other = torch_transformer(model.config).to(dtype).train(training)
    with torch.no_grad():
        for ours, theirs, _ in torch_pairs(model, other):
            theirs.copy_(ours)
    src, tgt = sentences([5, 2, 4], seed=1), sentences([3, 6, 1], seed=2)
    x = torch.randn(*src.shape, 16, dtype=dtype)
    y = torch.randn(*tgt.shape, 16, dtype=dtype)
    probe = torch.randn_like(y) / y.numel()  # a loss that looks at every output
    inputs = [x.clone().requires_grad_(), y.clone().requires_grad_()]
    their_inputs = [x.clone().requires_grad_(), y.clone().requires_grad_()]

    mask = padding_mask(src, PAD)
    memory = model.encoder(inputs[0], mask)
    output = model.decoder(inputs[1], memory, mask, target_mask(tgt, PAD))
    expected = other(
        *their_inputs,
        tgt_mask=~torch.ones(6, 6, dtype=torch.bool).tril(),  # torch: True = hidden
        src_key_padding_mask=src == PAD,
        tgt_key_padding_mask=tgt == PAD,
        memory_key_padding_mask=src == PAD,
    )
    same(output, expected, tolerance)
    (output * probe).sum().backward()
    (expected * probe).sum().backward()
    for a, b in zip(inputs, their_inputs, strict=True):
        same(a.grad, b.grad, tolerance)
    pairs = list(torch_pairs(model, other))
    in_stacks = {id(p) for stack in (model.encoder, model.decoder) for p in stack.parameters()}
    assert {id(p) for p, _, _ in pairs} == in_stacks  # none was left out
    assert_same_gradients((p, grad, tolerance) for p, _, grad in pairs)


# torch.nn.MultiheadAttention -----------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS, ids=["float32", "float64"])
@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
def test_attention_its_weights_and_gradients_equal_those_of_torch_multihead_attention(
    dtype: torch.dtype, tolerance: float, masked: bool
) -> None:
    torch.manual_seed(3)
    ours = MultiHeadAttention(d_model=12, n_heads=3).to(dtype)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True).to(dtype)
    with torch.no_grad():
        for a, b, _ in torch_attention_pairs(ours, theirs):
            b.copy_(a)
    shapes = [(2, 4, 12), (2, 5, 12), (2, 5, 12)]
    inputs = [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]
    their_inputs = [x.detach().clone().requires_grad_() for x in inputs]
    mask = torch.rand(2, 3, 4, 5) < 0.6  # a mask of its own for each head
    mask[..., 0] = True
    recorded: list[Tensor] = []
    ours.on_weights = recorded.append

    written_out = ours(*inputs, mask if masked else None)
    ours.on_weights = None
    output = ours(*inputs, mask if masked else None)
    expected, weights = theirs(
        *their_inputs,
        attn_mask=~mask.flatten(0, 1) if masked else None,
        average_attn_weights=False,
    )
    same(output, expected, tolerance)
    same(written_out, expected, tolerance)
    same(recorded[0], weights, tolerance)

    probe = torch.randn_like(output) / output.numel()
    (output * probe).sum().backward()
    (expected * probe).sum().backward()
    for a, b in zip(inputs, their_inputs, strict=True):
        same(a.grad, b.grad, tolerance)
    assert_same_gradients((p, g, tolerance) for p, _, g in torch_attention_pairs(ours, theirs))


# Hugging Face --------------------------------------------------------------------------------


class NormedPositions(nn.Module):
    """BART's way: learned positions, then a layer norm on the sum."""

    def __init__(self, table: Tensor, norm: nn.LayerNorm) -> None:
        super().__init__()
        self.table, self.norm = nn.Parameter(table), norm

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return self.norm(x + self.table[start : start + x.size(1)])


def hugging_face_pairs(ours: Transformer, theirs: Any) -> Any:
    """Every weight of ours with theirs (Marian and BART name their layers alike)."""
    yield from weight_pairs(ours, theirs)
    for side, positions in (("encoder", ours.src_positions), ("decoder", ours.tgt_positions)):
        if isinstance(positions, NormedPositions):
            their_stack = getattr(theirs, side)
            yield positions.table, their_stack.embed_positions.weight
            yield from zip(
                positions.norm.parameters(),
                their_stack.layernorm_embedding.parameters(),
                strict=True,
            )


@pytest.fixture(params=["Marian", "Bart"])
def hugging_face(request: pytest.FixtureRequest) -> SimpleNamespace:
    """Our model and a Hugging Face model of the same shape with the same weights."""
    library = pytest.importorskip("transformers")
    model = small_model(dtype=torch.float32, n_heads=4)
    c = model.config
    settings = {
        **{"vocab_size": VOCAB, "d_model": c.d_model, "max_position_embeddings": c.max_len},
        **{f"{side}_layers": c.n_layers for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": c.d_ff for side in ("encoder", "decoder")},
        **{f"{side}_attention_heads": c.n_heads for side in ("encoder", "decoder")},
        **{"dropout": 0.0, "activation_function": "relu", "scale_embedding": True},
        **{"pad_token_id": PAD, "bos_token_id": 1, "eos_token_id": 2, "forced_eos_token_id": 2},
        "decoder_start_token_id": 1,
    }
    config = getattr(library, f"{request.param}Config")(**settings)
    name = {"Marian": "MarianMTModel", "Bart": "BartForConditionalGeneration"}[request.param]
    other = getattr(library, name)(config).eval()
    with torch.no_grad():
        if request.param == "Marian":
            # Marian writes all sines, then all cosines: the same columns in another order.
            order = torch.arange(c.d_model).view(2, -1).T.flatten()
            for stack in (other.model.encoder, other.model.decoder):
                same(stack.embed_positions.weight[:, order], model.src_positions.table, 1e-6)
                stack.embed_positions.weight.copy_(model.src_positions.table)
        else:
            for side in ("src", "tgt"):
                table = torch.randn(c.max_len + 2, c.d_model)  # BART counts positions from 2
                positions = NormedPositions(table, nn.LayerNorm(c.d_model))
                forward = positions.forward
                positions.forward = lambda x, start=0, forward=forward: forward(x, start + 2)
                setattr(model, f"{side}_positions", positions)
        scramble(model)
        for a, b in hugging_face_pairs(model, other.model):
            b.copy_(a)
        for name, parameter in other.named_parameters():
            if "_proj.bias" in name:  # our projections have none, as in the paper
                parameter.zero_()
    return SimpleNamespace(model=model, other=other)


@pytest.mark.slow
def test_logits_and_gradients_equal_those_of_a_hugging_face_encoder_decoder(
    hugging_face: SimpleNamespace,
) -> None:
    model, other = hugging_face.model, hugging_face.other
    src, tgt = sentences([7, 3, 5], seed=1), sentences([4, 6, 2], seed=2)
    words = tgt != PAD
    logits = model(src, tgt)[words]
    expected = other(
        input_ids=src,
        attention_mask=(src != PAD).long(),
        decoder_input_ids=tgt,
        decoder_attention_mask=words.long(),
        use_cache=False,
    ).logits[words]
    same(logits, expected, 1e-5)

    probe = torch.randn_like(logits) / logits.numel()
    (logits * probe).sum().backward()
    (expected * probe).sum().backward()
    pairs = list(hugging_face_pairs(model, other.model))
    assert {id(p) for p, _ in pairs} == {id(p) for p in model.parameters()}  # none left out
    assert_same_gradients((p, q.grad, 1e-5) for p, q in pairs)


def test_attention_weights_equal_those_of_a_hugging_face_encoder_decoder(
    hugging_face: SimpleNamespace,
) -> None:
    from transformer.introspect import record_attention

    model, other = hugging_face.model, hugging_face.other
    src, tgt = sentences([7, 3, 5], seed=1), sentences([4, 6, 2], seed=2)
    other.set_attn_implementation("eager")
    with record_attention(model) as attention, torch.no_grad():
        model(src, tgt)
        expected = other(
            input_ids=src,
            attention_mask=(src != PAD).long(),
            decoder_input_ids=tgt,
            decoder_attention_mask=(tgt != PAD).long(),
            use_cache=False,
            output_attentions=True,
        )
    for i in range(model.config.n_layers):
        same(attention[f"encoder.{i}.self"], expected.encoder_attentions[i], 1e-5)
        same(attention[f"decoder.{i}.self"], expected.decoder_attentions[i], 1e-5)
        same(attention[f"decoder.{i}.cross"], expected.cross_attentions[i], 1e-5)
