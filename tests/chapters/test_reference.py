"""The example of each page of the reference runs as it stands there."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

PAGES = sorted(Path(__file__).resolve().parents[2].glob("book/reference/*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_runs(page: Path) -> None:
    blocks = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    (example,) = (block.content for block in blocks if block.info == "python")
    exec(compile(example, str(page), "exec"), {})
