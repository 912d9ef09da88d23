"""What every widget is: traits in Python, an ES module in the browser, a figure for paper."""

import io
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from transformer.widgets.bundle import bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRONT_ENDS = Path(__file__).parent / "front_ends"


def style_of(*front_ends: str) -> str:
    """The kit's style sheet, and those of the widgets whose front ends have one of their own."""
    sheets = [FRONT_ENDS / name / "style.css" for name in ("kit", *front_ends)]
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists())


def handed_over(**values: Any) -> Any:
    """A trait `constants` for what the front end needs to know too, and nobody changes."""
    return traitlets.Dict(values, read_only=True).tag(sync=True)


class Number(traitlets.Float):
    """A float that is finite: a slider has no place for NaN."""

    def validate(self, obj: Any, value: Any) -> float:
        """Refuses what is no finite number or outside the range."""
        number: float = super().validate(obj, value)
        if not math.isfinite(number):
            raise traitlets.TraitError(f"{self.name} ({number}) must be a finite number")
        return number


class Widget(anywidget.AnyWidget):
    """A figure that can be moved: in Jupyter, in Colab, and without a kernel on the book's pages.

    A subclass `MaskExplorer` has its front end in the folder `front_ends/mask_explorer`, its state
    in traits with `sync=True`, and its figure for print in `twin`.

    Attributes:
        front_end: the name of the front end's folder.
        description: what the widget shows, for those who do not see it; a subclass gives its own.
        constants: what stands in Python and is needed in the browser.
    """

    front_end = traitlets.Unicode(read_only=True).tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    constants = handed_over()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Gives each widget its script and its style."""
        if not hasattr(cls, "_esm"):  # anywidget derives a class anew for each object
            name = _folder_name(cls)
            cls._esm = bundle(FRONT_ENDS / name / "index.js")
            cls._css = style_of(name)
        super().__init_subclass__(**kwargs)

    @traitlets.default("front_end")
    def _own_front_end(self) -> str:
        return _folder_name(type(self))

    def twin(self) -> "Figure":
        """The widget's state as a static figure, for paper and for pages without scripts."""
        raise NotImplementedError

    def on_paper(self) -> dict[str, Any]:
        """What stands in its place where it cannot be shown, by kind: the twin as a picture."""
        import matplotlib.pyplot as plt

        figure = self.twin()
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        plt.close(figure)
        return {"image/png": picture.getvalue()}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and for whatever cannot show it what would stand on paper."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**data, **self.on_paper()}, metadata


def _folder_name(cls: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
