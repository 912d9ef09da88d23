"""A chapter is executed again when something changes that it depends on, and only then."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.helpers.small_chapters import FRONT
from tools.site import execute
from tools.site.chapters import Chapter, notebooks
from tools.site.durations import Durations
from tools.site.execute import Execution
from tools.site.keys import Module, Sources, execution_key, site_key

ROOT = Path(__file__).resolve().parents[3]
FILES = {
    "requirements.txt": "torch\n",
    "transformer/__init__.py": "from transformer.model import Model\n",
    "transformer/model.py": "import transformer.masks\nclass Model: ...\n",
    "transformer/masks.py": "",
    "transformer_book/widgets/__init__.py": (
        "from transformer_book.widgets.one import One\n"
        "from transformer_book.widgets.two import Two\n"
    ),
    "transformer_book/widgets/one.py": (
        "def draw():\n    from transformer_book.figures.maps import draw\n"
    ),
    "transformer_book/widgets/two.py": "class Two: ...\n",
    "transformer_book/widgets/front_ends/one.js": "",
    "transformer/tasks/__init__.py": "import pkgutil\ndef task(): ...\n",
    "transformer/tasks/copying.py": "",
    "transformer/words.json": "[]",
    "transformer_book/__init__.py": (
        'from transformer_book.lazy import lazily\nHOMES = {"figures.maps": "heatmap other", '
        '"use": "transformer_book.use"}\n__getattr__ = lazily(HOMES)\n'
    ),
    "transformer_book/lazy.py": "",
    "transformer_book/use.py": "",
    "transformer_book/figures/__init__.py": "",
    "transformer_book/figures/maps.py": "import transformer.masks\n",
    "transformer_book/figures/curves.py": "",
    "book/results/run.json": "{}",
    "book/results/other.json": "{}",
    "book/models/small/config.json": "{}",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_another_linter_changes_no_output(root: Path) -> None:
    (root / "requirements.txt").write_text("torch\n# [test]\nlinter==1\n")
    before = Sources(root).key([])
    (root / "requirements.txt").write_text("torch\n# [test]\nlinter==2\n")
    assert Sources(root).key([]) == before


def changing(root: Path, key: Callable[[Path], str]) -> set[str]:
    """The files whose change changes a key."""
    before = key(root)
    assert key(root) == before
    found = set()
    for name, text in FILES.items():
        (root / name).write_text(f"{text}\n# changed\n")
        if key(root) != before:
            found.add(name)
        (root / name).write_text(text)
    return found


ALWAYS = {"requirements.txt", "transformer/words.json", "book/models/small/config.json"}
DOOR = "transformer/__init__.py"
BOOK = "transformer_book/__init__.py"
MAPS = {BOOK, "transformer_book/figures/__init__.py", "transformer_book/figures/maps.py"}
MASKS = {DOOR, "transformer/masks.py"}
CODE = {path for path in FILES if path.endswith(".py")}


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("import math", set()),
        ("import transformer.masks", MASKS),
        ("from transformer import masks", MASKS),
        ("from transformer import Model", MASKS | {"transformer/model.py"}),
        ("from transformer_book.figures.maps import heatmap", MAPS | MASKS),
        # Through a door that imports what is asked for.
        ("from transformer_book import heatmap", MAPS | MASKS),
        ("from transformer_book import use", {BOOK, "transformer_book/use.py"}),
        # Another widget beside it is of no concern; what is imported in a function is.
        (
            "from transformer_book.widgets import One",
            MAPS
            | MASKS
            | {"transformer_book/widgets/__init__.py", "transformer_book/widgets/one.py"},
        ),
        (
            "from transformer_book.widgets import Two",
            {BOOK, "transformer_book/widgets/__init__.py", "transformer_book/widgets/two.py"},
        ),
        # A package that looks for its modules needs all of them.
        (
            "from transformer.tasks import task",
            {DOOR, "transformer/tasks/__init__.py", "transformer/tasks/copying.py"},
        ),
        ("recorded('run')", {"book/results/run.json"}),
        ("recorded(name)", {"book/results/run.json", "book/results/other.json"}),
        ("import subprocess", CODE),
        ("%run it", CODE | {"book/results/run.json", "book/results/other.json"}),
    ],
)
def test_a_key_follows_what_a_chapter_imports_and_reads(
    root: Path, code: str, files: set[str]
) -> None:
    assert changing(root, lambda root: Sources(root).key([code])) == ALWAYS | files


def test_the_key_of_all_chapters_follows_all_that_any_reads_and_the_sites_what_pages_do(
    root: Path,
) -> None:
    script = "transformer_book/widgets/front_ends/one.js"
    assert changing(root, execution_key) == {*FILES} - {script}
    assert changing(root, site_key) == {script}


@pytest.mark.parametrize(
    "key", [execution_key, lambda root: Sources(root).key(["recorded('new')"])]
)
def test_keys_depend_on_the_scale_and_on_a_result_that_comes_to_be_and_not_on_byte_code(
    root: Path, monkeypatch: pytest.MonkeyPatch, key: Callable[[Path], str]
) -> None:
    keys = [key(root)]
    (root / "book/results/new.json").write_text("{}")
    keys.append(key(root))
    monkeypatch.setenv("TRANSFORMER_SCALE", "smoke")
    keys.append(key(root))
    assert len(set(keys)) == 3
    (root / "transformer/__pycache__").mkdir()
    (root / "transformer/__pycache__/module.pyc").write_bytes(b"anything")
    assert key(root) == keys[-1]


CHAPTERS = {
    "maps": "from transformer_book import heatmap",
    "widget": "from transformer_book.widgets import One",
    "curves": "from transformer_book.figures.curves import curve",
    "none": "from transformer import Model",
}


def executed(root: Path) -> set[str]:
    """The chapters that a build executes; no kernel begins."""
    paths = {name: root / f"{name}.md" for name in CHAPTERS}
    for name, code in CHAPTERS.items():
        paths[name].write_text(f"{FRONT}\n```{{code-cell}} ipython3\n{code}\n```\n")
    sources = Sources(root)
    keys = {name: sources.key([code]) for name, code in CHAPTERS.items()}
    execution = Execution(root / "cache", paths, Durations(), keys=keys)
    return {*execution.run({}, root / "kernels.log").seconds}


def test_one_changed_figure_executes_only_the_chapters_that_draw_with_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute.Chapter, "run", lambda self, **settings: None)
    assert executed(root) == {*CHAPTERS} and executed(root) == set()
    (root / "transformer_book/figures/maps.py").write_text("import transformer.masks\nRED = 1\n")
    assert executed(root) == {"maps", "widget"}  # the widget is a figure on paper
    (root / "transformer_book/figures/curves.py").write_text("RED = 1\n")
    assert executed(root) == {"curves"}
    assert executed(root) == set()


def test_evaluating_a_model_is_no_evaluation_of_code() -> None:
    assert "eval" not in Module("model.eval()").names
    assert "eval" in Module("eval('1')").names


@pytest.fixture(scope="module")
def files() -> Mapping[str, set[Path]]:
    """What each chapter of the book depends on."""
    sources = Sources(ROOT)
    return {
        name: set(sources.files("\n".join(cell.body) for cell in Chapter(path).cells))
        for name, path in notebooks(ROOT).items()
    }


@pytest.mark.slow
def test_a_figure_of_one_chapter_executes_few(files: Mapping[str, set[Path]]) -> None:
    figures = sorted(ROOT.glob("transformer*/figures/*.py"))
    users = {path.name: sum(path in used for used in files.values()) for path in figures}
    assert users["parsing.py"] <= 3 and users["merges.py"] <= 3
    assert min(users.values()) >= 1
    assert sum(users.values()) / len(users) < len(files) / 3


def test_what_a_chapter_names_is_among_its_files(files: Mapping[str, set[Path]]) -> None:
    attention = {path.relative_to(ROOT).as_posix() for path in files["book/why/attention"]}
    assert "transformer/attention.py" in attention
    assert ROOT / "book/results/talks.json" in files["book/findings/iwslt"]
    assert ROOT / "book/results/talks.json" not in files["book/why/attention"]
