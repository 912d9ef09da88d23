"""Attention in the page is the module's: `attention.js`, which a chapter shows beside ours."""

import json

import torch
from torch import Tensor

from tests.helpers.node import in_node
from transformer.attention import scaled_dot_product_attention

from transformer_book.widgets.base import FRONT_ENDS


def side_by_side(heads: Tensor) -> list[list[float]]:
    """The vectors of all heads at a position one after another, as the script has them."""
    return heads[0].transpose(0, 1).flatten(1).tolist()


def test_the_page_gives_the_same_output_and_the_same_weights_as_the_module() -> None:
    rng = torch.Generator().manual_seed(3)
    shapes = ((1, 2, 1, 4), (1, 2, 5, 4), (1, 2, 5, 3))
    query, keys, values = (torch.randn(shape, generator=rng) for shape in shapes)
    given = json.dumps([side_by_side(tensor) for tensor in (query, keys, values)])
    script = f"""
      import {{ attend }} from "{(FRONT_ENDS / "live/attention.js").as_uri()}";
      const [[query], keys, values] = {given};
      const output = new Float32Array(values[0].length);
      const weights = attend(new Float32Array(query), {{ keys, values }}, 2, output);
      console.log(JSON.stringify([[...output], weights.map((head) => [...head])]));"""
    output, weights = map(torch.tensor, in_node(script))
    expected, shares = scaled_dot_product_attention(query, keys, values)
    torch.testing.assert_close(output, expected.flatten(), atol=1e-6, rtol=0)
    torch.testing.assert_close(weights, shares[0].squeeze(1), atol=1e-6, rtol=0)
