"""The package as a whole: light to import, built in floors, small enough to read."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import transformer

PACKAGE = Path(transformer.__file__).parent

# A file or folder of the package, and the floor that it stands on.
FLOORS = {
    **dict.fromkeys(["config", "masks", "attention", "embedding", "layers", "runtime", "files"], 1),
    **dict.fromkeys(["settings", "batching", "text"], 1),
    **dict.fromkeys(["model", "introspect"], 2),
    **dict.fromkeys(["decoding", "weights", "training", "head_measures"], 3),
    **dict.fromkeys(["data", "translation", "evaluation", "error_features"], 4),
    **dict.fromkeys(["tasks", "runs", "results", "shipped"], 4),
    "figures": 5,
    "widgets": 6,
    **dict.fromkeys(["cli", "__main__"], 7),
}
# Figures draw plain arrays and lists of words, of any model. Widgets compute what they show with
# the module's own functions; on paper they are figures.
HIGHEST_IMPORT = {"figures": 1, "widgets": 3}
ALSO_IMPORTED = {"widgets": {"figures"}}
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


def floor(name: str) -> int:
    return FLOORS.get(name.split(".")[0], 0)


def test_every_module_has_a_floor() -> None:
    assert not {name.split(".")[0] for name in MODULES} - set(FLOORS)  # give it one above


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_from_its_own_floor_and_those_below(name: str) -> None:
    own = name.split(".")[0]
    highest = HIGHEST_IMPORT.get(own, floor(name))
    free = {own} | ALSO_IMPORTED.get(own, set())
    assert not {x for x in imports(name) if floor(x) > highest and x.split(".")[0] not in free}


def test_no_two_parts_import_each_other() -> None:
    graph: dict[str, set[str]] = {}
    for name in MODULES:
        part = name.split(".")[0]
        graph.setdefault(part, set()).update(x.split(".")[0] for x in imports(name))
    for part, targets in graph.items():
        targets.discard(part)
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError


@pytest.mark.parametrize("name", [name for name in MODULES if floor(name) <= 2])
def test_a_core_file_can_be_read_in_one_sitting(name: str) -> None:
    assert len(MODULES[name].read_text(encoding="utf-8").splitlines()) <= 200


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
