"""One head of scaled dot-product attention (section 3.2.1), a step at a time."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import traitlets
from numpy.typing import ArrayLike

from transformer.attention import scaled_dot_product_attention
from transformer.masks import causal_mask

from transformer_book.widgets.base import Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_TOKENS = 12  # more tables of numbers than that nobody reads
WIDEST = 128  # the largest d_k of the numbers that come with the widget
# Without scaling, the largest weight grows from each d_k to its double on average over the queries;
# that of a single query may fall back, as it does for "cat" at 64.
SEED = 27
MATRICES = ("query", "key", "value")


class AttentionStepper(Widget):
    """Q, K and V, the scores, scaling, mask and softmax, and the output, each number visible.

    Without matrices of their own, readers get random ones: queries and keys from a standard
    normal, 128 wide, of which the first d_k columns are used.

    Args:
        query, key: (tokens, width), kept to three decimals; the first d_k columns are used.
        value: (tokens, d_v), kept to three decimals.
        tokens: the labels of the rows.
        settings: `step` (1 to 6), `d_k`, `scaling`, `causal`, `row` (the query to follow).

    Raises:
        ValueError: only some of the three matrices are given, or one has no two axes.
        traitlets.TraitError: a matrix does not fit the others or the tokens, or holds something
            that is no finite number; a setting is outside its range. To change several that
            depend on each other, do so within `hold_trait_notifications()`.
    """

    description = traitlets.Unicode(
        "Scaled dot-product attention in six steps: queries, keys and values; the scores; their "
        "division by the square root of d_k; the mask; the softmax; the output. Tables hold the "
        "numbers of each step. Without the division, a large d_k drives the weights to 0 and 1 "
        "and the gradient of the softmax to 0."
    ).tag(sync=True)
    query: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    key: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    value: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    step = traitlets.Int(1, min=1, max=6).tag(sync=True)
    d_k = traitlets.Int(4, min=1).tag(sync=True)
    scaling = traitlets.Bool(True).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)
    row = traitlets.Int(1, min=0).tag(sync=True)

    def __init__(
        self,
        query: ArrayLike | None = None,
        key: ArrayLike | None = None,
        value: ArrayLike | None = None,
        tokens: Sequence[str] = ("the", "cat", "sat", "down"),
        **settings: Any,
    ) -> None:
        given = [matrix for matrix in (query, key, value) if matrix is not None]
        if len(given) not in (0, 3):
            raise ValueError(
                f"{len(given)} of query, key and value are given; give all three, or none of them"
            )
        if given:
            matrices = [_rows(name, m) for name, m in zip(MATRICES, given, strict=True)]
            settings.setdefault("d_k", len(matrices[0][0]))
        else:
            matrices = _random(max(len(tokens), 1))
        settings.setdefault("row", 1 if len(tokens) > 1 else 0)
        super().__init__(
            **dict(zip(MATRICES, matrices, strict=True)), tokens=list(tokens), **settings
        )

    @traitlets.validate(*MATRICES, "tokens", "d_k", "row")
    def _fits(self, proposal: dict[str, Any]) -> Any:
        changed, new = proposal["trait"].name, proposal["value"]
        if changed in MATRICES:
            try:
                new = _rows(changed, new)
            except ValueError as error:
                raise traitlets.TraitError(str(error)) from error
        state = {name: getattr(self, name) for name in (*MATRICES, "tokens", "d_k", "row")}
        wrong = _misfit(**{**state, changed: new})
        if wrong:
            raise traitlets.TraitError(wrong)
        return new

    def steps(self) -> dict[str, np.ndarray]:
        """What each step computes.

        Returns:
            `scores`, `scaled`, `masked` and `weights`, each (query, key); `output` (query, d_v);
            `gradient` (query,): the largest absolute entry of the Jacobian diag(p) - p p^T of the
            softmax, where p are the weights of the query.
        """
        query = torch.tensor(self.query, dtype=torch.float64)[:, : self.d_k]
        key = torch.tensor(self.key, dtype=torch.float64)[:, : self.d_k]
        value = torch.tensor(self.value, dtype=torch.float64)
        mask = causal_mask(len(self.tokens))[0, 0] if self.causal else None
        root = math.sqrt(self.d_k)
        scores = query @ key.T
        scaled = scores / root if self.scaling else scores
        masked = scaled if mask is None else scaled.masked_fill(~mask, -math.inf)
        # The module always divides by the root; who does not want that multiplies by it before.
        output, weights = scaled_dot_product_attention(
            query if self.scaling else query * root, key, value, mask
        )
        jacobian = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
        steps = {
            "scores": scores,
            "scaled": scaled,
            "masked": masked,
            "weights": weights,
            "output": output,
            "gradient": jacobian.abs().amax(dim=(1, 2)),
        }
        return {name: tensor.numpy() for name, tensor in steps.items()}

    def twin(self) -> "Figure":
        """The steps from the scores on as matrices on paper."""
        from transformer_book.figures.attention import attention_stages

        steps = self.steps()
        stages = {
            "scores": steps["scores"],
            "scaled" if self.scaling else "not scaled": steps["scaled"],
            "masked" if self.causal else "no mask": steps["masked"],
        }
        return attention_stages(stages, steps["weights"], steps["output"], list(self.tokens))


def _random(n: int) -> list[list[list[float]]]:
    """Queries, keys and values; with two decimals, so that what is shown is all there is."""
    rng = np.random.default_rng(SEED)
    shapes = ((n, WIDEST), (n, WIDEST), (n, 4))
    return [(rng.standard_normal(shape).round(2) + 0.0).tolist() for shape in shapes]


def _rows(name: str, matrix: ArrayLike) -> list[list[float]]:
    try:
        array = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is no matrix of numbers; give (tokens, width)") from error
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} has shape {array.shape}; give one matrix: (tokens, width)")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinity; give finite numbers")
    rows: list[list[float]] = (array.round(3) + 0.0).tolist()
    return rows


def _misfit(
    query: list[list[float]],
    key: list[list[float]],
    value: list[list[float]],
    tokens: list[str],
    d_k: int,
    row: int,
) -> str | None:
    """What does not fit together, in a sentence."""
    if not 1 <= len(tokens) <= MOST_TOKENS:
        return f"there are {len(tokens)} tokens; the tables take 1 to {MOST_TOKENS}"
    for name, rows in zip(MATRICES, (query, key, value), strict=True):
        if len(rows) != len(tokens):
            return f"{name} has {len(rows)} rows for {len(tokens)} tokens; give a row for each"
    width = len(query[0])
    if len(key[0]) != width:
        return (
            f"queries of width {width} cannot be compared with keys of width {len(key[0])}; "
            "give both the same width"
        )
    if d_k > width:
        return f"d_k ({d_k}) must be at most {width}, the width of query and key"
    if row >= len(tokens):
        return f"row ({row}) must be below {len(tokens)}, the number of tokens"
    return None
