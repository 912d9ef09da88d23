"""The package as a whole: light to import, built in floors, small enough to read."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import transformer

PACKAGE = Path(transformer.__file__).parent

# From the ground up: a file imports from its own floor and from those below. A new file or folder
# of the package is one more word here.
FLOORS = {
    "sections 3.1 to 3.5 of the paper": "config masks cache attention embedding layers",
    "the model": "model introspect",
    "the model and the layers before it": "seq2seq ensemble layer_types flops paper variants",
    "tools that know no model": "files version devices runtime settings batching terminal text",
    "what is done with a model": "rounding weights decoding training head_measures head_search",
    "texts, and what comes of them": "data translation packing evaluation tables results shipped",
    "pictures": "figures widgets",
    "experiments": "tasks runs ablation own_page exercises",
    "the command line": "options cli __main__",
}
FLOOR = {name: n for n, names in enumerate(FLOORS.values(), 1) for name in names.split()}
# Figures draw plain arrays and lists of words, of any model, so they import nothing of this one.
# Widgets compute what they show with the module's own functions; on paper they are figures.
COMPUTING = {name for name, n in FLOOR.items() if n <= FLOOR["decoding"]}
PICTURES = {"figures": {"figures"}, "widgets": {"widgets", "figures"} | COMPUTING}
CORE_LINES = 900
HEAVY = ["matplotlib", "seaborn", "IPython", "ipywidgets", "anywidget", "pandas", "sklearn"]
HEAVY += ["tokenizers", "sacrebleu", "pooch", "transformers", "safetensors", "typer"]


def modules() -> dict[str, Path]:
    """Every module of the package but its front door, by dotted name below `transformer`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


MODULES = modules()


def imports(name: str) -> set[str]:
    """The modules of the package that a module imports, at its top or inside a function."""
    targets: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: import by the full name, not relatively"
            assert node.module is not None
            # `from transformer.data import x`: x may be a module or a name in one.
            targets.update(f"{node.module}.{alias.name}" for alias in node.names)
    found = set()
    for target in targets:
        if target.split(".")[0] != "transformer":
            continue
        below = target.removeprefix("transformer").removeprefix(".")
        while below and below not in MODULES:
            below = below.rpartition(".")[0]
        # `from transformer import Transformer` comes through the front door from the model.
        found.add(below or "model")
    return found


def part(name: str) -> str:
    """The file or folder of the package that a module is, or is in."""
    return name.split(".")[0]


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """One circle among these arrows, if there is any."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_module_has_a_floor() -> None:
    assert {part(name) for name in MODULES} == set(FLOOR)  # give it one above, or take it off


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_from_its_own_floor_and_those_below(name: str) -> None:
    own = part(name)
    below = {other for other, n in FLOOR.items() if n <= FLOOR[own]}
    assert {part(x) for x in imports(name)} <= PICTURES.get(own, below)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not for the type checker's sake either: a reader would go round in it too."""
    assert circles({name: imports(name) for name in MODULES}) == []
    parts: dict[str, set[str]] = {}
    for name in MODULES:
        parts.setdefault(part(name), set()).update(part(x) for x in imports(name))
    assert circles({name: targets - {name} for name, targets in parts.items()}) == []


def test_translating_needs_nothing_of_training() -> None:
    needed, waiting = set(), {"translation"}
    while waiting:
        needed |= waiting
        waiting = {found for name in waiting for found in imports(name)} - needed
    assert "weights" in needed
    assert "training" not in {part(name) for name in needed}


def test_the_core_can_be_read_in_one_sitting() -> None:
    """All of it together, so that nothing is gained by moving lines from one file to the next."""
    core = [name for name, n in FLOOR.items() if n <= FLOOR["model"]]
    lines = [line for name in core for line in MODULES[name].read_text("utf-8").splitlines()]
    assert len(lines) <= CORE_LINES


@pytest.mark.slow
def test_importing_the_model_pulls_in_nothing_heavy() -> None:
    code = "import sys; from transformer import Transformer, TransformerConfig; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "transformer.model" in done.stdout.split()
    assert not {module.split(".")[0] for module in done.stdout.split()} & set(HEAVY)


def test_the_front_door_opens_on_the_model_and_its_config() -> None:
    assert set(transformer.__all__) == {"Transformer", "TransformerConfig"}
    assert all(hasattr(transformer, name) for name in transformer.__all__)


def test_the_example_in_the_readers_hands_runs() -> None:
    import torch

    from transformer import Transformer, TransformerConfig

    model = Transformer(TransformerConfig.tiny(src_vocab_size=20))
    logits = model(torch.tensor([[4, 5, 0]]), torch.tensor([[1, 6]]))
    assert logits.shape == (1, 2, 20)
