"""The book's figures (matplotlib and seaborn): plain arrays and token lists in, axes out.

Every function that draws is offered here, and its file imported when it is first asked for.
"""

from pathlib import Path

from transformer_book.lazy import definitions, lazily

HOMES = definitions(Path(__file__).parent, __name__)

__getattr__, __dir__ = lazily(__name__, HOMES)
