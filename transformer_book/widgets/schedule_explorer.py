"""The learning rate over the steps (section 5.3), for settings that the reader moves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from transformer.training.schedule import noam_rate

from transformer_book.widgets.base import Number, Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = Sequence[int | float]


class ScheduleExplorer(Widget):
    """Curves of equation 3: one that moves, and others kept beside it.

    Args:
        d_model, warmup, factor: of the curve that moves.
        kept: the other curves, each (d_model, warmup, factor).
        steps: how far the axis reaches.
        step: where the cursor stands, counted from 1.

    Raises:
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "The learning rate over the steps of training: it rises in a straight line for the "
        "warm-up and then falls with the inverse square root of the step."
    ).tag(sync=True)
    d_model = traitlets.Int(512, min=1).tag(sync=True)
    warmup = traitlets.Int(4000, min=1).tag(sync=True)
    factor = Number(1.0, min=0.0).tag(sync=True)
    kept: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    steps = traitlets.Int(20_000, min=2).tag(sync=True)
    step = traitlets.Int(4000, min=1).tag(sync=True)

    def __init__(
        self, kept: Sequence[Curve] = ((512, 8000, 1.0), (256, 4000, 1.0)), **settings: Any
    ) -> None:
        super().__init__(kept=list(kept), **settings)

    @traitlets.validate("kept")
    def _each_is_a_curve(self, proposal: dict[str, Any]) -> list[list[int | float]]:
        curves: list[list[int | float]] = []
        for curve in proposal["value"]:
            try:
                d_model, warmup, factor = curve
                noam_rate(1, d_model, warmup, float(factor))
            except (TypeError, ValueError) as error:
                raise traitlets.TraitError(
                    f"kept has {curve!r}, which is no (d_model, warmup, factor): {error}"
                ) from error
            curves.append([d_model, warmup, float(factor)])
        return curves

    def curves(self) -> list[tuple[int, int, float]]:
        """The settings of all curves, the moving one first."""
        return [(self.d_model, self.warmup, self.factor), *map(tuple, self.kept)]

    def rates(self) -> list[float]:
        """The learning rate of each curve at the cursor."""
        return [noam_rate(self.step, *curve) for curve in self.curves()]

    def twin(self) -> "Figure":
        """The curves on paper."""
        from transformer_book.figures.style import figure_of
        from transformer_book.figures.training import learning_rates

        steps = range(1, self.steps + 1, max(1, self.steps // 1000))
        curves = {
            f"width {d_model}, warm-up {warmup:,}, factor {factor:g}": [
                noam_rate(step, d_model, warmup, factor) for step in steps
            ]
            for d_model, warmup, factor in self.curves()
        }
        return figure_of(learning_rates(list(steps), curves))
