"""The notebooks' first cell: what it installs, what it leaves alone, and what it says."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tools.site.formats.notebooks import install_cell

from transformer_book.page.widget_pages import serving

OURS, OLDER = "0.1.0+g1a2b3c4d5e", "0.0.9+g0000000000"
WHEEL = "https://example.org/notebooks/transformer_book-0.1.0%2Bg1a2b3c4d5e-py3-none-any.whl"
SOURCE = "git+https://example.org/book@1a2b3c4d5e"
METADATA = "Metadata-Version: 2.1\nName: transformer-book\nVersion: {}\nProvides-Extra: book\n"
# In the place of pip: notes what it should install, and installs the versions that it is told.
DRIVER = """\
import json, subprocess, sys
from pathlib import Path
site, gives, calls = Path(sys.argv[1]), json.loads(sys.argv[2]), []
sys.path[:0] = json.loads(sys.argv[3])
def pip(command, **options):
    assert command[:4] == [sys.executable, "-m", "pip", "install"], command
    calls.append(command[-1])
    version = gives.pop(0)
    if version is not None:
        for old in site.glob("*.dist-info"):
            (old / "METADATA").unlink()
            old.rmdir()
        (site / "transformer").mkdir(exist_ok=True)
        (site / "transformer/__init__.py").write_text(f"VERSION = {version!r}")
        new = site / f"transformer_book-{version}.dist-info"
        new.mkdir()
        (new / "METADATA").write_text(METADATA.format(version))
    said = "" if version else "no matching distribution"
    return subprocess.CompletedProcess(command, version is None, "", said)
subprocess.run = pip
METADATA = sys.argv[4]
exec(sys.argv[5])
exec(sys.stdin.read())
print(json.dumps(calls))
"""


class Machine:
    """A Python with a folder of packages, in which pip finds what the test says."""

    def __init__(self, folder: Path) -> None:
        self.site, self.path = folder / "site", [str(folder / "site")]
        self.site.mkdir()
        self.calls: list[str] = []

    def has(self, version: str) -> None:
        """The module is there already, installed by pip."""
        folder = self.site / f"transformer_book-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(METADATA.format(version))
        package(self.site, version)

    def runs(self, *gives: str | None, before: str = "", fails: bool = False) -> str:
        """What the cell says where pip installs these versions, one a call; None: it fails."""
        arguments = [str(self.site), json.dumps(gives), json.dumps(self.path), METADATA, before]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", DRIVER, *arguments],
            input=install_cell(OURS, WHEEL, SOURCE),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr
        if fails:
            return done.stderr
        *said, calls = done.stdout.splitlines()
        self.calls = [call.removeprefix("transformer-book[book] @ ") for call in json.loads(calls)]
        return "\n".join(said)


def package(folder: Path, version: str) -> None:
    (folder / "transformer").mkdir(parents=True)
    (folder / "transformer/__init__.py").write_text(f"VERSION = {version!r}")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


SAYS = "The book's module: version 0.1.0, commit 1a2b3c4d5e"


def test_where_it_is_missing_the_notebooks_own_wheel_is_installed(machine: Machine) -> None:
    assert machine.runs(OURS).splitlines()[-1] == SAYS
    assert machine.calls == [WHEEL]


def test_where_it_is_there_nothing_is_installed(machine: Machine) -> None:
    machine.has(OURS)
    assert machine.runs().splitlines()[-1] == SAYS
    assert machine.calls == []


def test_another_version_is_named_and_gives_way_even_where_it_is_in_use(machine: Machine) -> None:
    machine.has(OLDER)
    said = machine.runs(OURS, before="import transformer; first = transformer.VERSION")
    assert f"Version {OLDER} of the book's module gives way to this notebook's, {OURS}." in said
    assert said.splitlines()[-1] == SAYS
    assert machine.calls == [WHEEL]


def test_what_was_imported_of_another_version_is_imported_anew(machine: Machine) -> None:
    machine.has(OLDER)
    (machine.site / "transformer/sub.py").write_text("")
    (machine.site / "transformer_book.py").write_text("")
    before = (
        "import transformer.sub, transformer_book, atexit; old = transformer.VERSION\n"
        "def look():\n"
        "    import transformer; assert (old, transformer.VERSION) == "
        f"({OLDER!r}, {OURS!r}), transformer.VERSION\n"
        "    assert not {'transformer.sub', 'transformer_book'} & sys.modules.keys()\n"
        "    import os; os.write(2, b'looked')\n"
        "atexit.register(look)"
    )
    machine.runs(OURS, before=before)


@pytest.mark.parametrize("installed", ["editable", "not at all"])
def test_a_clone_stays_as_it_is_and_is_named(
    machine: Machine, tmp_path: Path, installed: str
) -> None:
    clone = tmp_path / "clone"
    package(clone, "of a clone")
    machine.path.append(str(clone))
    if installed == "editable":  # pip then notes a version, and the path leads to the clone
        machine.has(OLDER)
        (machine.site / "transformer/__init__.py").unlink()
        (machine.site / "transformer").rmdir()
    said = machine.runs()
    assert f"is {clone}/transformer/__init__.py, which may differ" in said
    assert OURS in said
    assert machine.calls == []


def test_a_folder_of_that_name_is_no_module(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "reader/transformer").mkdir(parents=True)
    machine.path.insert(0, str(tmp_path / "reader"))
    assert machine.runs(OURS).splitlines()[-1] == SAYS


def test_where_the_site_has_gone_on_the_commit_itself_is_installed(machine: Machine) -> None:
    assert machine.runs(None, OURS).splitlines()[-1] == SAYS
    assert machine.calls == [WHEEL, SOURCE]


def test_a_source_that_gives_another_version_does_not_count(machine: Machine) -> None:
    assert machine.runs(OLDER, OURS).splitlines()[-1] == SAYS


def test_when_pip_fails_the_cell_says_what_to_do_and_once_what_pip_said(machine: Machine) -> None:
    said = machine.runs(None, None, fails=True)
    assert "RuntimeError: The book's module could not be installed. Is this machine conn" in said
    assert "`make lab`. What pip said:" in said
    assert said.count("no matching distribution") == 1


COLAB = """
import types
colab, output = types.ModuleType("google.colab"), types.ModuleType("google.colab.output")
output.enable_custom_widget_manager = lambda: print("widgets are shown")
colab.output = output
sys.modules |= {"google": types.ModuleType("google"), "google.colab": colab}
sys.modules["google.colab.output"] = output
"""


def test_colab_is_told_to_show_widgets_and_nobody_else_is(machine: Machine) -> None:
    machine.has(OURS)
    assert "widgets are shown" not in machine.runs()
    assert "widgets are shown" in machine.runs(before=COLAB)


def test_nobody_is_asked_to_restart(machine: Machine) -> None:
    machine.has(OLDER)
    assert "restart" not in machine.runs(OURS).lower()


def wheel(folder: Path, version: str) -> Path:
    """A wheel of the book's name with next to nothing in it."""
    path = folder / f"transformer_book-{version}-py3-none-any.whl"
    info = f"transformer_book-{version}.dist-info"
    files = {
        "transformer/__init__.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": METADATA.format(version),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return path


@pytest.mark.slow
def test_pip_itself_installs_from_a_site_and_replaces_an_older_one(tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    venv.create(tmp_path / "venv", with_pip=True)
    site = tmp_path / "site/notebooks"
    site.mkdir(parents=True)
    for version in (OLDER, OURS):
        wheel(site, version)
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def cell(version: str) -> str:
        name = f"transformer_book-{version.replace('+', '%2B')}-py3-none-any.whl"
        code = install_cell(version, f"{address}/gone/{name}", f"{address}/notebooks/{name}")
        code += "import transformer; print(transformer.VERSION)"
        run = [str(python), "-c", code]
        done = subprocess.run(run, env=environ, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    with serving(tmp_path / "site") as address:
        assert cell(OLDER).splitlines()[-1] == OLDER
        said = cell(OURS)
        assert f"Version {OLDER} of the book's module gives way" in said
        assert said.splitlines()[-2:] == [SAYS, OURS]
        assert "gives way" not in cell(OURS)
