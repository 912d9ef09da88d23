"""Figures by night: the same drawing in light ink, for pages that are dark.

A figure is drawn once more, and each colour is changed on its way to the canvas; the figure itself
stays as it was. What a colour says has to stay true, so there are four rules:

- Black, white, greys and pastels change sides: each stands out from the dark ground as much as it
  did from white. Ink turns white, a white box turns dark, the grey of an empty cell stays faint.
- Other colours keep their hue, so that the blue line is blue, and are as light as it takes to be
  read on the dark ground.
- What a colour map has coloured stays as it is: the colour bar says what it means.
- A text takes its old or its new colour, whichever stands out more from what is below it, and so
  does a line in a figure with such a map: a number in a bright cell stays black.

The site asks for it when it executes the chapters (`tools/site/execute.py`); in a notebook of your
own, `%load_ext transformer_book.figures.night` keeps such a picture beside each figure too, with
the size of the figure's smallest letters.
"""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from IPython.core.formatters import PNGFormatter
from IPython.core.pylabtools import print_figure
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from matplotlib.typing import ColorType

from transformer_book.figures.style import linear, luminance

GROUND = "#121212"  # of the theme's dark pages
LEAST, MOST = 4.5, 14.0  # contrasts with the ground: of a colour that is read, and of white ink
GREYISH, PALE = 0.04, 0.86  # in OKLab: at most this colourful, or at least this light
MOST_NAMED = 20  # colours in a map that is a list of colours, each with a meaning of its own
MAPPED = "coloured by a colour map"
SAMPLES = 24  # pixels that are looked at below a text, along and across

# OKLab, in which equal steps look equal (Ottosson, 2020): from linear RGB to cones, to lightness
# and the two axes of colour.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
AXES = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def contrast(one: Any, other: Any) -> Any:
    """WCAG's contrast of colours, each (..., 3) values of sRGB, 0 to 1: from 1 to 21."""
    a, b = luminance(one) + 0.05, luminance(other) + 0.05
    return np.maximum(a, b) / np.minimum(a, b)


def to_oklab(rgb: Any) -> np.ndarray:
    """(3,) values of sRGB, 0 to 1, as lightness and two axes of colour."""
    return AXES @ np.cbrt(CONES @ linear(rgb))


def _from_oklab(lab: np.ndarray) -> np.ndarray:
    """The way back, to the nearest colour that a screen has."""
    light = np.clip(np.linalg.inv(CONES) @ (np.linalg.inv(AXES) @ lab) ** 3, 0, 1)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def night_colour(color: ColorType) -> str:
    """A colour as it is drawn by night, which depends on nothing but the colour."""
    return to_hex(_night(to_rgb(color)))


@cache
def _night(rgb: tuple[float, float, float]) -> tuple[float, float, float]:
    ground = to_rgb(GROUND)
    light, *hue = to_oklab(rgb)
    if np.hypot(*hue) < GREYISH or light > PALE:
        wanted = min(float(contrast(rgb, (1, 1, 1))), MOST)
        hue = list(to_oklab(ground)[1:] + hue)  # so that white turns into the ground itself
    elif contrast(rgb, ground) >= LEAST:
        return rgb
    else:
        wanted = LEAST
    low, high = 0.0, 1.0
    for _ in range(30):
        light = (low + high) / 2
        made = _from_oklab(np.array([light, *hue]))
        too_dark = luminance(made) + 0.05 < wanted * (luminance(ground) + 0.05)
        low, high = (light, high) if too_dark else (low, light)
    return tuple(made.tolist())


def _recoloured(colours: Any) -> Any:
    """One colour or an array of them, (colours, 3 or 4); what is transparent stays so."""
    if colours is None:
        return None
    array = np.array(colours, dtype=float, ndmin=2)
    for row in array:
        row[:3] = _night(tuple(row[:3].tolist()))
    return array if np.ndim(colours) == 2 else tuple(array[0])


class NightRenderer:
    """Draws on another renderer of matplotlib's, in the colours of the night."""

    def __init__(self, renderer: Any, has_maps: bool, letters: set[float]) -> None:
        """`has_maps`: whether something in the figure is coloured by a colour map.

        The sizes of all letters that it draws, in points, go into `letters`.
        """
        self.renderer, self.has_maps, self.mapped = renderer, has_maps, False
        self.letters = letters

    def __getattr__(self, name: str) -> Any:
        return getattr(self.renderer, name)

    def open_group(self, name: str, gid: str | None = None) -> None:
        """Every artist says when it begins."""
        self.mapped = gid == MAPPED

    def close_group(self, name: str) -> None:
        """And when it ends."""
        self.mapped = False

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        """A line or a patch."""
        below = None
        if rgbFace is None and self.has_maps:
            below = path.get_extents(transform).padded(self.points_to_pixels(gc.get_linewidth()))
            if clip := gc.get_clip_rectangle():
                below = Bbox.intersection(below, clip)
        self.renderer.draw_path(self._by_night(gc, below), path, transform, _recoloured(rgbFace))

    def draw_markers(
        self, gc: Any, mark: Any, turned: Any, path: Any, transform: Any, rgbFace: Any = None
    ) -> None:
        """The same mark at many points."""
        where = mark, turned, path, transform
        self.renderer.draw_markers(self._by_night(gc), *where, self._fill(rgbFace))

    def draw_path_collection(self, gc: Any, *given: Any, **more: Any) -> None:
        """Many patches or lines, whose fills and edges stand behind five descriptions of places."""
        where, (fills, edges), rest = given[:5], given[5:7], given[7:]
        colours = self._fill(fills), self._edge(edges)
        self.renderer.draw_path_collection(self._by_night(gc), *where, *colours, *rest, **more)

    def draw_quad_mesh(self, gc: Any, *given: Any) -> None:
        """Cells, with their fills, whether they are smooth, and their edges behind all else."""
        where, (fills, smooth, edges) = given[:-3], given[-3:]
        self.renderer.draw_quad_mesh(gc, *where, self._fill(fills), smooth, self._edge(edges))

    def draw_text(self, gc: Any, *what: Any, mtext: Text | None = None, **more: Any) -> None:
        """A line of a text."""
        self.letters.add(float(what[3].get_size_in_points()))
        # An annotation's own extent would have its arrow in it.
        below = Text.get_window_extent(mtext) if mtext is not None else None
        self.renderer.draw_text(self._by_night(gc, below), *what, mtext=mtext, **more)

    def _fill(self, colours: Any) -> Any:
        return colours if self.mapped else _recoloured(colours)

    def _edge(self, colours: Any) -> Any:
        """Those of a map have a colour for each cell; what is around all of them is like ink."""
        return colours if self.mapped and len(colours) > 1 else _recoloured(colours)

    def _by_night(self, gc: Any, below: Bbox | None = None) -> Any:
        """The ink, which stands out from what has been drawn in a part of the canvas."""
        night = self.renderer.new_gc()
        night.copy_properties(gc)
        own, alpha = gc.get_rgb()[:3], gc.get_rgb()[3:]
        inks = [own, _night(tuple(map(float, own)))]
        if below is not None and len(seen := self._seen(below)):
            inks.sort(key=lambda ink: contrast(ink, seen).mean())
        night.set_foreground((*inks[-1], *(alpha or (1.0,))), isRGBA=True)
        if gc.get_hatch_color() is not None:
            night.set_hatch_color(_recoloured(gc.get_hatch_color()))
        return night

    def _seen(self, part: Bbox) -> np.ndarray:
        """(pixels, 3) colours, 0 to 1, of a few pixels in a part of the canvas."""
        pixels = np.asarray(self.renderer.buffer_rgba())
        if not np.isfinite(part.extents).all():
            return np.zeros((0, 3))
        x0, x1 = np.clip([part.x0, part.x1 + 1], 0, pixels.shape[1]).astype(int)
        y0, y1 = np.clip(len(pixels) - np.array([part.y1 + 1, part.y0]), 0, len(pixels)).astype(int)
        steps = max(1, (y1 - y0) // SAMPLES), max(1, (x1 - x0) // SAMPLES)
        return pixels[y0 : y1 : steps[0], x0 : x1 : steps[1], :3].reshape(-1, 3) / 255


class NightCanvas(FigureCanvasAgg):
    """A canvas on which a figure is drawn in the colours of the night."""

    def __init__(self, figure: Figure, has_maps: bool) -> None:
        """`has_maps`: whether something in the figure is coloured by a colour map."""
        self.has_maps, self.letters = has_maps, set[float]()
        super().__init__(figure)

    def get_renderer(self) -> Any:
        """As matplotlib asks for it."""
        return NightRenderer(super().get_renderer(), self.has_maps, self.letters)


def night_png(figure: Figure) -> tuple[bytes, float | None]:
    """A figure in the colours of the night, and the size of its smallest letters, in points.

    The PNG has as many pixels as Jupyter's own. The figure must have been drawn before, since it is
    not laid out again, and have Axes.
    """
    with _on_its_canvas(figure) as canvas:
        return print_figure(figure), min(canvas.letters, default=None)


@contextmanager
def _on_its_canvas(figure: Figure) -> Iterator[NightCanvas]:
    """Another canvas for the figure, in which what maps have coloured says so."""
    canvas, layout = figure.canvas, figure.get_layout_engine()
    mapped = [(artist, artist.get_gid()) for artist in figure.findobj(_is_mapped)]
    try:
        night = NightCanvas(figure, bool(mapped) or any(ax.images for ax in figure.axes))
        figure.set_layout_engine("none")
        for artist, _ in mapped:
            artist.set_gid(MAPPED)
        yield night
    finally:
        for artist, gid in mapped:
            artist.set_gid(gid)
        if layout is not None:
            figure.set_layout_engine(layout)
        figure.set_canvas(canvas)


def _is_mapped(artist: Any) -> bool:
    shown = isinstance(artist, ScalarMappable) and artist.get_array() is not None
    return shown and artist.cmap.N > MOST_NAMED


class DayAndNight(PNGFormatter):
    """Jupyter's pictures, and beside that of a figure, in its metadata, the one of the night."""

    def __call__(self, shown: Any) -> Any:
        """The picture of what is shown, if it has one."""
        day = super().__call__(shown)
        if day is None or not isinstance(shown, Figure):
            return day
        night, letters = night_png(shown)
        return day, {"night": b64encode(night).decode(), "letters": letters}


def load_ipython_extension(shell: Any) -> None:
    """Jupyter calls this when it loads the extension."""
    display = shell.display_formatter
    display.formatters["image/png"] = DayAndNight(parent=display)
