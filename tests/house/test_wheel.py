"""What the wheel holds: both packages, what its chapters read, and for each file its licence."""

import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tools.site.keys import files_under

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
INCLUDED = {
    "transformer": "transformer",
    "transformer_book": "transformer_book",
    "book/results": "transformer_book/book/results",
    "book/models": "transformer_book/book/models",
}
TERMS = re.findall(r"^\| `(.*?)` \| (.*?) \|$", (ROOT / "LICENSE-TEXT.md").read_text(), re.M)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The package as pip builds it from this folder."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*command, "--directory", str(folder)], cwd=ROOT, check=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def facts(wheel: zipfile.ZipFile) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


def licence_of(name: str) -> str:
    """What LICENSE-TEXT.md says of a file of the package."""
    return next((terms for files, terms in reversed(TERMS) if fnmatch(name, files)), "")


def parts(expression: str) -> set[str]:
    return set(expression.split(" AND "))


def test_it_holds_both_packages_and_what_the_chapters_read_and_nothing_else(wheel) -> None:
    expected = {
        f"{inside}/{path.relative_to(ROOT / folder)}"
        for folder, inside in INCLUDED.items()
        for path in files_under(ROOT / folder)
    }
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected
    assert {Path(name).suffix for name in expected} <= {
        *(".py", ".typed", ".js", ".css", ".wat", ".json", ".md", ".safetensors", ".tsv")
    }


def test_every_file_has_a_licence_and_the_metadata_name_them_all(wheel) -> None:
    licences = {name: licence_of(name) for name in wheel.namelist() if ".dist-info/" not in name}
    assert [name for name, licence in licences.items() if not licence] == []
    stated = parts(facts(wheel)["License-Expression"])
    assert set().union(*map(parts, licences.values())) == stated
    assert stated == {"MIT", "CC-BY-4.0"}


def test_no_line_about_licences_is_about_nothing(wheel) -> None:
    for files, terms in TERMS:
        assert any(fnmatch(name, files) and licence_of(name) == terms for name in wheel.namelist())


def test_the_texts_of_the_licences_are_inside(wheel) -> None:
    found = facts(wheel).get_all("License-File")
    assert set(found) == {"LICENSE", "LICENSE-TEXT.md", "book/models/LICENSE-everyday.md"}
    for name in found:
        (inside,) = [n for n in wheel.namelist() if n.endswith(f".dist-info/licenses/{name}")]
        assert wheel.read(inside) == (ROOT / name).read_bytes()


def test_no_weights_of_others_text_are_under_the_licence_of_the_code(wheel) -> None:
    weights = [name for name in wheel.namelist() if name.endswith(".safetensors")]
    assert len(weights) >= 2
    for name in weights:
        card = wheel.read(str(Path(name).with_name("README.md"))).decode()
        ours = "grammar of our own" in card
        free = "Tatoeba (CC BY 2.0 FR" in " ".join(card.split())
        assert ours or free
        assert licence_of(name) == ("MIT" if ours else "CC-BY-4.0")


def test_no_file_keeps_anybody_from_using_it_commercially(wheel) -> None:
    texts = [n for n in wheel.namelist() if not n.endswith((".safetensors", ".wat"))]
    assert len(texts) > 100
    refused = re.compile(
        r"non-?commercial|not (?:for )?commercial|BY-NC|LicenseRef-", re.IGNORECASE
    )
    said = {name: refused.findall(wheel.read(name).decode()) for name in texts}
    assert {name: words for name, words in said.items() if words} == {}
