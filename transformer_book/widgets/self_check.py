"""Questions with answers that are checked on the page: chosen, computed, or guessed beforehand.

Nothing is sent anywhere: the front end judges the answer, in Jupyter as on the book's pages. What
is right is computed in the cell that asks, with the module; so are the wrong numbers that a typical
slip gives.
"""

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Any

import numpy as np
import torch
import traitlets

from transformer_book.widgets import markup
from transformer_book.widgets.base import Widget

Cell = tuple[int, int]
Real = int | float


class SelfCheck(Widget):
    """A question of one of four kinds; `choices`, `number`, `predict` and `predict_cell` make it.

    Attributes:
        kind: "choices", "number", "slider" or "cell".
        question: as `markup.parse` gives it.
        spec: what the kind needs to judge an answer.
        hint: to be opened before an answer is given; may be empty.
        why: what is said to the right answer; may be empty.
        key: names the question where the page remembers that it has been solved.
        given: the reader's answer: the numbers of the choices, the text that was typed, the
            slider's value, or a row and a column.
        checked: whether that answer stands judged.
    """

    description = traitlets.Unicode("A question to test yourself.").tag(sync=True)
    kind = traitlets.Enum(["choices", "number", "slider", "cell"], "choices").tag(sync=True)
    question: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    spec: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)
    hint: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    why: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    key = traitlets.Unicode().tag(sync=True)
    given = traitlets.Any(None).tag(sync=True)
    checked = traitlets.Bool(False).tag(sync=True)

    def __init__(self, kind: str, question: str, *, hint: str = "", why: str = "", **others: Any):
        if not question.strip():
            raise ValueError("a self-check needs a question")
        tree = markup.parse(question)
        super().__init__(
            kind=kind,
            question=tree,
            hint=markup.parse(hint),
            why=markup.parse(why),
            key=sha256(question.encode()).hexdigest()[:8],
            description=f"Self-check: {markup.as_text(tree)}",
            **others,
        )

    def answer(self) -> str:
        """The right answer in words, as HTML."""
        return "".join(_ANSWERS[self.kind](self.spec)) + _paragraph(markup.as_html(self.why))

    def print_twin(self) -> dict[str, Any]:
        """The question with its answer folded, as text: for paper and for pages without scripts."""
        options = "".join(
            f"<li>{markup.as_html(option['text'])}</li>" for option in self.spec.get("options", [])
        )
        hint = _folded("Hint", _paragraph(markup.as_html(self.hint))) if self.hint else ""
        question = _paragraph(f"<strong>Self-check.</strong> {markup.as_html(self.question)}")
        listed = f'<ol type="A">{options}</ol>' if options else ""
        return {"text/html": question + listed + hint + _folded("Answer", self.answer())}


def choices(
    question: str, *, right: Mapping[str, str], wrong: Mapping[str, str], hint: str = ""
) -> SelfCheck:
    """A question with answers to choose from; with more than one right, all have to be found.

    Args:
        question: may hold `code`, *emphasis* and $formulas$, as all texts here.
        right, wrong: the answers, each with its reason: why it is right, or where the mistake is.
        hint: for those who do not know how to begin.

    Raises:
        ValueError: there is nothing to choose from, or a reason is missing.
    """
    if not right or not wrong:
        raise ValueError("choices need at least one right and one wrong answer")
    both = {**right, **wrong}
    if len(both) < len(right) + len(wrong):
        raise ValueError(f"an answer is right and wrong at once: {set(right) & set(wrong)}")
    if missing := [text for text, reason in both.items() if not reason.strip()]:
        raise ValueError(f"each answer needs its reason; {missing[0]!r} has none")
    # In an order that says nothing, and is the same in each build.
    order = sorted(both, key=lambda text: sha256((question + text).encode()).digest())
    options = [_option(markup.parse(text), both[text], text in right) for text in order]
    spec = {"options": options, "several": len(right) > 1}
    return SelfCheck("choices", question, hint=hint, spec=spec, given=[])


def outcome(code: str, call: str, scope: Mapping[str, Any]) -> str:
    """What a call of some code gives, or what stops it, in words: for the answers of `bug`.

    Args:
        code, call: Python; the call is an expression.
        scope: the names that both may use; it stays as it is.
    """
    names = dict(scope)
    torch.manual_seed(0)
    try:
        exec(code, names)
        found = eval(call, names)
    except Exception as error:
        first_line = str(error).partition("\n")[0]  # empty for a bare assertion
        return ", ".join(filter(None, [type(error).__name__, first_line]))
    if isinstance(found, torch.Tensor):
        return ", ".join(f"{round(x, 2) + 0:.2f}" for x in found.flatten().tolist())
    return {True: "Yes", False: "No"}[found] if isinstance(found, bool) else f"{found}"


def bug(question: str, code: str, *, line: str, why: str, others: Sequence[str]) -> SelfCheck:
    """A few lines of code, one of which is wrong: the reader chooses it.

    Args:
        question: what the code is to do, or what one sees when it runs.
        code: the lines in their order; empty ones are left out.
        line: the wrong one, without the blanks before it.
        why: what is wrong, what it does, and what it is called.
        others: for each other line, in their order, why it is sound.

    Raises:
        ValueError: the line does not stand there once, or a reason is missing.
    """
    lines = [text for text in code.splitlines() if text.strip()]
    if [text.strip() for text in lines].count(line) != 1:
        raise ValueError(f"{line!r} has to be one line of the code, and only one")
    if len(others) != len(lines) - 1 or not all(map(str.strip, (why, *others))):
        raise ValueError(f"{len(lines) - 1} other lines need a reason each, and the wrong one, too")
    sound = iter(others)
    options = [
        _option(
            [["code", _indented(text)]],
            why if text.strip() == line else next(sound),
            text.strip() == line,
        )
        for text in lines
    ]
    return SelfCheck("choices", question, spec={"options": options, "several": False}, given=[])


def _option(text: list[markup.Node], reason: str, right: bool) -> dict[str, Any]:
    return {"text": text, "reason": markup.parse(reason), "right": right}


def _indented(line: str) -> str:
    """A line whose first blanks no browser takes away."""
    code = line.lstrip(" ")
    return "\N{NO-BREAK SPACE}" * (len(line) - len(code)) + code


def number(
    question: str,
    value: Real,
    *,
    unit: str = "",
    wrong: Mapping[Real, str] | None = None,
    digits: int | None = None,
    hint: str = "",
    why: str = "",
) -> SelfCheck:
    """A question whose answer is a number that the reader works out and types in any form.

    Args:
        question: as in `choices`.
        value: the right number. A whole one has to be met exactly, another to three digits, or to
            fewer if no more are given and they leave at most 5 % open: 0.73 or 0.7 for 0.7311.
        unit: what is counted; "%" if the number is one of per cent.
        wrong: what typical slips give, each with a sentence that says which slip it is.
        digits: to how many digits a formula, or a longer number, has to be right, if not three.
        hint: as in `choices`.
        why: how the number comes about; said with the right answer.

    Raises:
        ValueError: a number is not finite, or two of them would be taken for each other.
    """
    numbers = [float(value), *map(float, wrong or {})]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"the numbers of a self-check must be finite, not {numbers}")
    spans = [span(one, digits) for one in numbers]
    for i, (one, near) in enumerate(zip(numbers, spans, strict=True)):
        for other, also_near in zip(numbers[i + 1 :], spans[i + 1 :], strict=True):
            if abs(one - other) <= near + also_near:
                raise ValueError(
                    f"{one:g} and {other:g} cannot be told apart in {question!r}: leave the slip "
                    "out, or choose numbers for which it shows"
                )
    slips = [
        [slip, near, markup.parse(said)]
        for slip, near, said in zip(numbers[1:], spans[1:], (wrong or {}).values(), strict=True)
    ]
    spec = {"value": numbers[0], "unit": unit, "span": spans[0], "wrong": slips}
    return SelfCheck("number", question, hint=hint, why=why, spec=spec, given="")


def span(value: float, digits: int | None = None) -> float:
    """How far an answer may be from a number: half of the last digit that has to be right.

    A whole number has to be met exactly unless digits are given; others have three.
    """
    if value == 0 or (digits is None and float(value).is_integer()):
        return 1e-9 * abs(value)
    return 0.5001 * 10.0 ** (math.floor(math.log10(abs(value))) + 1 - (digits or 3))


def predict(
    question: str,
    truth: Real,
    *,
    low: Real,
    high: Real,
    step: Real | None = None,
    unit: str = "",
    why: str = "",
    hint: str = "",
) -> SelfCheck:
    """A number to be guessed on a slider before it is seen; the guess then stands beside it.

    Args:
        question: as in `choices`.
        truth: what the page computes; a guess within a tenth of the slider is close.
        low, high, step: the slider, if the step is not a fiftieth of it.
        unit: what is written behind the number.
        why: what the number teaches, said when it is seen.
        hint: as in `choices`.

    Raises:
        ValueError: the truth is not on the slider.
    """
    if not low <= truth <= high:
        raise ValueError(f"the truth ({truth:g}) must lie between {low:g} and {high:g}")
    step = step or (high - low) / 50
    middle = low + round((high - low) / 2 / step) * step
    spec = {"truth": float(truth), "low": low, "high": high, "step": step, "unit": unit}
    return SelfCheck("slider", question, hint=hint, why=why, spec=spec, given=float(middle))


def predict_cell(
    question: str,
    matrix: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row: int | None = None,
    why: str = "",
    wrong: Mapping[Cell, str] | None = None,
    hint: str = "",
) -> SelfCheck:
    """A matrix that is still covered: the reader points at its largest cell, and then sees it.

    Args:
        question: as in `choices`.
        matrix: (rows, columns), numbers from 0 to 1.
        rows, columns: their labels.
        row: if only in this row the largest is asked for.
        why: what the matrix shows.
        wrong: cells that are a typical guess, each with a sentence.
        hint: as in `choices`.

    Raises:
        ValueError: the labels do not fit, a number is outside its range, or two cells are largest.
    """
    numbers = np.asarray(matrix, dtype=float)
    if numbers.shape != (len(rows), len(columns)):
        raise ValueError(f"{len(rows)} rows and {len(columns)} columns do not fit {numbers.shape}")
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError("the numbers of the matrix must lie between 0 and 1")
    asked = numbers if row is None else numbers[row : row + 1]
    if (np.isclose(asked, asked.max())).sum() > 1:
        raise ValueError("more than one cell is the largest; ask for a row that has one")
    best_row, best_column = divmod(int(asked.argmax()), len(columns))
    best = [best_row + (row or 0), best_column]
    spec = {
        "values": numbers.round(4).tolist(),
        "rows": list(rows),
        "columns": list(columns),
        "best": best,
        "row": row,
        "wrong": [[*cell, markup.parse(said)] for cell, said in (wrong or {}).items()],
    }
    return SelfCheck("cell", question, hint=hint, why=why, spec=spec, given=None)


def written(value: float, span: float = math.inf) -> str:
    """A number as an answer shows it, so far at most from what it is."""
    if abs(value) < 1e15 and (abs(value) >= 1000 or float(value).is_integer()):
        return f"{value:,.0f}".replace("-", "−")
    shown = (f"{value:.{digits}g}" for digits in range(3, 18))
    return next(text for text in shown if abs(float(text) - value) <= span).replace("-", "−")


def _paragraph(content: str) -> str:
    return f"<p>{content}</p>" if content else ""


def _folded(name: str, content: str) -> str:
    return f"<details><summary>{name}</summary>{content}</details>"


def _of_choices(spec: Mapping[str, Any]) -> str:
    lines = (
        f"<li>{'Yes' if option['right'] else 'No'}: {markup.as_html(option['reason'])}</li>"
        for option in spec["options"]
    )
    return f'<ol type="A">{"".join(lines)}</ol>'


def _of_number(spec: Mapping[str, Any]) -> str:
    unit = f" {escape(spec['unit'])}" if spec["unit"] else ""
    return _paragraph(f"{written(spec['value'], spec.get('span', math.inf))}{unit}")


def _of_slider(spec: Mapping[str, Any]) -> str:
    return _of_number({**spec, "value": spec["truth"]})


def _of_cell(spec: Mapping[str, Any]) -> str:
    row, column = spec["best"]
    share = f"{spec['values'][row][column]:.2f}"
    return _paragraph(f"{escape(spec['rows'][row])}, {escape(spec['columns'][column])}: {share}")


_ANSWERS = {
    "choices": _of_choices,
    "number": _of_number,
    "slider": _of_slider,
    "cell": _of_cell,
}
