"""The signatures are checked while the tests run: see conftest.py."""

import jaxtyping
import pytest
import torch

from transformer.attention import scaled_dot_product_attention


def test_a_tensor_of_a_wrong_shape_is_refused():
    query, key = torch.ones(1, 2, 3), torch.ones(1, 2, 4)
    with pytest.raises(jaxtyping.TypeCheckError, match="scaled_dot_product_attention"):
        scaled_dot_product_attention(query, key, key)
