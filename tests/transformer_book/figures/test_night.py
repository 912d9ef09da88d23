"""By night: which colours change and how, that maps and numbers in cells do not, and no figure."""

import io
import re
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sphinx_book_theme
from IPython.core.formatters import DisplayFormatter
from IPython.core.pylabtools import print_figure
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from transformer_book.figures.boxes import FILL, GREY, INK, rounded_box
from transformer_book.figures.encoder_decoder import decoder_step
from transformer_book.figures.figure2 import scaled_dot_product_boxes
from transformer_book.figures.heatmaps import attention_heatmap, cells, colour_bar
from transformer_book.figures.night import (
    GROUND,
    LEAST,
    MOST,
    contrast,
    load_ipython_extension,
    night_colour,
    night_png,
    to_oklab,
)
from transformer_book.figures.style import BLANK_INK, EMPTY, PALETTE, TWO_COLOURS

COLOURS = [color for color in (*PALETTE, "#b2182b", "#2166ac", "#00654a") if color != "#000000"]
WORDS = ["the", "dog", "sleeps"]


def against(color: str, ground: str = GROUND) -> float:
    return float(contrast(to_rgb(color), to_rgb(ground)))


def hue(color: str) -> float:
    _, a, b = to_oklab(to_rgb(color))
    return float(np.degrees(np.arctan2(b, a)))


def apart(one: float, other: float) -> float:
    """Degrees between two hues."""
    return abs((one - other + 180) % 360 - 180)


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def share_of(color: str, picture: np.ndarray) -> float:
    """Of a picture's pixels, how many have about this colour."""
    wanted = 255 * np.array(to_rgb(color))
    return float((np.abs(picture - wanted).max(-1) < 3).mean())


def drawn(figure: Figure) -> tuple[np.ndarray, np.ndarray]:
    """A figure by day and by night."""
    day = print_figure(figure)
    assert day
    return pixels(day), pixels(night_png(figure)[0])


def test_the_ground_is_that_of_the_themes_dark_pages() -> None:
    theme = Path(sphinx_book_theme.__file__).parent / "theme/sphinx_book_theme/static"
    sheet = (theme / "styles/sphinx-book-theme.css").read_text()
    dark = re.findall(r"html\[data-theme=dark\]\{([^}]*)\}", sheet)
    grounds = re.findall(r"--pst-color-background:(#\w+)", "".join(dark))
    assert grounds == [GROUND]


def test_white_turns_into_the_ground_and_black_into_light_ink() -> None:
    assert night_colour("white") == GROUND
    assert against(night_colour("black")) == pytest.approx(MOST, rel=0.01)


@pytest.mark.parametrize("color", [INK, GREY, BLANK_INK, EMPTY, "0.4", "#767676", *FILL.values()])
def test_what_is_grey_or_pale_stands_out_as_it_did_from_white(color: str) -> None:
    night = night_colour(color)
    assert against(night) == pytest.approx(min(against(color, "white"), MOST), rel=0.03)


@pytest.mark.parametrize("color", COLOURS)
def test_a_colour_keeps_its_hue_and_can_be_read(color: str) -> None:
    night = night_colour(color)
    assert against(night) >= LEAST - 0.05
    assert apart(hue(night), hue(color)) < 8
    assert (night == color.lower()) == (against(color) >= LEAST)


def test_the_colours_of_boxes_stay_apart_and_take_light_ink() -> None:
    nights = [night_colour(fill) for fill in FILL.values()]
    assert len({*nights}) == len(FILL)
    for fill, night in zip(FILL.values(), nights, strict=True):
        assert apart(hue(night), hue(fill)) < 25
        assert against(night_colour(INK), night) > 7


def test_a_heatmap_keeps_its_cells_and_what_is_written_in_them() -> None:
    ax = attention_heatmap(np.eye(3) * 0.9, WORDS, WORDS)
    colour_bar(ax, "weight")
    day, night = drawn(ax.figure)
    assert day.shape == night.shape
    for color in (ax.collections[0].to_rgba(x) for x in (0.0, 0.9)):
        assert share_of(color, night) == pytest.approx(share_of(color, day), abs=0.002)
    assert share_of("white", day) > 0.2 and share_of("white", night) < 0.01


def test_what_is_written_stands_out_from_what_is_below_it() -> None:
    figure, axes = plt.subplots(1, 4, figsize=(8, 2))
    for ax, value in zip(axes[:3], (0.0, 1.0, np.nan), strict=True):
        cells(ax, [[value]], limits=(0, 1), rows=[""], columns=[""], numbers=[["■"]], size=40)
    axes[3].axis("off")
    rounded_box(axes[3], (0, 0), (1, 1), 0.1, FILL["norm"])
    axes[3].text(0.5, 0.5, "■", size=40, ha="center", va="center", color=INK)
    inks = [
        *(ax.texts[0].get_color() for ax in axes[:2]), night_colour(BLANK_INK), night_colour(INK)
    ]  # fmt: skip
    assert inks[:2] == ["white", "black"]
    _, night = drawn(figure)
    width = night.shape[1] // 4
    for number, ink in enumerate(inks):
        part = night[:, number * width : (number + 1) * width]
        assert share_of(ink, part) > 0.01, f"the square of figure {number} is not {ink}"


def test_a_list_of_colours_is_no_map_so_that_empty_cells_are_dark() -> None:
    _, ax = plt.subplots()
    cells(ax, [[0, 1], [1, 0]], colours=TWO_COLOURS, rows=None, columns=None)
    day, night = drawn(ax.figure)
    for color in TWO_COLOURS:
        assert share_of(night_colour(color), night) == pytest.approx(share_of(color, day), abs=0.01)


def test_a_line_across_light_cells_stays_dark() -> None:
    _, ax = plt.subplots(figsize=(3, 3))
    cells(ax, np.zeros((2, 2)), colours="RdBu_r", limits=(-1, 1), rows=[""] * 2, columns=[""] * 2)
    ax.axvline(1, color="black", linewidth=6)
    day, night = drawn(ax.figure)
    assert share_of("black", night) == pytest.approx(share_of("black", day), abs=0.005)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: colour_bar(attention_heatmap(np.eye(3), WORDS, WORDS)).figure,
        lambda: scaled_dot_product_boxes().figure,
        lambda: decoder_step(WORDS, WORDS, 2).figure,
        lambda: plt.figure().add_subplot(xlabel="x", title="$x$").figure,
    ],
)
def test_the_figure_stays_as_it_was(draw) -> None:
    untouched, figure = draw(), draw()
    pictures = [print_figure(untouched), print_figure(untouched)]
    day = print_figure(figure)
    canvas, engine = figure.canvas, figure.get_layout_engine()
    names = [artist.get_gid() for artist in figure.findobj()]
    night, _ = night_png(figure)
    assert night_png(figure)[0] == night != day
    assert figure.canvas is canvas and figure.get_layout_engine() is engine
    assert [artist.get_gid() for artist in figure.findobj()] == names
    # Laid out twice, a figure may move by a hair, seen at night or not.
    assert [day, print_figure(figure)] == pictures


def test_jupyter_keeps_it_beside_the_figure_when_it_was_asked_to() -> None:
    figure = plt.figure()
    figure.add_subplot().set_title("small", fontsize=7)
    figure.text(0, 0, "hidden", fontsize=3, visible=False)
    plain, asked = DisplayFormatter(), DisplayFormatter()
    load_ipython_extension(SimpleNamespace(display_formatter=asked))
    for formatter in (plain, asked):
        formatter.formatters["image/png"].for_type(Figure, lambda f: print_figure(f, base64=True))
    (day, nothing), (same, more) = plain.format(figure), asked.format(figure)
    assert day == same and nothing == {}
    assert b64decode(more["image/png"]["night"]) == night_png(figure)[0]
    assert more["image/png"]["letters"] == 7
    assert asked.format("a word") == plain.format("a word")
