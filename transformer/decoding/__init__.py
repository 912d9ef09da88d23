"""From a trained model to sentences (section 6.1)."""

from transformer.cache import KeyValueCache
from transformer.decoding.beam import beam_search
from transformer.decoding.ensemble import Ensemble
from transformer.decoding.generate import EXTRA_LENGTH, Hypothesis
from transformer.decoding.greedy import greedy_search
from transformer.decoding.sampling import sample
from transformer.decoding.tree import SearchTree

__all__ = [
    "EXTRA_LENGTH",
    "Ensemble",
    "Hypothesis",
    "KeyValueCache",
    "SearchTree",
    "beam_search",
    "greedy_search",
    "sample",
]
