"""The Transformer of "Attention Is All You Need", small enough to read aloud.

`from transformer import Transformer, TransformerConfig` pulls in torch and nothing else that is
heavy; figures, data sets and the command line are imported where they are used.
"""

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.version import RELEASE

__all__ = ["Transformer", "TransformerConfig"]
__version__ = RELEASE
