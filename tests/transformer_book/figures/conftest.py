"""Every test of a figure starts with the book's style and leaves no figure open."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest

from transformer_book.figures.style import use_style


@pytest.fixture(autouse=True)
def fresh_figures() -> Iterator[None]:
    use_style()
    yield
    plt.close("all")
