"""What the notation tables call things is what they are called, here and in PyTorch."""

import ast
import importlib
import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam, lr_scheduler

import transformer
from transformer import TransformerConfig
from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.decoding import beam_search
from transformer.layers import FeedForward
from transformer.masks import causal_mask
from transformer.text.batching import Batch
from transformer.training import TrainingConfig

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/notation.md").read_text()
OURS, PYTORCH, HUGGING_FACE = 1, 2, 3
CORE = ("attention", "embedding", "layers", "masks", "model", "introspect", "cache")


def section(title: str) -> str:
    (found,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return found


def column(title: str, index: int) -> set[str]:
    """The names in code of a column of the table below a heading."""
    rows = [line.strip("|").split("|") for line in section(title).splitlines() if line[:2] == "| "]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row[index])}


def parameters(*functions: Any) -> set[str]:
    return {name for function in functions for name in inspect.signature(function).parameters}


def names(*things: Any) -> set[str]:
    return {name for thing in things for name in dir(thing)}


def settings(kind: Any) -> set[str]:
    return {setting.name for setting in fields(kind)}


MODEL = transformer.Transformer(TransformerConfig.tiny(src_vocab_size=9))
OUR_NAMES = {
    "Sizes and settings": settings(TransformerConfig),
    "Tensors": parameters(MODEL.forward, MODEL.decode, scaled_dot_product_attention)
    | settings(Batch)
    | names(MODEL, transformer.masks, transformer.introspect),
    "Parts": names(
        *(importlib.import_module(f"transformer.{file}") for file in CORE),
        *(MODEL, MultiHeadAttention(4, 2), FeedForward(4, 8)),
    ),
    "Training and search": settings(TrainingConfig)
    | parameters(beam_search)
    | names(transformer.training),
}


@pytest.mark.parametrize("title", OUR_NAMES)
def test_our_column_has_the_modules_names(title: str) -> None:
    assert len(column(title, OURS)) > 5
    assert column(title, OURS) <= OUR_NAMES[title]


def test_our_settings_are_all_there() -> None:
    assert column("Sizes and settings", OURS) == OUR_NAMES["Sizes and settings"] - {
        "pad_id", "positions",
    }  # fmt: skip


LAYER = nn.TransformerEncoderLayer(4, 2)
BUILT_IN = re.match(r"\w+\((.*?)\)", F.scaled_dot_product_attention.__doc__ or "", re.S)
TORCH_NAMES = {
    "Sizes and settings": parameters(nn.Transformer, nn.MultiheadAttention),
    "Tensors": parameters(
        *(nn.Transformer.forward, nn.TransformerDecoder.forward, nn.MultiheadAttention.forward),
        F.cross_entropy,
    )
    | set(re.findall(r"(\w+)(?:=|,)", BUILT_IN[1] if BUILT_IN else "")),
    "Parts": names(nn, F, LAYER, LAYER.self_attn),
    "Training and search": parameters(F.cross_entropy, Adam) | names(lr_scheduler),
}


@pytest.mark.parametrize("title", TORCH_NAMES)
def test_pytorchs_column_has_pytorchs_names(title: str) -> None:
    assert len(column(title, PYTORCH)) >= 4
    assert column(title, PYTORCH) <= TORCH_NAMES[title]


@pytest.mark.slow
def test_hugging_faces_column_has_its_names() -> None:
    from transformers import GenerationConfig, MarianConfig, MarianMTModel, TrainingArguments
    from transformers.models.marian import modeling_marian as marian

    config = MarianConfig(
        vocab_size=9, d_model=4, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=4,
        decoder_ffn_dim=4, encoder_attention_heads=2, decoder_attention_heads=2,
        pad_token_id=8, decoder_start_token_id=8, max_position_embeddings=8,
    )  # fmt: skip
    model = MarianMTModel(config)
    layer = model.model.encoder.layers[0]
    known = {
        "Sizes and settings": names(config),
        "Tensors": parameters(model.forward, layer.self_attn.forward) | names(config, model),
        "Parts": names(marian, model, model.model, layer, layer.self_attn),
        "Training and search": settings(TrainingArguments) | names(GenerationConfig()),
    }
    for title, there in known.items():
        assert column(title, HUGGING_FACE) <= there, title


def test_masks_do_not_agree_as_the_page_says() -> None:
    """True: may look, in ours and in torch's function; may not, in torch's module."""
    torch.manual_seed(0)
    mask = causal_mask(3)[0, 0]
    x = torch.randn(1, 3, 4)
    _, ours = scaled_dot_product_attention(x, x, x, mask)
    assert torch.equal(ours[0] > 0, mask)
    fused = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    assert torch.allclose(fused[:, 0], x[:, 0])  # the first position sees itself alone
    module = nn.MultiheadAttention(4, 2, batch_first=True)
    _, theirs = module(x, x, x, attn_mask=~mask)
    assert torch.equal(theirs[0] > 0, mask)


def test_kdim_is_the_width_of_what_comes_in() -> None:
    module = nn.MultiheadAttention(8, 2, kdim=5, vdim=3)
    assert module.k_proj_weight.shape == (8, 5) and module.v_proj_weight.shape == (8, 3)
    assert module.head_dim == 4
    assert not nn.MultiheadAttention(8, 2).batch_first


def axes(file: str) -> set[str]:
    """The names of axes in a file's annotations."""
    tree = ast.parse((ROOT / f"transformer/{file}.py").read_text())
    shapes = [
        node.slice.elts[1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and ast.unparse(node.value) in ("Float", "Int", "Bool")
        and isinstance(node.slice, ast.Tuple)
        and isinstance(node.slice.elts[1], ast.Constant)
    ]
    return {axis.lstrip("*#") for shape in shapes for axis in str(shape).split()}


def test_every_axis_of_the_cores_signatures_is_explained() -> None:
    used = set.union(*map(axes, CORE)) - {"", "..."}
    table = section("How to read shapes")
    explained = {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    assert explained == used
