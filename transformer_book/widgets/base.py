"""What every widget is: traits in Python, an ES module in the browser, a figure for paper."""

import difflib
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from transformer_book.widgets.bundle import bundle

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


class Foretold(traitlets.HasTraits):
    """Of a widget that asks what will come out: the answers, the right one, the reader's guess."""

    answers = traitlets.List(traitlets.Unicode()).tag(sync=True)
    right = traitlets.Int(-1).tag(sync=True)
    guess = traitlets.Int(-1).tag(sync=True)
    why = traitlets.Unicode().tag(sync=True)

    @staticmethod
    def judged(question: str, answers: Sequence[str], right: str) -> dict[str, Any]:
        """The answers, and where the right one stands: -1 where there is no question.

        Raises:
            ValueError: a question has fewer than two answers, or `right` is none of them.
        """
        if question and (len(answers) < 2 or right not in answers):
            raise ValueError(
                f"the question {question!r} needs at least two answers, and `right` must be one "
                f"of them, not {right!r}"
            )
        return {"answers": [*answers], "right": [*answers].index(right) if question else -1}


class AskedAgain(traitlets.HasTraits):
    """Of a widget that shows a head of a model, and asks that model for more than it carries.

    Attributes:
        layer, head: which head, counted from 0.
        contents: what it carries, with how many "layers" and "heads" there are.
        question: what is asked for; the kernel answers, or on a page the model that `live` names.
        message: what was wrong with the question.
    """

    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    contents = traitlets.Dict().tag(sync=True)
    question = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    live = traitlets.Dict().tag(sync=True)

    @traitlets.validate("layer", "head")
    def _exists(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        last = self.contents[f"{name}s"] - 1
        if not 0 <= value <= last:
            raise traitlets.TraitError(f"{name} ({value}) must be 0 to {last}")
        return int(value)

    def _ask(self, **asked: Any) -> None:
        self.question = {"number": self.question.get("number", 0) + 1, **asked}


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

    def __init__(self, **settings: Any) -> None:
        """Sets traits by their names.

        Raises:
            TypeError: it has none of that name; traitlets alone would take it without a word.
        """
        known = self.trait_names()
        for name in settings.keys() - {*known}:
            near = difflib.get_close_matches(name, known, n=1)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(f"{type(self).__name__} has no setting {name!r}{guess}")
        super().__init__(**settings)

    @traitlets.default("front_end")
    def _own_front_end(self) -> str:
        return _folder_name(type(self))

    def twin(self) -> "Figure":
        """The widget's state as a static figure, for paper and for pages without scripts."""
        raise NotImplementedError

    def print_twin(self) -> dict[str, Any]:
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
        return {**data, **self.print_twin()}, metadata


def _folder_name(cls: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
