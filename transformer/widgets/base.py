"""What every widget is: traits in Python, an ES module in the browser, a figure for paper."""

import io
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRONT_ENDS = Path(__file__).parent / "front_ends"
STYLE = FRONT_ENDS / "widgets.css"

_IMPORT = re.compile(r'^import \{[^}]*\} from "(?P<path>\.[./\w-]*\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?function|const|class)", re.MULTILINE)


def bundle(front_end: Path) -> str:
    """One ES module out of a front end and all that it imports.

    A page of the book loads the modules as the files that they are. Jupyter hands a widget's
    script to the browser as a text without an address, from which no other file can be imported:
    so the imported modules are put in front of it, each once, in one scope.
    """
    parts: dict[Path, str] = {}

    def add(path: Path) -> None:
        if path in parts:
            return
        text = path.read_text(encoding="utf-8")
        for match in _IMPORT.finditer(text):
            add((path.parent / match["path"]).resolve())
        parts[path] = _EXPORT.sub("", _IMPORT.sub("", text))

    add(front_end.resolve())
    return "\n".join(parts.values())


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

    A subclass `MaskExplorer` has its front end in `front_ends/mask_explorer.js`, its state in
    traits with `sync=True`, and its figure for print in `twin`.

    Attributes:
        front_end: the name of the front end's file.
        description: what the widget shows, for those who do not see it.
    """

    front_end = traitlets.Unicode(read_only=True).tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Gives each widget its script and the common style sheet."""
        if not hasattr(cls, "_esm"):  # anywidget derives a class anew for each object
            cls._esm = bundle(FRONT_ENDS / f"{_file_name(cls)}.js")
            cls._css = STYLE.read_text(encoding="utf-8")
        super().__init_subclass__(**kwargs)

    @traitlets.default("front_end")
    def _own_front_end(self) -> str:
        return _file_name(type(self))

    def twin(self) -> "Figure":
        """The widget's state as a static figure, for paper and for pages without scripts."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and the twin as a picture for whatever cannot show it."""
        import matplotlib.pyplot as plt

        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        figure = self.twin()
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        plt.close(figure)
        return {**data, "image/png": picture.getvalue()}, metadata


def _file_name(cls: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
