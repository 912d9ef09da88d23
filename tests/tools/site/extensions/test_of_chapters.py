"""What a page says of all chapters, on a site that Sphinx builds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]
SETTINGS = """
extensions = ["myst_nb"]
extensions += [f"tools.site.extensions.{n}" for n in ("slide_marks", "of_chapters")]
nb_execution_mode = "off"
html_theme = "basic"
"""
CHAPTER = """\
---
paper: "{paper}"
---
(chapter-{name})=
# The {name} *chapter*

% slide: One
% minutes: {minutes}
% say: Words.

Text.
"""
FACTS = """\
# Facts

- {covered}`3.2`
- {covered}`Figure 2`
- {covered}`Table 3`

{minutes}`chapter-first`, {minutes}`chapter-first chapter-second`
"""
INDEX = "# Book\n\n```{toctree}\nfirst\nsecond\nfacts\n```\n"


def build(folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """Builds the site, with some of its files changed."""
    texts = {
        "index": INDEX,
        "facts": FACTS,
        "first": CHAPTER.format(name="first", paper="3.2, Figures 2 to 3", minutes="2.5"),
        "second": CHAPTER.format(name="second", paper="3.2, Table 3 row (E)", minutes="3"),
    }
    files = {folder / f"{name}.md": text for name, text in (texts | changed).items()}
    for path, text in (files | {folder / "conf.py": SETTINGS}).items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", str(folder)]
    command += [str(folder / "html")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_page_leads_to_the_chapters_and_has_their_minutes(tmp_path: Path) -> None:
    facts = FACTS + "\n{covered}`Figure 3`\n"
    done = build(tmp_path, facts=facts)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html/facts.html").read_text()
    first, second = (
        f'<a class="reference internal" href="{name}.html">'
        f'<span class="std std-ref">The {name} <em>chapter</em>'
        for name in ("first", "second")
    )
    items = re.findall(r"<li><p>(.*?)</p></li>", page)
    assert [re.sub(r"</span></a>", "", item) for item in items] == [
        f"{first} · {second}", first, second
    ]  # fmt: skip
    assert "<p>2.5, 5.5</p>" in page
    # A chapter that changes changes this page, which nobody has touched.
    longer = CHAPTER.format(name="second", paper="Table 3", minutes="4")
    assert build(tmp_path, facts=facts, second=longer).returncode == 0
    page = (tmp_path / "html/facts.html").read_text()
    assert "<p>2.5, 6.5</p>" in page and f"<li><p>{first}</span></a></p></li>" in page


def test_what_nobody_answers_or_asks_for_fails_the_build(tmp_path: Path) -> None:
    asked = "{covered}`7` {minutes}`chapter-third` {minutes}`genindex`\n"
    done = build(tmp_path, facts=FACTS + asked)
    assert done.returncode != 0
    for sentence in (
        "facts.md:7: WARNING: no chapter covers 7",
        "WARNING: there is no chapter with slides called chapter-third",
        "WARNING: there is no chapter with slides called genindex",
        "first covers Figure 3, which this page lacks",
    ):
        assert sentence in done.stderr
