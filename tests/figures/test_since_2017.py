"""The figures of what has changed since 2017."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch

from transformer.figures.boxes import INK, ORANGE
from transformer.figures.since_2017 import Part, layers_compared, products_by_position


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_each_part_is_a_box_and_what_has_changed_is_framed():
    layers = {
        "then": [Part("norm", "norm"), Part("attention", "attention")],
        "now": [Part("RMS norm", "norm", True), Part("attention", "attention")],
    }
    then, now = layers_compared(layers)
    for ax, (title, parts) in zip((then, now), layers.items(), strict=True):
        assert ax.get_title() == title
        assert [text.get_text() for text in ax.texts] == [part.text for part in parts]
        boxes = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
        edges = [to_hex(box.get_edgecolor()) for box in boxes]
        assert edges == [to_hex(ORANGE if part.changed else INK) for part in parts]


def test_products_share_a_scale_around_zero():
    square = np.arange(9.0).reshape(3, 3) - 6
    axes = products_by_position({"added": square, "turned": np.zeros((3, 3))})
    assert [ax.get_title() for ax in axes] == ["added", "turned"]
    (mesh,) = axes[0].collections
    np.testing.assert_allclose(np.asarray(mesh.get_array()).reshape(3, 3), square)
    assert mesh.get_clim() == (-6, 6)


def test_what_is_no_square_gets_a_sentence():
    with pytest.raises(ValueError, match=r"'added' has shape \(2, 3\)"):
        products_by_position({"added": np.zeros((2, 3))})
