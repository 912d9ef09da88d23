"""`python -m benchmarks`: measure, print, and record as JSON."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    before_attention,
    copy_task,
    decoding_cache,
    decoding_peers,
    gpu,
    layer_types,
    live_model,
    parsing,
    toy_german,
    training_peers,
    widget_frames,
)
from benchmarks.record import LeftOutError, record
from tools.browser import NoBrowserError
from transformer.files import FileError
from transformer.results import write_result

BENCHMARKS = {
    "before_attention": before_attention,
    "copy_task": copy_task,
    "decoding_cache": decoding_cache,
    "decoding_peers": decoding_peers,
    "gpu": gpu,
    "layer_types": layer_types,
    "live_model": live_model,
    "parsing": parsing,
    "toy_german": toy_german,
    "training_peers": training_peers,
    "widget_frames": widget_frames,
}


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ", ".join(BENCHMARKS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{known}; all of them if none")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE.json",
        help="record the results here; what it holds of other benchmarks stays",
    )
    parser.add_argument("--quick", action="store_true", help="only see that they run")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from {known}")

    status = 0
    try:
        before = earlier_results(options.out)
    except ValueError as error:  # said before anything is measured, not after
        print(error, file=sys.stderr)
        return 1
    measured: dict[str, dict[str, Any]] = {}
    for name in options.names or BENCHMARKS:
        try:
            result = BENCHMARKS[name].run(quick=options.quick)
        except (LeftOutError, NoBrowserError) as error:  # what the others have measured is kept
            print(f"{name} is left out. {error}\n", file=sys.stderr)
            status = 1
            continue
        origin = record(name, result.pop("seed"))
        # What a benchmark has set or used itself goes before what is usual here.
        origin["threads"] = result.pop("threads", origin["threads"])
        origin["hardware"] = result.pop("hardware", origin["hardware"])
        origin["versions"] |= result.pop("versions", {})
        measured[name] = {"record": origin, **result}
        print(BENCHMARKS[name].table(result))
        print(
            f"  on {origin['hardware']}, threads: {origin['threads']}, torch "
            f"{origin['versions']['torch']}, commit {origin['commit']}\n",
            flush=True,
        )
    if options.out and measured:
        try:
            write_result(options.out, {**before, **measured})
        except FileError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"Recorded in {options.out}")
    return status


def earlier_results(path: Path | None) -> dict[str, Any]:
    """What a file holds by now; nothing where there is none.

    Raises:
        ValueError: it is there and holds something else.
    """
    if path is None or not path.exists():
        return {}
    try:
        results = json.loads(path.read_text())
    except (OSError, ValueError):
        results = None
    if not isinstance(results, dict) or not results.keys() <= BENCHMARKS.keys():
        raise ValueError(f"{path} holds something else than results of benchmarks; name another")
    return results


if __name__ == "__main__":
    sys.exit(main())
