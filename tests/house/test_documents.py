"""What README, CONTRIBUTING and the guides beside the code promise."""

import ast
import re
import shlex
from pathlib import Path

import click
import pytest
import typer

from tests.helpers.command_line import run
from tools.check import QUICK
from transformer.command_line.cli import HANDED_ON, app
from transformer.tasks import TASKS

from transformer_book.__main__ import app as book_app

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("book", "docs", "measurements", "tests", "tools", "transformer", "transformer_book")
# The recipes for changes, each beside what it changes; models have cards of the same name.
GUIDES = sorted(
    str(path.relative_to(ROOT))
    for room in ROOMS
    for path in (ROOT / room).rglob("*.md" if room == "docs" else "README.md")
    if not {"models", "node_modules"} & set(path.parts)
)
AT_THE_ROOT = ["ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md"]
AT_THE_ROOT += ["LICENSE-TEXT.md", "README.md", "SECURITY.md"]
DOCUMENTS = [*AT_THE_ROOT, *GUIDES]


README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
VALUE = re.compile(r"""  # ([(\[][\d"TF][^#]*?[)\]])(?=[:;]|$)""", re.MULTILINE)


def shown(value: object) -> object:
    """What a comment beside a statement says of its value: of a tensor, the shape."""
    shape = getattr(value, "shape", value)
    return tuple(shape) if isinstance(shape, tuple) else shape


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_readme_give_what_their_comments_say(example: str) -> None:
    names: dict[str, object] = {}
    lines = example.splitlines()
    for statement in ast.parse(example).body:
        source = ast.unparse(statement)
        comment = VALUE.search(lines[(statement.end_lineno or 0) - 1])
        if comment is None:
            exec(source, names)
        elif isinstance(statement, ast.Assign):
            exec(source, names)
            value = names[ast.unparse(statement.targets[0])]
            assert shown(value) == ast.literal_eval(comment[1])
        else:
            assert shown(eval(source, names)) == ast.literal_eval(comment[1])


def test_the_examples_of_the_readme_say_what_comes_out() -> None:
    values = [VALUE.findall(example) for example in EXAMPLES]
    assert list(map(len, values)) == [2, 6, 0]


STARTS = r"^(?:python|torchrun .*?) -m"
COMMANDS = re.findall(rf"{STARTS} transformer (.*?)(?:  +#.*)?$", README, re.M)


BOOK_COMMANDS = re.findall(r"^python -m transformer_book (.*?)(?:  +#.*)?$", README, re.M)
GROUPS = [(book_app if line.split()[0] in HANDED_ON else app, line) for line in COMMANDS]
GROUPS += [(book_app, line) for line in BOOK_COMMANDS]


@pytest.mark.parametrize(("app", "line"), GROUPS, ids=[line for _, line in GROUPS])
def test_commands_of_the_readme_are_understood(app: typer.Typer, line: str) -> None:
    name, *arguments = shlex.split(line)
    group = typer.main.get_command(app)
    if name == "--help":
        return
    command = group.commands[name]
    options, operands, _ = command.make_parser(click.Context(command)).parse_args(arguments)
    assert operands == []
    assert (options.get("task") or "copy") in TASKS


def runs_here(line: str) -> bool:
    """Whether a command runs in seconds, without a network: the copy task, and what comes after."""
    name, *arguments = shlex.split(line)
    if name == "train":
        return arguments == ["copy"] or "--config" in arguments
    return name in ("--help", "average", "evaluate", "translate")


@pytest.mark.slow
def test_commands_of_the_readme_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder, as they stand there; two brief runs take the place of the longer ones."""
    monkeypatch.chdir(tmp_path)
    brief = ["--steps", "5", "--d-model", "16", "--d-ff", "16", "--n-heads", "2", "--n-layers", "1"]
    for name in ("toy", "multi30k"):
        kept = ["--checkpoint-every", "1", "--keep", "5", "--out", f"runs/{name}"]
        assert run("train", "copy", *brief, *kept).returncode == 0
    said = {}
    for line in filter(runs_here, COMMANDS):
        done = run(*shlex.split(line), *(brief if line == "train copy" else ()), stdin="1 2 3\n")
        assert done.returncode == 0, f"{line}: {done.stderr}"
        said[line] = done.stdout
    assert len(said) == 8
    assert "nrefs:2" in said["evaluate runs/multi30k --own en"]
    for words in ("BLEU", "chrF", "nrefs:1"):
        assert words in said["evaluate runs/multi30k --beam 4"]
    assert said["translate runs/toy"].count("\n") == 1
    assert {path.name for path in Path("runs").iterdir()} >= {"copy", "toy", "toy-1"}
    assert Path("runs/multi30k/average-5/model.safetensors").exists()


def test_the_readme_shows_every_command() -> None:
    commands = typer.main.get_command(app).commands
    shown = {name for name, command in commands.items() if not command.hidden}
    assert {line.split()[0] for line in COMMANDS} - {"--help"} == shown
    of_book = set(typer.main.get_command(book_app).commands)
    assert {line.split()[0] for line in BOOK_COMMANDS} == of_book - {*HANDED_ON}
    assert of_book >= {*HANDED_ON}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_to_files_of_the_repository_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)[)#]", (ROOT / document).read_text())
    folder = (ROOT / document).parent
    assert [link for link in links if not (folder / link).exists()] == []


def test_every_guide_can_be_reached_from_contributing() -> None:
    """By links from page to page: a guide that none leads to is a guide that nobody reads."""
    reached, due = set(), [ROOT / "CONTRIBUTING.md"]
    while due:
        page = due.pop()
        reached.add(page)
        links = re.findall(r"\]\(([^)#:]+\.md)[)#]", page.read_text())
        due += {(page.parent / link).resolve() for link in links} - reached - set(due)
    assert len(GUIDES) > 15
    assert [guide for guide in GUIDES if ROOT / guide not in reached] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_targets_named_in_the_text_are_in_the_makefile(document: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)", (ROOT / document).read_text()))
    assert named or document not in ("README.md", "CONTRIBUTING.md")
    assert named <= targets


@pytest.mark.parametrize("document", ["README.md", "LICENSE-TEXT.md", "CITATION.cff"])
def test_what_is_not_under_the_licence_of_the_code_is_named_beside_it(document: str) -> None:
    text = " ".join((ROOT / document).read_text().split())
    assert "MIT" in text and "CC BY 4.0" in text
    assert "Tatoeba" in text or "LICENSE-everyday.md" in text


def test_the_quick_tests_are_those_of_make_check() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert re.findall(r'-m "([^"]+)".*# the quick tests', text) == [QUICK]


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", *GUIDES])
def test_files_named_in_a_guide_are_there(document: str) -> None:
    """But for those of its made-up examples, and what a build or a run makes."""
    text = (ROOT / document).read_text()
    named = set(re.findall(r"`([\w./]+\.(?:py|js|css|json|toml|txt|yml|md))`", text))
    named = {name for name in named if "proverbs" not in name and not name.startswith("_build/")}
    files = [path for folder in (*ROOMS, ".github") for path in (ROOT / folder).rglob("*.*")]
    known = [f"/{path.relative_to(ROOT)}" for path in (*files, *ROOT.glob("*.*"))]
    assert [n for n in sorted(named) if not any(path.endswith(f"/{n}") for path in known)] == []
