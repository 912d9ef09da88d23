"""Recorded results: what took longer than a page may, with where it comes from."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from transformer.support.files import LARGEST_SCORES, read_json, read_limited, write_atomically

LINE = 100  # letters
LARGEST_METRICS = 2**23  # bytes, of a run's metrics.jsonl; a report in it has about 150


def book_folders(part: str) -> list[Path]:
    """Where a part of the book is, "results" or "models".

    Beside the package in a clone, inside the package where it is installed (pyproject.toml puts it
    there).
    """
    package = Path(__file__).parent
    return [root / "book" / part for root in (package.parent, package)]


def recorded(name: str) -> dict[str, Any]:
    """A recorded result of the book, such as "multi30k_cpu".

    Raises:
        ValueError: there is none of this name.
    """
    paths = [path for folder in book_folders("results") for path in sorted(folder.glob("*.json"))]
    for path in paths:
        if path.stem == name:
            return json.loads(path.read_text(encoding="utf-8"))
    names = ", ".join(path.stem for path in paths) or "none"
    raise ValueError(f"there is no recorded result {name!r}; there are: {names}")


def result_of_run(folder: Path | str) -> dict[str, Any]:
    """A finished run folder as one result: its settings and provenance, curve and scores.

    Raises:
        ValueError: the run has not ended, or was not scored, or a file of it is damaged.
        FileError: a file of it is larger than it can be.
    """
    folder = Path(folder)
    wanted = ("config.json", "metrics.jsonl", "scores.json", "model.safetensors")
    for name in wanted:
        if not (folder / name).exists():
            raise ValueError(f"{folder} is no finished and scored run: it holds no {name}")
    config = read_json(folder / "config.json")
    lines = read_limited(folder / "metrics.jsonl", LARGEST_METRICS).decode().splitlines()
    scores = read_json(folder / "scores.json", LARGEST_SCORES)
    try:
        metrics = [json.loads(line) for line in lines]
    except RecursionError as error:
        raise ValueError(f"{folder / 'metrics.jsonl'} is nested too deeply") from error
    return {**config, "metrics": metrics, "scores": scores}


def write_result(path: Path, result: Mapping[str, Any]) -> None:
    """Record a result, with as much on a line as fits: a reader can page through it.

    Raises:
        FileError: the file could not be written.
    """
    write_atomically(path, (compact_json(result) + "\n").encode())


def compact_json(value: Any, indent: str = "") -> str:
    """JSON in lines of at most 100 letters, where no single text or number is longer."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) < LINE or not isinstance(value, dict | list):
        return line
    inner = indent + " "
    if isinstance(value, list):
        parts = [compact_json(item, inner) for item in value]
        return f"[\n{_lines(parts, inner)}\n{indent}]"
    parts = [
        f"{json.dumps(str(key), ensure_ascii=False)}: {compact_json(item, inner)}"
        for key, item in value.items()
    ]
    return f"{{\n{_lines(parts, inner)}\n{indent}}}"


def _lines(parts: Iterable[str], indent: str) -> str:
    """The parts after one another, several on a line where they are short."""
    lines: list[str] = []
    for part in parts:
        whole = "\n" not in part
        if lines and whole and len(lines[-1]) + len(part) + 3 <= LINE and "\n" not in lines[-1]:
            lines[-1] += f", {part}"
        else:
            lines.append(indent + part)
    return ",\n".join(lines)
