"""The book's figures (matplotlib and seaborn): plain arrays and token lists in, axes out."""

from transformer.figures.style import PALETTE, use_style

__all__ = ["PALETTE", "use_style"]
