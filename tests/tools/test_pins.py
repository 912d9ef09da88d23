"""Pins and their hashes: one command writes them, and pip installs no other file."""

import hashlib
import os
import re
import subprocess
import tomllib
import venv
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from itertools import chain
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
PINNED = [
    (name, line, hashes)
    for name in pins.FILES
    for line, hashes in read_pins((ROOT / name).read_text())
    if line and not line.startswith("#")
]

NAMES = {
    file: {canonicalize_name(Requirement(line).name) for f, line, _ in PINNED if f == file}
    for file in pins.FILES
}
ELSEWHERE = {
    canonicalize_name(pin.name)
    for pin in (Requirement(line) for _, line, _ in PINNED)
    if pin.marker is not None and not pin.marker.evaluate()
}
LINUX, DARWIN = ("linux", "Linux"), ("darwin", "Darwin")


@pytest.mark.parametrize(("file", "line", "hashes"), PINNED, ids=[pin[1] for pin in PINNED])
def test_a_pin_is_exact_and_has_its_hashes(file: str, line: str, hashes: set[str]) -> None:
    (exact,) = Requirement(line).specifier
    assert exact.operator == "==" and "*" not in exact.version
    assert "+" not in line and "@" not in line, "only some machines have it"
    assert hashes
    assert all(re.fullmatch("[0-9a-f]{64}", sha) for sha in hashes)


def test_what_others_rely_on_is_pinned_as_they_expect() -> None:
    lines = [line for file, line, _ in PINNED if file == "requirements.txt"]
    assert {"torch==2.13.0", "jupyter-book==1.0.4.post1"} <= set(lines)
    assert len(lines) == len({canonicalize_name(Requirement(line).name) for line in lines})


def test_the_pins_are_within_the_ranges_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    ranges = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    ranges += chain.from_iterable(project["project"]["optional-dependencies"].values())
    wanted = [r for r in map(Requirement, ranges) if r.name != project["project"]["name"]]
    versions = {
        canonicalize_name(Requirement(line).name): next(iter(Requirement(line).specifier)).version
        for _, line, _ in PINNED
    }
    assert len(wanted) > 40
    for requirement in wanted:
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} but =={version}"


def needs(name: str) -> list[str]:
    """What a package states that it needs; of one for other systems than this nothing is known."""
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        assert name in ELSEWHERE
        return []


PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = [(*LINUX, "x86_64"), (*LINUX, "aarch64"), (*DARWIN, "arm64")]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS, ids="-".join)
def test_what_pinned_packages_need_is_pinned_too(python: str, system: tuple[str, ...]) -> None:
    """NVIDIA's libraries, which only PyPI's torch for Linux needs, have a file of their own."""
    names = ("sys_platform", "platform_system", "platform_machine")
    marks = dict(zip(names, system, strict=True), python_version=python)
    marks["python_full_version"] = f"{python}.2"
    waiting = [(name, "") for name in NAMES["requirements.txt"]]
    seen = set(waiting)
    while waiting:
        name, extra = waiting.pop()
        for needed in map(Requirement, needs(name)):
            if needed.marker is None or needed.marker.evaluate(marks | {"extra": extra}):
                other = canonicalize_name(needed.name)
                assert other in NAMES["requirements.txt"], f"{name} needs it"
                more = {(other, part) for part in ("", *needed.extras)} - seen
                seen |= more
                waiting += more


@pytest.mark.parametrize("name", pins.FILES)
def test_the_files_stand_as_the_command_writes_them(name: str) -> None:
    text = (ROOT / name).read_text()
    assert write_pins(read_pins(text)) == text


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("py3-none-any", True),
        ("py2.py3-none-any", True),
        ("cp311-cp311-manylinux_2_28_x86_64", True),
        ("cp313-cp313-manylinux2014_aarch64.manylinux_2_17_aarch64", True),
        ("cp39-abi3-macosx_11_0_arm64", True),
        ("cp312-cp312-macosx_10_13_universal2", True),
        ("py3-none-manylinux1_x86_64", True),
        ("cp310-cp310-manylinux_2_28_x86_64", False),
        ("cp314-cp314t-manylinux_2_28_x86_64", False),
        ("cp312-cp312-musllinux_1_2_x86_64", False),
        ("cp312-cp312-win_amd64", False),
        ("cp312-cp312-manylinux_2_17_ppc64le", False),
        ("pp311-pypy311_pp73-manylinux_2_28_x86_64", False),
    ],
)
def test_hashes_are_those_of_wheels_for_our_machines(tag: str, expected: bool) -> None:
    assert any(map(runs_here, parse_tag(tag))) == expected


class Index:
    """An index on this machine, in a folder that it serves, with the paths that were asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, []
        folder.mkdir()
        index = self

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                index.asked.append(self.path)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def offer(self, name: str, version: str, content: str = "", **about: str) -> Path:
        """Puts a package of one module there, in the place of one of the same name and version."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        path = wheel(folder, name, version, content, **about)
        links = (
            f'<a href="/{name}/{p.name.replace("+", "%2B")}#sha256={sha(p)}">{p.name}</a><br/>\n'
            for p in folder.glob("*.whl")
        )
        (folder / "index.html").write_text(f"<!DOCTYPE html>\n<html><body>{''.join(links)}</body>")
        return path


def wheel(
    folder: Path,
    name: str,
    version: str,
    content: str,
    tag: str = "py3-none-any",
    requires: str = "",
) -> Path:
    """A package of one module."""
    path, about = folder / f"{name}-{version}-{tag}.whl", f"{name}-{version}.dist-info"
    with ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", content)
        facts = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}"
        file.writestr(f"{about}/METADATA", facts)
        file.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        file.writestr(f"{about}/RECORD", "")
    return path


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def pypi(tmp_path: Path) -> Iterator[Index]:
    index = Index(tmp_path / "pypi")
    yield index
    index.server.shutdown()
    index.server.server_close()


@pytest.fixture
def builds(tmp_path: Path) -> Iterator[Index]:
    """In the place of PyTorch's own index."""
    index = Index(tmp_path / "builds")
    yield index
    index.server.shutdown()
    index.server.server_close()


@pytest.fixture
def project(tmp_path: Path, pypi: Index, builds: Index, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pins of two packages that the indexes have; torch's is on both."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "requirements.txt").write_text("# Ours\ntorch==2.13.0\n\ntiny==1.0\n")
    (root / "requirements-cuda.txt").write_text('cuda==1.0; sys_platform == "linux"\n')
    (root / "pyproject.toml").write_text("")
    for name, version in (
        ("torch", "2.13.0"),
        ("torch", "2.12.0"),
        ("tiny", "1.0"),
        ("cuda", "1.0"),
    ):
        pypi.offer(name, version, f"origin = 'PyPI {version}'")
    pypi.offer("tiny", "1.0", "origin = 'for others'", tag="py3-none-win_amd64")
    builds.offer("torch", "2.13.0+cpu", "origin = 'builds'")
    monkeypatch.setattr(pins, "ROOT", root)
    return root


def renew(pypi: Index, builds: Index, *more: str) -> int:
    return main(["--index", pypi.url, "--torch-index", builds.url, *more])


def hashes(root: Path, name: str) -> set[str]:
    lines = read_pins((root / "requirements.txt").read_text())
    return next(found for line, found in lines if line.startswith(name))


def test_one_command_writes_the_hashes_of_both_indexes(project, pypi, builds, capsys) -> None:
    assert renew(pypi, builds) == 0
    torch = {
        sha(path) for path in (*pypi.folder.glob("torch/*2.13*"), *builds.folder.glob("*/*.whl"))
    }
    assert (len(torch), hashes(project, "torch")) == (2, torch)
    assert hashes(project, "tiny") == {sha(pypi.folder / "tiny/tiny-1.0-py3-none-any.whl")}
    text = (project / "requirements.txt").read_text()
    assert re.sub(r" \\\n    --hash=sha256:[0-9a-f]{64}", "", text) == (
        "# Ours\ntorch==2.13.0\n\ntiny==1.0\n"
    )
    assert capsys.readouterr().out.startswith("requirements.txt: 2 versions, 3 wheels\n")
    assert renew(pypi, builds) == 0
    assert (project / "requirements.txt").read_text() == text


def test_where_pytorchs_index_cannot_be_reached_its_hashes_stay(
    project, pypi, builds, capsys
) -> None:
    renew(pypi, builds)
    before = hashes(project, "torch")
    (builds.folder / "torch/index.html").unlink()
    (builds.folder / "torch").rename(builds.folder / "gone")
    capsys.readouterr()
    assert renew(pypi, builds) == 0
    assert hashes(project, "torch") == before
    assert "the hashes of its builds stay as they are" in capsys.readouterr().out
    text = (project / "requirements.txt").read_text()
    (project / "requirements.txt").write_text(text.replace("torch==2.13.0", "torch==2.12.0"))
    assert renew(pypi, builds) == 0
    assert hashes(project, "torch") == {sha(pypi.folder / "torch/torch-2.12.0-py3-none-any.whl")}
    assert "are missing for torch==2.12.0" in capsys.readouterr().out


def test_a_file_of_this_machine_is_added_to_its_package(project, pypi, builds, tmp_path) -> None:
    built = wheel(tmp_path, "torch", "2.13.0+mine", "")
    other = wheel(tmp_path, "torch", "2.11.0+mine", "")
    assert renew(pypi, builds, str(built), str(other)) == 0
    assert sha(built) in hashes(project, "torch")
    assert sha(other) not in hashes(project, "torch")
    assert sha(built) not in hashes(project, "tiny")


@pytest.mark.parametrize(
    ("pin", "sentence"),
    [
        ("tiny==9.0", "PyPI has no wheel of tiny==9.0 for us; pin a version that has one"),
        ("unheard==1.0", "did not answer for unheard==1.0: HTTP Error 404"),
    ],
)
def test_a_version_that_cannot_be_pinned_leaves_all_files_as_they_are(
    project, pypi, builds, capsys, pin: str, sentence: str
) -> None:
    with (project / "requirements.txt").open("a") as file:
        file.write(f"{pin}\n")
    before = [(project / name).read_text() for name in pins.FILES]
    assert renew(pypi, builds) == 1
    assert f"Nothing is changed. {sentence}"[20:] in capsys.readouterr().err
    assert [(project / name).read_text() for name in pins.FILES] == before


@pytest.fixture
def pinned(project: Path, pypi: Index, builds: Index, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with its hashes, and a real pip that knows these two indexes alone."""
    assert renew(pypi, builds) == 0
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    settings = {
        "CONFIG_FILE": os.devnull,
        "INDEX_URL": pypi.url,
        "NO_CACHE_DIR": "1",
        "RETRIES": "0",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("TORCH_INDEX_URL", builds.url)

    def create(folder: Path) -> None:
        """An environment with the pip that runs the tests, which is made in no time."""
        venv.create(folder, clear=True, with_pip=False, symlinks=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        (packages / "pip").symlink_to(Path(pip.__file__).parent)

    monkeypatch.setattr(environment, "create", create)
    create(project / ".venv")
    pypi.asked.clear()
    builds.asked.clear()
    return project


def origin(root: Path, name: str) -> str:
    """Where the module that is installed says that it comes from."""
    program = f"import {name}; print({name}.origin)"
    command = [str(root / ".venv/bin/python"), "-c", program]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def test_torchs_index_gives_torch_and_is_asked_for_nothing_else(pinned, pypi, builds) -> None:
    builds.offer("tiny", "1.0", "origin = 'builds'")
    install_pins(pinned)
    assert (origin(pinned, "torch"), origin(pinned, "tiny")) == ("builds", "PyPI 1.0")
    assert {path.split("/")[1] for path in builds.asked} == {"torch"}
    assert not any("/torch/" in path for path in pypi.asked)
    assert origin(pinned, "cuda") == ""


def test_without_such_an_index_pypi_has_it_all(pinned, builds, monkeypatch) -> None:
    monkeypatch.delenv("TORCH_INDEX_URL")
    install_pins(pinned)
    assert (origin(pinned, "torch"), builds.asked) == ("PyPI 2.13.0", [])


@pytest.mark.parametrize("name", ["torch", "tiny"])
def test_another_file_under_a_pinned_name_is_refused(pinned, pypi, builds, name, capsys) -> None:
    """Its index states the hash of the file that it has now: only the pin knows better."""
    index, version = (builds, "2.13.0+cpu") if name == "torch" else (pypi, "1.0")
    index.offer(name, version, "origin = 'somebody else'")
    with pytest.raises(SetupError, match="pip refused a file: its hash is not the one") as raised:
        install(pinned)
    assert "Do not install it; find out why" in str(raised.value)
    assert "DO NOT MATCH THE HASHES" in (pinned / ".venv/install.log").read_text()
    assert (origin(pinned, name), installed(pinned)) == ("", [])


def test_a_second_place_cannot_put_its_file_before_the_pinned_one(
    pinned, tmp_path, monkeypatch
) -> None:
    (tmp_path / "links").mkdir()
    wheel(tmp_path / "links", "tiny", "1.0", "origin = 'somebody else'")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    install_pins(pinned)
    assert origin(pinned, "tiny") == "PyPI 1.0"


def test_a_build_that_lies_on_this_machine_comes_first(
    pinned, pypi, builds, tmp_path, monkeypatch
) -> None:
    """pip itself would take it last: no page has stated its hash."""
    (tmp_path / "links").mkdir()
    built = wheel(tmp_path / "links", "torch", "2.13.0+mine", "origin = 'this machine'")
    assert renew(pypi, builds, str(built)) == 0
    builds.asked.clear()
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    install_pins(pinned)
    assert (origin(pinned, "torch"), builds.asked) == ("this machine", [])
    wheel(tmp_path / "links", "torch", "2.13.0+mine", "origin = 'somebody else'")
    with pytest.raises(SetupError, match="pip refused a file"):
        install(pinned)


def test_a_pin_without_its_hash_is_refused(pinned, pypi) -> None:
    pypi.offer("another", "1.0")
    with (pinned / "requirements.txt").open("a") as file:
        file.write("another==1.0\n")
    with pytest.raises(SetupError, match=r"or\nnone stands there") as raised:
        install(pinned)
    assert "python -m tools.pins writes its hashes" in str(raised.value)
    assert installed(pinned) == []


def test_what_a_pinned_package_needs_must_be_pinned_too(pinned, pypi, builds) -> None:
    pypi.offer("another", "1.0")
    pypi.offer("tiny", "1.0", requires="Requires-Dist: another\n")
    assert renew(pypi, builds) == 0
    with pytest.raises(SetupError, match="pip refused a file"):
        install(pinned)
    assert origin(pinned, "another") == ""
