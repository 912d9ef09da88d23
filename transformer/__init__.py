"""The Transformer of "Attention Is All You Need", small enough to read aloud.

`from transformer import Transformer, TransformerConfig` pulls in torch and nothing else that is
heavy; figures, data sets and the command line are imported where they are used.
"""

import os
import sys

# In a command (`python -m transformer`) threads that wait give up their core soon, for the reason
# that the Makefile's first lines give. OpenMP reads this while torch is loaded, so it stands before
# the first import. A program that imports this package keeps its own settings.
if sys.argv[:1] == ["-m"] and "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")

from transformer.config import TransformerConfig
from transformer.model import Transformer

__all__ = ["Transformer", "TransformerConfig"]


def __getattr__(name: str) -> str:
    """The version, which is read where somebody asks for it."""
    if name == "__version__":
        from transformer.support.version import RELEASE

        return RELEASE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
