"""The imitation of Colab: its list of versions, what our ranges make of it, what is a problem."""

import ast
from pathlib import Path

import nbformat
import pytest

from tools import colab
from tools.colab import (
    LIST,
    ColabError,
    Environment,
    problems,
    renewed,
    requirements,
    versions_in,
)

ROOT = Path(__file__).resolve().parents[2]
COLAB = versions_in(LIST.read_text())
# What Colab does not have: the first cell installs these.
MISSING = {"jaxtyping", "sacrebleu"}


@pytest.mark.parametrize("name", sorted(requirements().keys() - MISSING))
def test_what_colab_has_is_enough_and_stays_as_it_is(name: str) -> None:
    assert requirements()[name].specifier.contains(COLAB[name]), f"{name} {COLAB[name]}"


def test_colab_lacks_only_what_is_small() -> None:
    assert requirements().keys() - COLAB.keys() == MISSING


def test_a_chapter_that_there_is_not_is_named_before_anything_is_installed(
    monkeypatch, capsys
) -> None:
    monkeypatch.setattr(colab, "run_all", lambda *arguments: pytest.fail("it began"))
    monkeypatch.setattr("sys.argv", ["colab", "--only", "masks", "nochapter"])
    with pytest.raises(SystemExit):
        colab.main()
    said = capsys.readouterr().err
    assert "no chapter 'nochapter'; choose from" in said and " masks," in said


def test_a_list_that_cannot_be_renewed_is_no_traceback(monkeypatch, capsys) -> None:
    def nowhere(*arguments, **options):
        raise OSError("no network")

    before = LIST.read_text()
    monkeypatch.setattr(colab.urllib.request, "urlopen", nowhere)
    monkeypatch.setattr("sys.argv", ["colab", "--renew"])
    assert colab.main() == 1 and LIST.read_text() == before
    assert "no network" in capsys.readouterr().err


def test_tensorboard_is_no_part_of_what_a_reader_installs() -> None:
    assert "tensorboard" not in requirements()


@pytest.mark.parametrize("index", [None, "https://builds.example/cpu"])
def test_the_index_that_is_named_for_torch_gives_torch_alone(tmp_path, monkeypatch, index) -> None:
    said = []
    monkeypatch.setattr(colab.subprocess, "run", lambda *arguments, **options: None)
    monkeypatch.delenv("TORCH_INDEX_URL", raising=False)
    if index:
        monkeypatch.setenv("TORCH_INDEX_URL", index)
    environment = Environment.__new__(Environment)
    environment.folder = tmp_path
    monkeypatch.setattr(environment, "pip", lambda *arguments: said.append(arguments))
    monkeypatch.setattr(environment, "freeze", dict)
    environment._install("python3")
    torch = ("install", "--no-deps", "--index-url", index, f"torch=={COLAB['torch']}")
    assert [call for call in said if "--index-url" in call] == [torch] * bool(index)
    assert any("-c" in call and "torch" in call for call in said[-1:])


FREEZE = """\
# Colab's
en_core_web_sm @ https://example.org/en_core_web_sm-3.8.0-py3-none-any.whl#sha256=19
Jinja2==3.1.7
ipython-genutils==0.2.0
torch @ https://download.pytorch.org/whl/cpu/torch-2.12.0%2Bcpu-cp313-cp313-manylinux_2_28_x86_64.whl
"""


def test_a_list_is_read_whether_it_names_versions_or_wheels() -> None:
    assert versions_in(FREEZE) == {
        "jinja2": "3.1.7",
        "ipython-genutils": "0.2.0",
        "torch": "2.12.0",
        "en-core-web-sm": "3.8.0",
    }


def test_the_list_is_made_of_colabs_and_says_of_which_day_it_is() -> None:
    first, second, *lines = renewed(FREEZE, "19 August 2026").splitlines()
    assert "19 August 2026" in first and "--renew" in second
    assert lines == ["en-core-web-sm==3.8.0", "ipython-genutils==0.2.0", "jinja2==3.1.7",
                     "torch==2.12.0"]  # fmt: skip
    assert renewed("\n".join(lines), "19 August 2026").splitlines()[2:] == lines


@pytest.mark.parametrize(
    ("stream", "text", "problem"),
    [
        ("stdout", "It holds.", None),
        ("stderr", "Traceback", "it says on stderr: Traceback"),
        ("stdout", "You must restart the runtime in order to use", "it asks for a restart"),
        ("stdout", "Note: you may need to restart the kernel to use", "it asks for a restart"),
        ("stderr", "x.py:1: RuntimeWarning: Guards may run slower on Python 3.13.0.", None),
    ],
)
def test_what_a_reader_would_worry_about_is_a_problem(
    stream: str, text: str, problem: str | None
) -> None:
    cell = nbformat.v4.new_code_cell("")
    cell.outputs = [nbformat.v4.new_output("stream", name=stream, text=text)]
    found = list(problems(nbformat.v4.new_notebook(cells=[cell])))
    assert [line.split(":")[0] for line in found] == ([problem.split(":")[0]] if problem else [])


@pytest.mark.parametrize(
    ("after", "gone", "complaint"),
    [
        ({"numpy": "2.1.3"}, [], ""),
        ({"numpy": "2.1.3", "jaxtyping": "0.3"}, ["jaxtyping"], ""),
        ({"numpy": "2.4.0"}, [], "numpy 2.1.3 became 2.4.0"),
        ({"jaxtyping": "0.3"}, [], "numpy 2.1.3 became missing"),
    ],
)
def test_the_environment_is_colabs_again_or_it_is_said_what_has_changed(
    monkeypatch: pytest.MonkeyPatch, after: dict[str, str], gone: list[str], complaint: str
) -> None:
    environment = Environment.__new__(Environment)
    environment.before = {"numpy": "2.1.3"}
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(environment, "freeze", lambda: after)
    monkeypatch.setattr(environment, "pip", lambda *arguments: calls.append(arguments))
    if complaint:
        with pytest.raises(ColabError, match=complaint):
            environment.restore()
    else:
        environment.restore()
    assert calls == ([("uninstall", "--yes", *gone)] if gone else [])


@pytest.mark.parametrize(
    "path", sorted((ROOT / "transformer_book").rglob("*.py")), ids=lambda path: path.stem
)
def test_no_trait_has_a_type_in_brackets_at_run_time(path: Path) -> None:
    """Colab's traitlets, 5.7.1, knows `List[Any]` in its stubs alone: annotations are quoted."""
    tree = ast.parse(path.read_text("utf-8"))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "traitlets"
        for alias in node.names
    }
    found = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and (
            ast.unparse(node.value) in imported or ast.unparse(node.value).startswith("traitlets.")
        )
    ]
    assert found == []
