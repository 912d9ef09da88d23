"""Loss and scores of a run as one small SVG, for a notebook that is still training.

Written by hand, because it is drawn up to four times a second while the model trains: the same
picture by matplotlib takes a thousand times as long, is six times as large, knows no
`currentColor`, and brings a style sheet that reaches out of the SVG into the page.
"""

import html
import math
from collections.abc import Sequence
from typing import Any

Points = list[tuple[float, float]]

WIDTH, HEIGHT = 460, 210
LEFT, RIGHT, TOP, BOTTOM = 44, 420, 24, 172
MOST_POINTS = 150
# Blue and orange that colour-blind readers tell apart, and that show on white and on black.
LOSS, BLEU = "#3d85c6", "#d5762a"


def curves_svg(metrics: Sequence[dict[str, Any]], total: int) -> str:
    """The loss, and where there are evaluations their loss and BLEU, against the step.

    Text and axes have the colour of the text around them, so that they can be read in light and
    dark. Empty as long as there are fewer than two points.

    Args:
        metrics: the entries that training has reported.
        total: the steps of the whole run; the axis ends there.
    """
    loss, valid, bleu = (_points(metrics, key) for key in ("loss", "valid_loss", "bleu"))
    if len(loss) < 2:
        return ""
    heights = [y for _, y in loss + valid]
    low, high = _round_limits(min(heights), max(heights))
    body = [_x_axis(total), _y_axis(low, high, "loss", LOSS, left=True)]
    body.append(_line(loss, total, (low, high), LOSS))
    key = [("training", LOSS, "")]
    if valid:
        body.append(_line(valid, total, (low, high), LOSS, "5 3"))
        key.append(("validation", LOSS, "5 3"))
    if bleu:
        top = _round_limits(0.0, max(1.0, *(y for _, y in bleu)))[1]
        body.append(_y_axis(0.0, top, "BLEU", BLEU, left=False))
        body.append(_line(bleu, total, (0.0, top), BLEU, dots=True))
        key.append(("BLEU", BLEU, ""))
    words = html.escape(_in_words(loss, valid, bleu), quote=True)
    return (
        f'<svg role="img" aria-label="{words}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'style="display:block;width:100%;max-width:560px;height:auto" font-size="12" '
        f'font-family="sans-serif" fill="currentColor">{"".join(body)}{_key(key)}</svg>'
    )


def _in_words(loss: Points, valid: Points, bleu: Points) -> str:
    (first, start), (last, end) = loss[0], loss[-1]
    text = (
        f"Loss against the step: {start:.3g} at step {first:,.0f}, {end:.3g} at step {last:,.0f}."
    )
    if valid:
        text += f" Validation loss: {valid[-1][1]:.3g} at step {valid[-1][0]:,.0f}."
    if bleu:
        text += f" BLEU: {bleu[-1][1]:.3g} at step {bleu[-1][0]:,.0f}."
    return text


def _points(metrics: Sequence[dict[str, Any]], key: str) -> Points:
    points = [(float(entry["step"]), float(entry[key])) for entry in metrics if key in entry]
    points = [point for point in points if math.isfinite(point[1])]
    stride = max(1, math.ceil(len(points) / MOST_POINTS))
    return points[::-stride][::-1]  # the last one always


def _round_limits(low: float, high: float) -> tuple[float, float]:
    """Round numbers around the two, on which three to six ticks stand."""
    step = _tick_step(low, high)
    top = math.ceil(high / step) * step
    return math.floor(low / step) * step, top if top > low else top + step


def _tick_step(low: float, high: float) -> float:
    rough = max(high - low, abs(high) * 1e-3, 1e-9) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= rough)


def _x(step: float, total: int) -> float:
    return round(LEFT + (RIGHT - LEFT) * step / total, 1)


def _y(value: float, limits: tuple[float, float]) -> float:
    low, high = limits
    return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low), 1)


def _line(
    points: Points,
    total: int,
    limits: tuple[float, float],
    colour: str,
    dashes: str = "",
    dots: bool = False,
) -> str:
    corners = [(_x(step, total), _y(value, limits)) for step, value in points]
    drawn = " ".join(f"{x},{y}" for x, y in corners)
    line = (
        f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2" '
        f'stroke-linejoin="round" stroke-dasharray="{dashes}"/>'
    )
    marks = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in corners)
    return line + marks if dots else line


def _x_axis(total: int) -> str:
    parts = [f'<path d="M{LEFT} {BOTTOM}H{RIGHT}" stroke="currentColor" opacity=".6"/>']
    step = max(1, round(_tick_step(0.0, float(total))))
    for tick in range(0, total + 1, step):
        x = _x(float(tick), total)
        parts.append(f'<text x="{x}" y="{BOTTOM + 16}" text-anchor="middle">{tick:,}</text>')
    middle = (LEFT + RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">step</text>')
    return "".join(parts)


def _y_axis(low: float, high: float, name: str, colour: str, *, left: bool) -> str:
    step = _tick_step(low, high)
    x, anchor = (LEFT - 6, "end") if left else (RIGHT + 6, "start")
    parts = [f'<text x="{x}" y="12" text-anchor="{anchor}">{name}</text>']
    for i in range(round((high - low) / step) + 1):
        value = low + i * step
        y = _y(value, (low, high))
        if left:
            parts.append(f'<path d="M{LEFT} {y}H{RIGHT}" stroke="currentColor" opacity=".15"/>')
        parts.append(f'<text x="{x}" y="{y + 4}" text-anchor="{anchor}">{value:.4g}</text>')
    return "".join(parts)


def _key(entries: list[tuple[str, str, str]]) -> str:
    parts, x = [], LEFT + 14
    for name, colour, dashes in entries:
        parts.append(
            f'<path d="M{x} 8h20" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
            f'<text x="{x + 25}" y="12">{name}</text>'
        )
        x += 45 + 7 * len(name)
    return "".join(parts)
