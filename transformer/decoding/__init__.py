"""From a trained model to sentences (section 6.1)."""

from transformer.decoding.beam import beam_search
from transformer.decoding.cache import KeyValueCache
from transformer.decoding.greedy import greedy_search
from transformer.decoding.hypothesis import Hypothesis

__all__ = ["Hypothesis", "KeyValueCache", "beam_search", "greedy_search"]
