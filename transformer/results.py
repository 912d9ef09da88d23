"""Recorded results: what took longer than a page may, with where it comes from."""

import json
from pathlib import Path
from typing import Any

# Beside the book in a clone, inside the package where it is installed.
FOLDERS = (
    Path(__file__).parents[1] / "book" / "results",
    Path(__file__).parent / "recorded",
)


def recorded(name: str) -> dict[str, Any]:
    """A recorded result of the book, such as "multi30k_cpu".

    Raises:
        ValueError: there is none of this name.
    """
    paths = [path for folder in FOLDERS for path in sorted(folder.glob("*.json"))]
    for path in paths:
        if path.stem == name:
            return json.loads(path.read_text(encoding="utf-8"))
    there = ", ".join(path.stem for path in paths) or "none"
    raise ValueError(f"there is no recorded result {name!r}; there are: {there}")


def result_of_run(folder: Path | str) -> dict[str, Any]:
    """A finished run folder as one result: its settings and provenance, curve and scores.

    Raises:
        ValueError: the run has not ended, or was not scored.
    """
    folder = Path(folder)
    wanted = ("config.json", "metrics.jsonl", "scores.json", "model.safetensors")
    for name in wanted:
        if not (folder / name).exists():
            raise ValueError(f"{folder} is no finished and scored run: it holds no {name}")
    facts = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    return {**facts, "metrics": [json.loads(line) for line in lines], "scores": scores}
