"""How many seeds? A hundred simulated experiments, and what luck makes of a true effect."""

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import traitlets

from transformer_book.student import quantile_975
from transformer_book.widgets.base import Foretold, Number, Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENTS = 100
MOST_SEEDS = 50
LARGEST = 0.8  # effect, in nats: the picture ends a little above it
RULE = 2.8  # 1.96 for the interval, and 0.84 so that four experiments of five lie beyond it
# How finely the deviations that n differences may show are gone through, and how far.
STEPS, FARTHEST = 1000, 6.0


class Luck(NamedTuple):
    """What comes of experiments of one kind.

    Attributes:
        significant: the share whose interval excludes 0; the power, where there is an effect.
        wrong: the share that is significant and on the other side of 0 than the effect.
        exaggeration: how many times as large as the effect the significant ones are on average;
            NaN where none is significant or there is no effect.
    """

    significant: float
    wrong: float
    exaggeration: float


def expected_luck(effect: float, spread: float, n: int) -> Luck:
    """What comes of infinitely many experiments: Student's t around an effect that is not 0.

    A mean of n differences is normal around the effect, and independent of the deviation that they
    show. For each such deviation the chances are the normal distribution's; they are averaged over
    the deviations, as likely as the chi distribution of n - 1 degrees of freedom has them.

    Args:
        effect: the true mean of the differences, at least 0.
        spread: their true standard deviation.
        n: how many there are, at least 2.
    """
    normal = NormalDist()
    shift = effect / spread * math.sqrt(n)  # in true standard errors, as all that follows
    total = right = wrong = size = 0.0
    for i in range(STEPS):
        ratio = (i + 0.5) * FARTHEST / STEPS  # of the deviation that is seen to the true one
        likely = ratio ** (n - 2) * math.exp((n - 1) * (1 - ratio * ratio) / 2)
        edge = quantile_975(n - 1) * ratio
        above, below = normal.cdf(shift - edge), normal.cdf(-shift - edge)
        total += likely
        right += likely * above
        wrong += likely * below
        densities = normal.pdf(edge - shift) + normal.pdf(edge + shift)
        size += likely * (shift * (above - below) + densities)
    exaggeration = size / (right + wrong) / shift if shift else math.nan
    return Luck((right + wrong) / total, wrong / total, exaggeration)


def normal_numbers(seed: int) -> np.ndarray:
    """The numbers of a hundred experiments, (experiment, seed), as the page draws them.

    Splitmix32 gives uniform numbers, Box and Muller make normal ones of two. With one more seed
    each experiment keeps those that it had.
    """
    count = 2 * EXPERIMENTS * MOST_SEEDS
    state = np.arange(seed * count + 1, (seed + 1) * count + 1, dtype=np.uint64)
    z = (state * np.uint64(0x9E3779B9)).astype(np.uint32)
    z = (z ^ (z >> np.uint32(16))) * np.uint32(0x21F0AAAD)
    z = (z ^ (z >> np.uint32(15))) * np.uint32(0x735A2D97)
    one, other = ((z ^ (z >> np.uint32(15))) / 2.0**32).reshape(-1, 2).T
    normal = np.sqrt(-2 * np.log1p(-one)) * np.cos(2 * np.pi * other)
    return normal.reshape(EXPERIMENTS, MOST_SEEDS)


class SeedsExplorer(Widget, Foretold):
    """A hundred experiments with n seeds each: how many see the effect, and how large they see it.

    The page simulates them, without a kernel in Jupyter too. The same settings give the same
    numbers, there and here.

    Args:
        effect: the true difference of two rows, in nats.
        spread: the true standard deviation of the paired differences, in nats.
        n: seeds in each experiment.
        seed: of the hundred experiments.
        question: to be answered before the experiments are shown; with its answers, of which
            `right` is the one that comes out, and the sentence `why` that is shown then.

    Raises:
        traitlets.TraitError: a setting is outside its range.
        ValueError: a question has fewer than two answers, or no right one.
    """

    description = traitlets.Unicode(
        "A hundred simulated experiments as dots with their 95 % intervals, sorted by their "
        "results, beside the line of the true effect: those that are significant, those that are "
        "so in the wrong direction, and by how much the significant ones exaggerate."
    ).tag(sync=True)
    constants = handed_over(
        student=[quantile_975(n) for n in range(1, MOST_SEEDS)], experiments=EXPERIMENTS,
        most_seeds=MOST_SEEDS, largest=LARGEST, rule=RULE, steps=STEPS, farthest=FARTHEST,
    )  # fmt: skip
    effect = Number(0.1, min=0.0, max=LARGEST).tag(sync=True)
    spread = Number(0.3, min=0.01, max=1.0).tag(sync=True)
    n = traitlets.Int(5, min=2, max=MOST_SEEDS).tag(sync=True)
    seed = traitlets.Int(1, min=1, max=99).tag(sync=True)
    question = traitlets.Unicode().tag(sync=True)
    asked = traitlets.Dict().tag(sync=True)  # the settings that the question is about

    def __init__(
        self,
        *,
        question: str = "",
        answers: Sequence[str] = (),
        right: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(
            question=question, **self.judged(question, answers, right), **settings,
        )  # fmt: skip
        self.asked = {"effect": self.effect, "spread": self.spread, "n": self.n}

    def estimates(self) -> tuple[list[float], list[float]]:
        """What each experiment finds, the lowest first, and the half-width of its interval."""
        numbers = self.effect + self.spread * normal_numbers(self.seed)[:, : self.n]
        means = numbers.mean(axis=1)
        half_widths = quantile_975(self.n - 1) * numbers.std(axis=1, ddof=1) / math.sqrt(self.n)
        order = means.argsort()
        return means[order].tolist(), half_widths[order].tolist()

    def counted(self) -> Luck:
        """What has come of these hundred."""
        found = [x for x, half in zip(*self.estimates(), strict=True) if abs(x) > half]
        sizes = [abs(x) / self.effect for x in found if self.effect]
        wrong = sum(x < 0 < self.effect for x in found) / EXPERIMENTS
        return Luck(len(found) / EXPERIMENTS, wrong, fmean(sizes) if sizes else math.nan)

    def expected(self) -> Luck:
        """What comes of infinitely many."""
        return expected_luck(self.effect, self.spread, self.n)

    def found_by_rule(self) -> float:
        """The effect that four experiments of five find, by the rule for many seeds."""
        return RULE * self.spread / math.sqrt(self.n)

    def twin(self) -> "Figure":
        """The hundred on paper."""
        from transformer_book.figures.seeds import simulated_experiments
        from transformer_book.figures.style import figure_of

        counted = self.counted()
        found = round(EXPERIMENTS * counted.significant)
        title = f"{self.n} seeds: {found} of {EXPERIMENTS} significant"
        if counted.exaggeration > 0:
            title += f",\non average {counted.exaggeration:.1f} times the true effect"
        ax = simulated_experiments(
            *self.estimates(), effect=self.effect, rule=self.found_by_rule(),
            ylabel="difference, nats", title=title,
        )  # fmt: skip
        return figure_of(ax)
