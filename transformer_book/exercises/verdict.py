"""The verdict on an answer: text in a terminal, in a notebook a page with a picture."""

import base64
import dis
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_book.exercises.comparing import is_plain, number
from transformer_book.exercises.guard import ChangedError, Guard, Outcome, line_of

MOST_NUMBERS = 60  # of a tensor that is written out
MOST_LINES = 12  # of what the function has printed
MOST_BETWEEN = 20  # lines of numbers, until the sentence is said again
# `code`, or *emphasis*; a star in the middle of a product, or before an argument, is none of these.
MARKED = re.compile(r"`([^`]+)`|(?<![\w*)\]])\*(?![\s*])([^*`]*[^*`\s])\*(?![\w*(\[])")
STILL_RUNS = "It could not be stopped and still runs: restart the kernel once it is mended."
# The steps of a function that only returns a constant.
NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
MUTED = "color:var(--pst-color-text-muted, #666)"


@dataclass(frozen=True)
class Result:
    """The outcome of a check.

    Attributes:
        exercise: its name.
        passed: whether nothing is wrong.
        sentence: that it is right, or what is wrong first.
        mistake: the mistake of the catalogue that was recognised, in a few words.
        erratum: its number among the errata of the book.
        seen: where it shows: an entry, what it is and what it should be.
        inputs: the smallest arguments with which it shows.
        answer, target: what the reader's function made of them, and what it should have made.
        returns: the names of the parts of both, where there are several.
        part, index: the part and the entry that differ first.
        shown: what has been shown of a function that passes.
        printed: the beginning of what the function has printed.
        written: whether there is anything but the skeleton.
        still_runs: whether a call was left behind that could not be stopped.
        text: the details, where the values have been left out.
    """

    exercise: str
    passed: bool
    sentence: str
    mistake: str = ""
    erratum: int | None = None
    seen: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None
    target: Any = None
    returns: Sequence[str] = ()
    part: int = 0
    index: tuple[int, ...] = ()
    shown: tuple[str, ...] = ()
    printed: str = ""
    written: bool = True
    still_runs: bool = False
    text: str = ""

    def without_values(self) -> "Result":
        """The same with the values as text alone, which passes from process to process."""
        return replace(self, text=self.details, inputs={}, answer=None, target=None, printed="")

    def __bool__(self) -> bool:
        """`if check(softmax):` does what it says."""
        return self.passed

    @property
    def lines(self) -> list[str]:
        """What is to be said, a line each."""
        sign = "✓" if self.passed else "✗" if self.written else "○"
        lines = [f"{sign} {self.sentence}" + f" {STILL_RUNS}" * self.still_runs]
        if self.shown:
            lines.append("Shown: " + "; ".join(self.shown) + ".")
        if self.seen:
            lines.append(self.seen)
        if self.erratum is not None:
            lines.append(f"The book has it as erratum {self.erratum}.")
        return lines

    @property
    def values(self) -> dict[str, str]:
        """The smallest input with which it shows, and both results, as text."""
        written = {name: as_text(value) for name, value in self.inputs.items()}
        if self.answer is not None and self.target is not None:
            answer, target = self.pair()
            written |= {"yours": as_text(answer), "target": as_text(target)}
        return written

    def pair(self) -> tuple[Any, Any]:
        """The part that differs, of the answer and of the target."""
        answer, target = self.answer, self.target
        several = isinstance(target, tuple) and isinstance(answer, tuple | list)
        if several and len(answer) == len(target):
            return answer[self.part], target[self.part]
        return answer, target

    def matrices(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Yours and the target, as the two matrices in which they differ first; None for others."""
        answer, target = self.pair()
        if not (isinstance(answer, Tensor) and isinstance(target, Tensor)):
            return None
        if not is_plain(answer) or answer.is_complex():
            return None
        if not (answer.dim() and target.dim() and answer.numel() and target.numel()):
            return None
        index = self.index if answer.shape == target.shape else ()
        return matrix(answer, index), matrix(target, index)

    def __repr__(self) -> str:
        """For a terminal; long numbers scroll the sentence away, which therefore ends it too."""
        details = self.details.splitlines()
        return "\n".join([*self.lines, *details, *self.lines[:1] * (len(details) > MOST_BETWEEN)])

    @property
    def details(self) -> str:
        """The numbers with which it shows, and what was printed, for a terminal."""
        if self.text:
            return self.text
        values = [f"{name} = {text}" for name, text in self.values.items()]
        lines = ["  " + text.replace("\n", "\n  ") for text in values]
        if self.printed:
            lines += ["It printed:", *("  " + line for line in self._printed_lines())]
        return "\n".join(lines)

    def _printed_lines(self) -> list[str]:
        lines = self.printed.splitlines()
        return lines[:MOST_LINES] + (["..."] if len(lines) > MOST_LINES else [])

    def _repr_html_(self) -> str:
        """For a notebook: the sentence, the picture, and folded the numbers."""
        first, *others = (marked(line) for line in self.lines)
        parts = [f"<p><strong>{first}</strong></p>", *(f"<p>{line}</p>" for line in others)]
        if not self.passed and (picture := self._picture()):
            parts.append(picture)
        if self.values:
            rows = "".join(
                f"<dt><code>{escape(name)}</code></dt><dd><pre>{escape(text)}</pre></dd>"
                for name, text in self.values.items()
            )
            label = "The numbers: a small input, yours and the target"
            parts.append(f"<details><summary>{label}</summary><dl>{rows}</dl></details>")
        if self.printed:
            text = escape("\n".join(self._printed_lines()))
            parts.append(f'<p style="{MUTED}">It printed:</p><pre>{text}</pre>')
        # In the dark, the book's theme puts HTML on a bright card, made for plots.
        page = "var(--pst-color-background, transparent)"
        style = f"background:{page};box-shadow:0 0 0 0.6rem {page};color:inherit"
        colour = "color:var(--pst-color-text-base, inherit)"
        return f'<div style="{style};{colour}">{"".join(parts)}</div>'

    def figure(self) -> Any:
        """Yours beside the target, as a figure; None where a picture says nothing."""
        matrices = self.matrices()
        if self.passed or matrices is None:
            return None
        # Drawing is not needed for checking, and not installed everywhere.
        from transformer_book.figures.exercises import yours_beside_target

        return yours_beside_target(*matrices)

    def _picture(self) -> str:
        try:
            figure = self.figure()
        except ImportError:
            return ""
        if figure is None:
            return ""
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", bbox_inches="tight")
        data = base64.b64encode(buffer.getvalue()).decode()
        alt = escape(self.seen or self.sentence)
        source = f'src="data:image/png;base64,{data}"'
        return f'<img {source} alt="{alt}" style="max-width:100%;height:auto;background:white">'


def marked(text: str) -> str:
    """A sentence as HTML: `code` and *emphasis* as such, and whatever else it holds as it is."""

    def element(match: re.Match[str]) -> str:
        code, emphasis = match.groups()
        return f"<em>{emphasis}</em>" if code is None else f"<code>{code}</code>"

    return MARKED.sub(element, escape(text))


def matrix(tensor: Tensor, index: tuple[int, ...]) -> np.ndarray:
    """The last two axes of a tensor at an entry's position in those before; a vector is a row."""
    tensor = tensor.detach().to(torch.float64)
    if tensor.dim() == 1:
        tensor = tensor[None]
    leading = tensor.dim() - 2
    chosen = (*index, *[0] * leading)[:leading]
    return tensor[chosen].numpy()


def as_text(value: Any) -> str:
    """A value in a few lines."""
    if isinstance(value, Tensor):
        if value.numel() > MOST_NUMBERS or not is_plain(value):
            return f"tensor of shape {tuple(value.shape)}"
        return tensor_text(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(as_text(each) for each in value) + ")"
    if isinstance(value, float | int):
        return number(value)
    if callable(value):
        return (value.__doc__ or repr(value)).split("\n")[0].removesuffix(".")
    text = repr(value)
    return text if len(text) < 600 else text[:600] + " ..."


def tensor_text(tensor: Tensor) -> str:
    """Nested brackets, a row a line, without the word "tensor"."""
    tensor = tensor.detach()
    if tensor.dim() == 0:
        return number(tensor.item())
    if tensor.dim() == 1:
        return "[" + ", ".join(number(x) for x in tensor.tolist()) + "]"
    rows = ",\n".join(tensor_text(row) for row in tensor)
    return "[" + rows.replace("\n", "\n ") + "]"


def not_written(name: str) -> Result:
    """Of a function of which there is nothing but the skeleton."""
    sentence = f"{name} is not written yet: put your lines in the place of the three dots."
    return Result(name, False, sentence, written=False)


def stopped_sentence(name: str, outcome: Outcome, guard: Guard) -> str:
    """Which limit a call went beyond."""
    if outcome.stopped == "memory":
        size = guard.memory // 2**20
        return f"{name} takes more than {size:,} MB of memory: what grows there?"
    return (
        f"{name} was stopped: it did not return within {guard.seconds:g} seconds. "
        "Does a loop of it never end?"
    )


def error_sentence(
    name: str, error: BaseException, function: Callable[..., Any], signature: str
) -> str:
    """What a call raised, and in which line.

    Args:
        name: of the function, for the sentence.
        error: what it raised.
        function: whose line is looked for.
        signature: how it should be callable: "softmax(x)".
    """
    if isinstance(error, ChangedError):
        return (
            f"{name} changes its argument {error}, which its caller still needs: work on a new "
            "tensor or list (no x += ..., no x[...] = ..., no method that ends in _)."
        )
    if isinstance(error, RecursionError):
        return f"{name} calls itself without an end (RecursionError)."
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return f"{name} asks for more memory than there is: which shape grows?"
    if isinstance(error, TypeError) and error.__traceback__ and not error.__traceback__.tb_next:
        return f"{name} cannot be called as its skeleton is, {signature}: {error}."
    line = line_of(error, function)
    at = f", in the line `{line}`" if line else ""
    lines = str(error).strip().splitlines()
    # Torch goes on to all the ways in which a function can be called.
    what = f": {lines[0].removesuffix(', but expected one of:').rstrip('.')}" if lines else ""
    return f"{name} raises {type(error).__name__}{what}{at}."


def capital(text: str) -> str:
    """With a capital letter, as a sentence begins."""
    return text[:1].upper() + text[1:]


def whole(clause: str) -> str:
    """A clause as a sentence of its own."""
    return f"{capital(clause)}."


def unwritten(function: Callable[..., Any]) -> bool:
    """Whether a function's body is nothing but its docstring and dots."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_names:
        return False
    plain = {None, getattr(function, "__doc__", None), ...}
    steps = {step.opname for step in dis.get_instructions(code)}
    return set(code.co_consts) <= plain and steps <= NOTHING
