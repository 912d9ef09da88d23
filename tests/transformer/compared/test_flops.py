"""The operations of a model are those that torch counts while it runs."""

from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tests.helpers import small_config
from transformer import Transformer, TransformerConfig
from transformer.compared.flops import forward_flops, training_flops
from transformer.config import TABLE_3
from transformer.introspect import record_attention


def counted(config: TransformerConfig, sentences: int, src_len: int, tgt_len: int) -> int:
    """By torch, in one forward pass of the real model; on meta nothing is computed."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter, torch.no_grad():
        model = Transformer(config).eval()
        src, tgt = (torch.zeros(sentences, n, dtype=torch.long) for n in (src_len, tgt_len))
        with record_attention(model):  # the products of attention, one by one
            model(src, tgt)
    return counter.get_total_flops()


@pytest.mark.slow
@pytest.mark.parametrize("row", ["base", "A2", "B1", "C1", "C4", "C6", "big"])
def test_a_forward_pass_of_the_papers_models_is_counted_as_torch_does(row: str) -> None:
    assert row in TABLE_3
    config = TransformerConfig.table3(row)
    assert sum(forward_flops(config, 25, 31).values()) == counted(config, 1, 25, 31)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_layers": 2, "n_heads": 2, "d_k": 5, "d_v": 7},
        {"norm": "pre", "positions": "learned"},
        {"src_vocab_size": 40, "tgt_vocab_size": 90, "tie": "decoder"},
    ],
)
def test_a_training_step_is_counted_as_torch_does(settings: dict[str, Any]) -> None:
    config = small_config(**settings)
    model = Transformer(config)
    src, tgt = torch.randint(4, 13, (3, 4)), torch.randint(4, 13, (3, 6))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(src, tgt).sum().backward()
    assert training_flops(config, 3, 4, 6) == counter.get_total_flops()


def test_each_part_grows_as_it_should() -> None:
    config = TransformerConfig.base()
    one, two = (forward_flops(config, n, n) for n in (20, 40))
    growth = {part: two[part] / one[part] for part in one}
    assert growth == {"projections": 2, "pairs": 4, "feed-forward": 2, "output": 2}


def test_a_pair_of_tokens_costs_about_two_operations_for_each_parameter() -> None:
    config = TransformerConfig.base()
    with torch.device("meta"):
        parameters = Transformer(config).n_parameters()
    assert sum(forward_flops(config, 25, 25).values()) == pytest.approx(50 * parameters, rel=0.01)
