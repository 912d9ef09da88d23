"""The house as a whole: built in floors; its two packages light to import, small enough to read."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import transformer

import transformer_book
from transformer_book import figures, widgets

ROOT = Path(transformer.__file__).parents[1]

# From the ground up: a file imports from its own floor and from those below. A new file or folder
# at the top of a package is one more word here.
FLOORS = {
    "transformer": {
        "sections 3.1 to 3.5 of the paper": "config masks cache attention embedding layers",
        "the model": "model introspect",
        "the model beside others": "compared variants",
        "tools that know no model": "support text",
        "what is done with a model": "weights decoding training",
        "texts, and what comes of them": "data translation evaluation",
        "experiments": "tasks runs",
        "the command line": "command_line __main__",
    },
    "transformer_book": {
        "what knows no model": "lazy cores results scales student tables paper aligned"
        " heads translation_errors",
        "the model that comes with the book": "both_ways shipped parameter_count",
        "pictures": "figures widgets",
        "experiments": "ablation exercises",
        "a model on a page, or with another engine": "page export",
        "the command line": "__main__",
    },
    "tools.site": {
        "a chapter, a page, and what each takes": "chapters pages keys durations",
        "all chapters": "main_line execute goals",
        "while Sphinx reads": "extensions",
        "once pages are there": "after",
        "notebooks, slides, paper": "formats",
        "all of it": "book",
    },
}
# A room of the house imports from those on lower floors: tools and measurements not each other.
HOUSE = {
    "the Transformer": "transformer",
    "its book": "transformer_book",
    "what makes the site, what measures": "tools measurements",
    "what holds them to it": "tests",
}


def by_floor(floors: dict[str, str]) -> dict[str, int]:
    """The floor of each name, counted from the ground."""
    return {name: n for n, names in enumerate(floors.values(), 1) for name in names.split()}


FLOOR = {package: by_floor(floors) for package, floors in FLOORS.items()}
PACKAGES = ["transformer", "transformer_book"]
# Figures draw plain arrays and lists of words, of any model, so they import nothing of this one.
# Widgets compute what they show with the module's own functions; on paper they are figures.
COMPUTING = {
    name for name, n in FLOOR["transformer"].items() if n <= FLOOR["transformer"]["decoding"]
} | {"evaluation"}  # a score is computed from two texts alone
PICTURES = {"figures": set(), "widgets": COMPUTING}

# What makes `transformer` the Transformer and no more: read in an evening, understood at a glance.
CORE_LINES = 920  # sections 3.1 to 3.5 and the model
LINES = 14_000
ENTRIES = 24
ARROWS = 90  # imports between files and folders at its top
HEAVY = ["matplotlib", "seaborn", "IPython", "ipywidgets", "anywidget", "pandas", "sklearn"]
HEAVY += ["tokenizers", "sacrebleu", "pooch", "transformers", "safetensors", "typer"]


@cache
def modules(package: str) -> dict[str, Path]:
    """Every module of a package but its front door, by dotted name below the package."""
    found = {}
    folder = ROOT.joinpath(*package.split("."))
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


MODULES = [(package, name) for package in FLOORS for name in modules(package)]


@cache
def imported(path: Path) -> frozenset[str]:
    """The full names that a file imports, at its top or inside a function."""
    targets: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by the full name, not relatively"
            assert node.module is not None
            # `from transformer.data import x`: x may be a module or a name in one.
            targets.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(targets)


def imports(package: str, name: str, of: str) -> set[str]:
    """The modules of the package `of` that a module imports."""
    found = set()
    for target in imported(modules(package)[name]):
        if not f"{target}.".startswith(f"{of}."):
            continue
        below = target.removeprefix(of).removeprefix(".")
        while below and below not in modules(of):
            below = below.rpartition(".")[0]
        # `from transformer import Transformer` comes through the front door from the model.
        assert below or of != "transformer_book", f"{name}: import {target} from where it is"
        if below or of == "transformer":
            found.add(below or "model")
    return found


def part(name: str) -> str:
    """The file or folder of the package that a module is, or is in."""
    return name.split(".")[0]


def arrows(package: str) -> dict[str, set[str]]:
    """The parts of a package, and the other parts that each imports."""
    found: dict[str, set[str]] = {}
    for name in modules(package):
        found.setdefault(part(name), set()).update(map(part, imports(package, name, package)))
    return {name: targets - {name} for name, targets in found.items()}


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """One circle among these arrows, if there is any."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_transformer_knows_nothing_of_the_book() -> None:
    """A run reads a model, trains and translates without what chapters are made with."""
    files = (ROOT / "transformer").rglob("*.py")
    named = {path.name: {name.split(".")[0] for name in imported(path)} for path in files}
    assert [name for name, roots in named.items() if "transformer_book" in roots] == []


@pytest.mark.parametrize("package", FLOORS)
def test_every_module_has_a_floor(package: str) -> None:
    assert {part(name) for name in modules(package)} == set(FLOOR[package])  # give it one above


@pytest.mark.parametrize(("package", "name"), MODULES)
def test_a_module_imports_only_from_its_own_floor_and_those_below(package: str, name: str) -> None:
    floor, own = FLOOR[package], part(name)
    below = {other for other, n in floor.items() if n <= floor[own]}
    assert {part(x) for x in imports(package, name, package)} <= below


@pytest.mark.parametrize("name", [n for n in modules("transformer_book") if part(n) in PICTURES])
def test_pictures_import_no_more_of_the_transformer_than_they_compute_with(name: str) -> None:
    taken = {part(x) for x in imports("transformer_book", name, "transformer")}
    assert taken <= PICTURES[part(name)]
    beside = {part(x) for x in imports("transformer_book", name, "transformer_book")}
    measures = {"heads", "student"} if part(name) == "widgets" else set()  # as the model does
    assert beside <= {"figures", "lazy", part(name)} | measures


def test_a_room_of_the_house_imports_only_from_those_below() -> None:
    floor = by_floor(HOUSE)
    for room, own in floor.items():
        taken = {part(target) for path in modules(room).values() for target in imported(path)}
        assert taken & floor.keys() <= {room, *(other for other, n in floor.items() if n < own)}


@pytest.mark.parametrize("package", [*by_floor(HOUSE), "tools.site"])
def test_no_modules_import_each_other_in_a_circle(package: str) -> None:
    """Not for the type checker's sake either: a reader would go round in it too."""
    assert circles({name: imports(package, name, package) for name in modules(package)}) == []
    assert circles(arrows(package)) == []


def test_the_transformer_stays_small() -> None:
    """More of it is a reason to take something out, or to put a folder where three files are."""
    entries = [p for p in (ROOT / "transformer").iterdir() if p.name != "__pycache__"]
    files = (ROOT / "transformer").rglob("*.py")
    assert len(entries) <= ENTRIES
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= LINES
    assert sum(map(len, arrows("transformer").values())) <= ARROWS
    assert len([p for p in (ROOT / "transformer_book").iterdir() if p.name[0] != "."]) <= ENTRIES


def test_translating_needs_nothing_of_training() -> None:
    needed, waiting = set(), {"translation"}
    while waiting:
        needed |= waiting
        waiting = {
            found for name in waiting for found in imports("transformer", name, "transformer")
        } - needed
    assert "weights" in needed
    assert "training" not in {part(name) for name in needed}


def test_the_core_can_be_read_in_one_sitting() -> None:
    """All of it together, so that nothing is gained by moving lines from one file to the next."""
    floor = FLOOR["transformer"]
    core = [name for name, n in floor.items() if n <= floor["model"]]
    lines = [
        line
        for name in core
        for line in modules("transformer")[name].read_text("utf-8").splitlines()
    ]
    assert len(lines) <= CORE_LINES


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh Python holds after some lines."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys; {code}; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.slow
def test_importing_the_model_pulls_in_nothing_heavy() -> None:
    loaded = loaded_by("from transformer import Transformer, TransformerConfig")
    assert "transformer.model" in loaded
    assert not {module.split(".")[0] for module in loaded} & {*HEAVY, "transformer_book"}


@pytest.mark.slow
def test_what_is_not_asked_for_is_not_imported() -> None:
    loaded = loaded_by("import transformer_book; from transformer_book.figures import mask_heatmap")
    assert "transformer_book.figures.masks" in loaded
    assert not {"torch", "transformer_book.figures.positions"} & loaded
    assert "transformer_book.widgets.mask_explorer" not in loaded_by(
        "from transformer_book.widgets import AttentionHeads"
    )


def test_the_front_door_opens_on_the_model_and_its_config() -> None:
    assert set(transformer.__all__) == {"Transformer", "TransformerConfig"}
    assert all(hasattr(transformer, name) for name in transformer.__all__)


@pytest.mark.parametrize("package", [transformer_book, figures, widgets])
def test_what_a_package_offers_is_what_its_module_defines(package) -> None:
    """Also if another module has been imported before: none has the name of what is offered."""
    for name, home in package.HOMES.items():
        value, module = getattr(package, name), sys.modules[home]
        assert value is (module if home.endswith(f".{name}") else getattr(module, name))
        assert name in dir(package)
        clash = Path(str(package.__file__)).with_name(f"{name}.py")
        assert not clash.exists() and not clash.with_suffix("").is_dir()
    with pytest.raises(AttributeError, match="has no attribute 'gone'"):
        package.gone  # noqa: B018


def test_every_name_of_a_figure_is_offered_once() -> None:
    folder = Path(str(figures.__file__)).parent
    texts = [path.read_text("utf-8") for path in folder.glob("[!_]*.py")]
    names = [n for text in texts for n in re.findall(r"^(?:def|class) ([a-zA-Z]\w*)", text, re.M)]
    assert sorted(names) == sorted(figures.HOMES)


def test_the_example_in_the_readers_hands_runs() -> None:
    import torch

    from transformer import Transformer, TransformerConfig

    model = Transformer(TransformerConfig.tiny(src_vocab_size=20))
    logits = model(torch.tensor([[4, 5, 0]]), torch.tensor([[1, 6]]))
    assert logits.shape == (1, 2, 20)
