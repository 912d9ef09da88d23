"""What README and CONTRIBUTING promise."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "LICENSE-TEXT.md"]


def test_examples_of_the_readme_run() -> None:
    example, *others = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    for other in others:
        exec(other, {})
    names: dict[str, object] = {}
    exec(example, names)
    shapes = re.findall(r"attention\[\"(.*?)\"\]\.shape\s+# \((.*?)\)", example)
    assert shapes
    for key, shape in shapes:
        weights = names["attention"][key]  # type: ignore[index]
        assert ", ".join(map(str, weights.shape)) == shape


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_to_files_of_the_repository_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / document).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS[:2])
def test_targets_named_in_the_text_are_in_the_makefile(document: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)", (ROOT / document).read_text()))
    assert named
    assert named <= targets
