"""How large the book's experiments are: for a rehearsal, for a CPU, for a GPU."""

import os
from typing import Literal, TypeVar

from transformer.support.devices import pick_device

Scale = Literal["smoke", "cpu", "gpu"]
Size = TypeVar("Size")


def scale() -> Scale:
    """How large the book's experiments are: "smoke" (seconds, to see that they run), "cpu", "gpu".

    Chosen by the device found; the environment variable TRANSFORMER_SCALE overrides it.
    """
    chosen = os.environ.get("TRANSFORMER_SCALE") or ""
    match chosen:
        case "smoke" | "cpu" | "gpu":
            return chosen
        case "":
            return "cpu" if pick_device().type == "cpu" else "gpu"
    raise ValueError(f"TRANSFORMER_SCALE is {chosen!r}; use smoke, cpu or gpu")


def scaled(*, smoke: Size, cpu: Size, gpu: Size | None = None) -> Size:
    """The size of an experiment at the `scale` here, such as its number of steps.

    Without `gpu` a GPU's is the CPU's, for models that are too small to gain from one.
    """
    chosen = {"smoke": smoke, "cpu": cpu, "gpu": cpu if gpu is None else gpu}
    return chosen[scale()]
