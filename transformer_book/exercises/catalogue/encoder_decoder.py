"""The encoder's layer and the decoder's: what is asked, and what goes wrong."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention
from transformer.layers import FeedForward, Residual

from transformer_book.exercises.exercise import Case, Exercise, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import layers as solutions

Map = Callable[[Tensor], Tensor]

HEADS = 2


def _attention(draw: Draw, number: int) -> Callable[..., Tensor]:
    part = _built(draw, number, lambda: MultiHeadAttention(draw.size("d_model"), HEADS))

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """A multi-head attention: (query, key, value, mask)."""
        attended: Tensor = part(query, key, value, mask)
        return attended

    return attention


def _network(draw: Draw) -> Map:
    part = _built(draw, 5, lambda: FeedForward(draw.size("d_model"), 2 * draw.size("d_model")))

    def feed_forward(x: Tensor) -> Tensor:
        """A feed-forward network."""
        mapped: Tensor = part(x)
        return mapped

    return feed_forward


def _residual(draw: Draw, number: int) -> Callable[[Tensor, Map], Tensor]:
    def built() -> Residual:
        residual = Residual(draw.size("d_model"), 0.0, "post")
        torch.nn.init.normal_(residual.norm.weight, 1.5, 0.5)
        return residual

    part = _built(draw, 10 + number, built)

    def residual(x: Tensor, sublayer: Map) -> Tensor:
        """An Add & Norm: (x, sublayer)."""
        normed: Tensor = part(x, sublayer)
        return normed

    return residual


def _built(draw: Draw, number: int, make: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """A part with weights of its own, which nobody trains; the shared random numbers stay."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(100 * draw.level + 1000 * draw.seed + number)
        return make().requires_grad_(False)


def _padding(axis: str) -> Callable[[Draw], Tensor]:
    def mask(draw: Draw) -> Tensor:
        mask = torch.ones(draw.shape(f"batch 1 1 {axis}"), dtype=torch.bool)
        mask[0, ..., -1] = False
        return mask

    return mask


def _target_mask(draw: Draw) -> Tensor:
    return torch.ones(draw.shape("batch 1 len len"), dtype=torch.bool).tril()


def padding_changes_nothing(case: Case) -> str | None:
    """What stands at a hidden position changes no other one."""
    x, mask = case.inputs["x"], case.inputs["mask"]
    hidden = ~mask[:, 0, 0, :, None].expand(x.shape)
    moved = case.call(x=torch.where(hidden, x + 3, x)) - case.answer
    if moved.masked_fill(hidden, 0.0).abs().max() < 1e-3:
        return None
    return (
        "What stands at a padded position changes the others: does the mask get to the attention?"
    )


def no_mask(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    return solutions.encoder_layer(x, torch.ones_like(mask), *parts)


def feed_forward_first(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    attend, network, one, two = parts
    x = one(x, network)
    out: Tensor = two(x, lambda h: attend(h, h, h, mask))
    return out


def from_the_first_x(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    _, network, _, two = parts
    out: Tensor = two(x, network)
    return out


def side_by_side(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    attend, network, one, two = parts
    out: Tensor = one(x, lambda h: attend(h, h, h, mask)) + two(x, network)
    return out


def no_residuals(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    attend, network, _, _ = parts
    out: Tensor = network(attend(x, x, x, mask))
    return out


def one_residual_twice(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    attend, network, one, _ = parts
    out: Tensor = one(one(x, lambda h: attend(h, h, h, mask)), network)
    return out


def residuals_exchanged(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    attend, network, one, two = parts
    return solutions.encoder_layer(x, mask, attend, network, two, one)


def without_attention(x: Tensor, mask: Tensor, *parts: Any) -> Tensor:
    attend, _, one, _ = parts
    out: Tensor = one(x, lambda h: attend(h, h, h, mask))
    return out


ENCODER_LAYER = Exercise(
    solution=solutions.encoder_layer,
    chapter="architecture/layers",
    title="A layer of the encoder",
    difficulty=2,
    minutes=15,
    hints=(
        "Two lines: `residual_1` around the attention, `residual_2` around the network.",
        "A sub-layer is a function of one tensor, and the attention takes three and a mask: "
        "`lambda h: self_attention(h, h, h, mask)` is such a function.",
        "What goes into `residual_2` is what has come out of `residual_1`.",
    ),
    properties=(padding_changes_nothing,),
    sizes={"d_model": (4, 6, 8)},
    values={
        "mask": _padding("len"),
        "self_attention": lambda draw: _attention(draw, 1),
        "feed_forward": _network,
        "residual_1": lambda draw: _residual(draw, 1),
        "residual_2": lambda draw: _residual(draw, 2),
    },
    mistakes=(
        Mistake(no_mask, "The mask does not get to the self-attention: padding is looked at."),
        Mistake(
            feed_forward_first,
            "The feed-forward network comes first here; in Figure 1 the attention does.",
        ),
        Mistake(
            from_the_first_x,
            "The attention's output is lost: the network gets the x from before it.",
        ),
        Mistake(
            side_by_side,
            "Both sub-layers read the same x and are added; in the paper the network reads what "
            "the attention has made.",
        ),
        Mistake(no_residuals, "The sub-layers follow each other without their Add & Norm."),
        Mistake(
            one_residual_twice,
            "`residual_1` is used for both sub-layers; each has an Add & Norm of its own, with its "
            "own gain and bias.",
        ),
        Mistake(
            residuals_exchanged,
            "`residual_2` stands around the attention, and `residual_1` "
            "around the network: they are swapped.",
        ),
        Mistake(without_attention, "The feed-forward network is missing: half of the layer."),
    ),
)


def the_future_changes_nothing(case: Case) -> str | None:
    """A later token changes no earlier position."""
    x = case.inputs["x"]
    other = torch.cat([x[:, :-1], x[:, -1:] + 3], dim=1)
    moved = (case.call(x=other) - case.answer)[:, :-1]
    if moved.numel() == 0 or moved.abs().max() < 1e-3:
        return None
    return "The last token changes positions before it: does tgt_mask get to the self-attention?"


def source_padding_changes_nothing(case: Case) -> str | None:
    """What stands at a padded source position changes nothing."""
    memory, mask = case.inputs["memory"], case.inputs["src_mask"]
    hidden = ~mask[:, 0, 0, :, None].expand(memory.shape)
    moved = case.call(memory=torch.where(hidden, memory + 3, memory)) - case.answer
    if moved.abs().max() < 1e-3:
        return None
    return "A padded source position changes the output: does src_mask get to the cross-attention?"


def the_encoder_asks(x: Tensor, memory: Tensor, src: Tensor, tgt: Tensor, *parts: Any) -> Tensor:
    own, cross, network, one, two, three = parts
    x = one(x, lambda h: own(h, h, h, tgt))
    x = two(x, lambda h: cross(memory, h, h, None))
    out: Tensor = three(x, network)
    return out


def no_target_mask(x: Tensor, memory: Tensor, src: Tensor, tgt: Tensor, *parts: Any) -> Tensor:
    return solutions.decoder_layer(x, memory, src, torch.ones_like(tgt), *parts)


def no_source_mask(x: Tensor, memory: Tensor, src: Tensor, tgt: Tensor, *parts: Any) -> Tensor:
    return solutions.decoder_layer(x, memory, torch.ones_like(src), tgt, *parts)


def no_memory(x: Tensor, memory: Tensor, src: Tensor, tgt: Tensor, *parts: Any) -> Tensor:
    own, cross, network, one, two, three = parts
    x = one(x, lambda h: own(h, h, h, tgt))
    x = two(x, lambda h: cross(h, h, h, tgt))
    out: Tensor = three(x, network)
    return out


def cross_attention_first(
    x: Tensor, memory: Tensor, src: Tensor, tgt: Tensor, *parts: Any
) -> Tensor:
    own, cross, network, one, two, three = parts
    x = two(x, lambda h: cross(h, memory, memory, src))
    x = one(x, lambda h: own(h, h, h, tgt))
    out: Tensor = three(x, network)
    return out


def attentions_exchanged(
    x: Tensor, memory: Tensor, src: Tensor, tgt: Tensor, *parts: Any
) -> Tensor:
    own, cross, *others = parts
    return solutions.decoder_layer(x, memory, src, tgt, cross, own, *others)


def cross_attention_left_out(
    x: Tensor, memory: Tensor, src: Tensor, tgt: Tensor, *parts: Any
) -> Tensor:
    own, _, network, one, _, three = parts
    out: Tensor = three(one(x, lambda h: own(h, h, h, tgt)), network)
    return out


DECODER_LAYER = Exercise(
    solution=solutions.decoder_layer,
    chapter="architecture/encoder_decoder",
    title="A layer of the decoder",
    difficulty=2,
    minutes=15,
    hints=(
        "Three sub-layers in the order of Figure 1, each with its Add & Norm. Two of them you have "
        "written for the encoder.",
        "Who asks, and who is asked? The queries are the decoder's; keys and values are `memory`.",
        "`lambda h: cross_attention(h, memory, memory, src_mask)`; the self-attention has "
        "`tgt_mask`.",
    ),
    properties=(the_future_changes_nothing, source_padding_changes_nothing),
    # At the second level both sides have one length, where exchanged roles raise no error.
    sizes={"len": (3, 4, 2), "src_len": (4, 4, 5), "d_model": (6, 8, 10)},
    values={
        "src_mask": _padding("src_len"),
        "tgt_mask": _target_mask,
        "self_attention": lambda draw: _attention(draw, 1),
        "cross_attention": lambda draw: _attention(draw, 2),
        "feed_forward": _network,
        "residual_1": lambda draw: _residual(draw, 1),
        "residual_2": lambda draw: _residual(draw, 2),
        "residual_3": lambda draw: _residual(draw, 3),
    },
    mistakes=(
        Mistake(
            the_encoder_asks,
            "In the cross-attention the memory asks and the decoder answers: whoever asks gets the "
            "output. The queries are the decoder's, keys and values the memory.",
            erratum=9,
        ),
        Mistake(
            no_target_mask,
            "tgt_mask does not get to the self-attention: each position reads the answer that it "
            "is to give.",
        ),
        Mistake(
            no_source_mask,
            "src_mask does not get to the cross-attention: the source's padding is looked at.",
        ),
        Mistake(
            no_memory,
            "The second attention looks at the target again: nothing of the source gets into the "
            "decoder.",
        ),
        Mistake(
            cross_attention_first,
            "The cross-attention comes before the self-attention; in Figure 1 it comes after it.",
        ),
        Mistake(
            attentions_exchanged,
            "`cross_attention` does the self-attention's work, and the other way round: each has "
            "its own weights.",
        ),
        Mistake(
            cross_attention_left_out,
            "There are two sub-layers; the decoder's layer has a third, the attention to the "
            "encoder's output.",
        ),
    ),
)
