"""Finished parts of a long measurement, so that one that was interrupted goes on from there."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from transformer.support.files import write_atomically

from transformer_book.results import compact_json


class Parts:
    """Finished parts of the benchmark, each written at once, so that a long run can go on."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self.path, self.settings = path, json.loads(json.dumps(settings))
        self.done: dict[str, Any] = {}
        if path is not None and path.exists():
            before = json.loads(path.read_text())
            # Parts of another recipe are of no use.
            self.done = before["parts"] if before["settings"] == self.settings else {}

    def __call__(self, name: str, compute: Callable[[], Any]) -> Any:
        """What was computed under this name, now or before."""
        if name not in self.done:
            self.done[name] = json.loads(json.dumps(compute()))
            if self.path is not None:
                self.path.parent.mkdir(exist_ok=True)
                text = compact_json({"settings": self.settings, "parts": self.done})
                write_atomically(self.path, text.encode())
                print(f"{name} is done", flush=True)
        return self.done[name]
