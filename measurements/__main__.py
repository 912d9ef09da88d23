"""Measures, prints, and with --out records: everything that writes book/results and book/models.

A measurement is a module with `run`, which returns what it found, and `table`, which writes that
for the eye; what makes a folder, or records what is there, has `make` in their place. The options
of a measurement are the arguments of its function, as `OPTIONS` describes them.
"""

import argparse
import ast
import inspect
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from measurements.needs import LeftOutError
from transformer.command_line.running import SENTENCES
from transformer.support.devices import pick_device
from transformer.support.provenance import provenance, require_commit, without_folders

from transformer_book.cores import cores
from transformer_book.results import write_result

PROG = "python -m measurements"
# Each needs nothing but this computer, and stands under its name in a file that may hold others.
SIDE_BY_SIDE = [
    *("copy_task", "decoding_cache", "decoding_peers", "gpu", "layer_types", "live_model"),
    *("parsing", "playground_speed", "toy_german", "training_peers", "training_playground"),
    "widget_frames",
]
# Each has a file of its own.
ALONE = [
    *("everyday_model", "fine_tuning", "own_translator", "reading_back", "samples", "scorers"),
    *("talks", "verdicts"),
]
MAKING = ["longer_training", "finished_run", "publish_model", "first_gpu"]
GROUPS = {
    "Side by side in one file; several names, or `all` of them:": SIDE_BY_SIDE,
    "With data, each in a file of its own:": ALONE,
    "From a run, or of many commands:": MAKING,
}
KNOWN = [*SIDE_BY_SIDE, *ALONE, *MAKING]

OPTIONS: dict[str, dict[str, Any]] = {
    "run": {"type": Path, "metavar": "FOLDER", "help": "a finished run"},
    "model": {"type": Path, "metavar": "FOLDER", "help": "a run, or book/models/NAME"},
    "data": {
        "type": Path,
        "metavar": "FOLDER",
        "help": "its data; downloaded if it may be left out",
    },
    "split": {"help": "the sentences to translate"},
    "tests": {"type": Path, "metavar": "FOLDER", "help": "tables of pairs from elsewhere"},
    "verdicts": {"type": Path, "metavar": "FILE", "help": "what has been judged (default: ours)"},
    "blind": {"type": Path, "metavar": "FILE", "help": "what was judged blind (default: ours)"},
    "steps": {"type": int, "metavar": "N", "help": "of training, for each model"},
    "sentences": {"type": int, "metavar": "N", "help": "only the first so many"},
    "processes": {"type": int, "metavar": "N", "help": "that train together, a core each"},
    "factor": {"type": float, "metavar": "X", "help": "of the learning rate"},
    "cooldown": {"type": float, "metavar": "X", "help": "share of the steps, at the end"},
    "seed": {"type": int, "metavar": "N", "help": "of batches and dropout"},
    "each": {"type": int, "metavar": "N", "help": "samples for each rule"},
    "device": {"help": "cpu, cuda, mps; the best one if left out"},
    "parts": {"type": Path, "metavar": "FILE", "help": "what is finished, to go on from there"},
    "quick": {"action": "store_true", "help": "only see that it runs"},
    "minutes": {"type": float, "metavar": "N", "help": "for all parts together"},
    "tiny": {"action": "store_true", "help": "only see that it runs, on any device"},
    "only": {"action": "append", "metavar": "NAME", "help": "this part, no others"},
    "commit": {"metavar": "SHA", "help": "of this code, where it has no repository beside it"},
    "out": {
        "type": Path,
        "metavar": "PATH",
        "help": "the file to record in, or the folder to make",
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    named = list(takewhile(lambda word: not word.startswith("-"), given))
    modules = {name: import_module(f"measurements.{name}") for name in chosen(named, given)}
    options = parser_of(named, modules).parse_args(given[len(named) :])
    words = [without_folders(word) for word in given[len(named) :]]
    try:
        if making := [module for name, module in modules.items() if name in MAKING]:
            return int(making[0].make(**vars(options)))
        return measure(modules, vars(options), words)
    except SENTENCES as error:
        if os.environ.get("TRANSFORMER_TRACEBACK", "") not in ("", "0"):
            raise
        print(error, file=sys.stderr)
        return 1


def chosen(named: Sequence[str], given: Sequence[str]) -> Sequence[str]:
    """The measurements that a command names; one that names none gets the list of them."""
    parser = argparse.ArgumentParser(
        prog=PROG,
        usage=f"{PROG} NAME [NAME ...] [options]",
        description=f"{(__doc__ or '').splitlines()[0]} The options: NAME --help",
        epilog="\n".join(listing()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if not named:
        parser.parse_args(given)
        parser.error("name what is to be measured")
    if list(named) == ["all"]:
        return SIDE_BY_SIDE
    for name in named:
        if name not in KNOWN:
            parser.error(f"there is no measurement {name!r}; there are {', '.join(KNOWN)}")
        if len(named) > 1 and name not in SIDE_BY_SIDE:
            parser.error(f"{name} has a file of its own; name it alone")
    return named


def listing() -> Iterator[str]:
    """All measurements, with the first line of what each says of itself."""
    for title, names in GROUPS.items():
        yield title
        for name in names:
            code = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
            said = ast.get_docstring(ast.parse(code)) or ""
            yield f"  {name:16}  {said.splitlines()[0]}"
        yield ""


def parser_of(named: Sequence[str], modules: Mapping[str, ModuleType]) -> argparse.ArgumentParser:
    """The options that all of these measurements have, and where they record."""
    parser = argparse.ArgumentParser(
        prog=" ".join([PROG, *named]),
        description="".join(module.__doc__ or "" for module in modules.values() if len(named) == 1),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    functions = [inspect.signature(function_of(module)).parameters for module in modules.values()]
    defaults = {
        name: parameter.default
        for name, parameter in functions[0].items()
        if all(name in others for others in functions)
    }
    for name, default in ({"out": None} | defaults).items():
        settings = {**OPTIONS[name], "default": default}
        if default is inspect.Parameter.empty:
            settings |= {"default": None, "required": True}
        elif default not in (None, False):
            settings["help"] += " (default: %(default)s)"
        parser.add_argument(f"--{name}", **settings)
    return parser


def function_of(module: ModuleType) -> Callable[..., Any]:
    """What a measurement does, by its arguments."""
    function: Callable[..., Any] = module.make if hasattr(module, "make") else module.run
    return function


def measure(
    modules: Mapping[str, ModuleType], options: dict[str, Any], words: Sequence[str]
) -> int:
    """Measure one after another, each recorded at once, so that a later one can fail.

    Args:
        modules: by name.
        options: of all of them, and the file to record in.
        words: of the command line, after the names.

    Raises:
        ValueError: the file holds something else, or no commit holds the code.
    """
    out = options.pop("out")
    side_by_side = not set(modules) & set(ALONE)
    results = earlier_results(out) if side_by_side else {}
    origin = provenance(pick_device(options.get("device", "cpu")))
    if out and not options.get("quick"):  # said before anything is measured, not after
        require_commit(origin["commit"], "the record", "then measure")
    status = 0
    for name, module in modules.items():
        try:
            result = module.run(**options)
        except LeftOutError as error:
            print(f"{name} is left out. {error}\n", file=sys.stderr)
            status = 1
            continue
        about = {**origin, "command": shlex.join([*PROG.split(), name, *words])}
        if side_by_side:
            about |= {"cores": cores(), "seed": result.pop("seed")}
            # What a measurement has set or used itself goes before what is usual here.
            about |= {key: result.pop(key) for key in ("threads", "hardware") if key in result}
            about["versions"] = about["versions"] | result.pop("versions", {})
            results[name] = {"record": about, **result}
        else:
            results = {**about, **result}
        print(module.table(result))
        print(
            f"  on {about['hardware']}, threads: {about['threads']}, torch "
            f"{about['versions']['torch']}, commit {about['commit']}\n",
            flush=True,
        )
        if out:
            write_result(out, results)
            print(f"Recorded in {out}", flush=True)
    return status


def earlier_results(path: Path | None) -> dict[str, Any]:
    """What a file holds by now; nothing where there is none.

    Raises:
        ValueError: it is there and holds something else.
    """
    if path is None or not path.exists():
        return {}
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        results = None
    if not isinstance(results, dict) or not results.keys() <= set(SIDE_BY_SIDE):
        raise ValueError(f"{path} holds something else than measurements by name; name another")
    return results


if __name__ == "__main__":
    sys.exit(main())
