"""From a trained model to sentences (section 6.1)."""

from transformer.decoding.cache import KeyValueCache
from transformer.decoding.greedy import greedy_search
from transformer.decoding.hypothesis import Hypothesis

__all__ = ["Hypothesis", "KeyValueCache", "greedy_search"]
