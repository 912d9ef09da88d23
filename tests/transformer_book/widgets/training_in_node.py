"""The engine that trains in the page, run by Node: jobs in, what it computes out."""

from collections.abc import Mapping
from typing import Any

from tests.helpers.node import in_node

from transformer_book.widgets.base import FRONT_ENDS

TRAINING = FRONT_ENDS / "training"
# What every script of the tests begins with.
IMPORTS = "\n".join(
    f'import {{ {names} }} from "{(TRAINING / name).as_uri()}";'
    for name, names in {
        "graph.js": "Graph",
        "network.js": "Parameters, transformer, PAD, BOS, EOS",
        "product.js": "plainEngine, simdEngine",
        "random.js": "random, normal",
        "tasks.js": "taskOf",
        "trainer.js": "Trainer, rateAt",
    }.items()
)
COMMON = """
import fs from "node:fs";
const job = JSON.parse(fs.readFileSync(0, "utf8"));
const atOnce = (work) => {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
};
const engineOf = async (kind, size = 4e6) =>
  kind === "simd" ? simdEngine(size)
    : plainEngine(size, kind === "double" ? Float64Array : Float32Array);
const list = (numbers) => Array.from(numbers);
"""

ALL_PARTS: dict[str, Any] = {
    **{"vocab": 14, "d_model": 32, "d_ff": 64, "n_heads": 2, "n_layers": 1, "d_k": 16},
    **{"max_len": 9, "norm": "pre", "positions": "sinusoidal", "causal": True, "cross": True},
    **{"scaled": True, "shortcuts": True, "feed_forward": True},
}
RECIPE = {"batch": 8, "smoothing": 0.1, "warmup": 50, "factor": 0.2, "rising": True}
OWN = {"order": [2, 1, 4, 3, 6, 5, 8, 7], "becomes": [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]}


def computed(script: str, job: Mapping[str, Any] | None = None) -> Any:
    """What a script, which may use all of the engine, writes about `job` with `answer(...)`."""
    answer = "const answer = (found) => console.log(JSON.stringify(found));"
    return in_node("\n".join((IMPORTS, COMMON, answer, script)), job or {})
