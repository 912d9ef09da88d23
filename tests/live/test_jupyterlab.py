"""A widget of the book in a real JupyterLab: Python and the browser move the same object."""

import re
from collections.abc import Callable, Iterator

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from transformer.training import noam_rate

CREATE = """\
import ipywidgets
from transformer.widgets import ScheduleExplorer
explorer = ScheduleExplorer(kept=[])
heard = []
explorer.observe(lambda change: heard.append(change["new"]), "warmup")
explorer"""
LINK = """\
model = ipywidgets.ToggleButtons(options={"base": 512, "big": 1024})
ipywidgets.link((model, "value"), (explorer, "d_model"))
model"""
SET = "explorer.warmup = 8000"
ASK = 'print(f"{explorer.d_model=} {explorer.warmup=} {heard=}")'
CREATED, LINKED, SETTING, ASKING = range(4)
PATIENCE = 180_000  # milliseconds; a kernel that loads torch on a busy machine is slow

pytestmark = pytest.mark.slow


@pytest.fixture
def complaints() -> list[str]:
    """What the browser had to complain about."""
    return []


@pytest.fixture
def page(lab, browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """The notebook, opened in JupyterLab."""
    cells = [nbformat.v4.new_code_cell(source) for source in (CREATE, LINK, SET, ASK)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.folder / "live.ipynb")
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda r: (
            None
            if r.url.startswith((lab.address, "data:", "blob:"))
            else complaints.append(f"request to {r.url}")
        ),
    )
    page.goto(f"{lab.address}/lab/tree/live.ipynb")
    yield page
    context.close()


@pytest.fixture
def cell(page: Page) -> Callable[[int], Locator]:
    """The n-th cell of the notebook."""
    return page.locator(".jp-Notebook .jp-CodeCell").nth


def run(cell: Locator) -> None:
    """Runs one cell, as a reader does."""
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+Enter")


def run_first(cell: Locator) -> None:
    """Runs a cell of a notebook whose kernel may still be starting: till then nothing would run."""
    for _ in range(PATIENCE // 10_000):
        run(cell)
        try:
            expect(cell.locator(".jp-InputPrompt")).not_to_have_text("[ ]:", timeout=10_000)
        except AssertionError:
            continue
        return
    pytest.fail("the notebook's first cell does not run: JupyterLab's kernel did not start")


def rates_shown(widget: Locator) -> list[float]:
    """The rates that the read-out names."""
    text = widget.locator(".tfw-readout").inner_text()
    return [float(n.replace("−", "-")) for n in re.findall(r": ([\d.]+(?:e−?\d+)?)[;.]", text)]


def test_python_and_the_browser_move_the_same_widget(page, cell, complaints):
    expect(cell(ASKING)).to_be_visible(timeout=PATIENCE)
    run_first(cell(CREATED))
    for later in (LINKED, SETTING, ASKING):
        run(cell(later))
    answer = cell(ASKING).locator(".jp-OutputArea-output")
    expect(answer).to_have_text(
        "explorer.d_model=512 explorer.warmup=8000 heard=[8000]", timeout=PATIENCE
    )

    # What the third cell set is shown, and the number beside it is the module's.
    widget = cell(CREATED).locator(".tfw")
    warmup, width = widget.get_by_label("warm-up steps"), widget.get_by_label("width d_model")
    expect(warmup).to_have_attribute("aria-valuetext", "8,000", timeout=PATIENCE)
    expect(widget.locator(".tfw-readout")).to_contain_text("warm-up 8,000")
    assert rates_shown(widget) == pytest.approx([noam_rate(4000, 512, 8000)], rel=0.005)

    # What the reader moves arrives in Python, and observers hear of it.
    warmup.press("Home")
    expect(warmup).to_have_attribute("aria-valuetext", "100")
    run(cell(ASKING))
    expect(answer).to_have_text("explorer.d_model=512 explorer.warmup=100 heard=[8000, 100]")

    # Python moves it again, later.
    run(cell(SETTING))
    expect(warmup).to_have_attribute("aria-valuetext", "8,000")

    # A control of ipywidgets and the widget's own slider are linked, both ways.
    buttons = cell(LINKED).locator(".jp-OutputArea-output")
    buttons.get_by_role("button", name="big").click()
    expect(width).to_have_attribute("aria-valuetext", "1024")
    expect(widget.locator(".tfw-readout")).to_contain_text("width 1,024")
    assert rates_shown(widget) == pytest.approx([noam_rate(4000, 1024, 8000)], rel=0.005)
    width.press("ArrowLeft")  # which JupyterLab would take for a step to another cell
    expect(width).to_have_attribute("aria-valuetext", "512")
    expect(buttons.get_by_role("button", name="base")).to_have_class(re.compile("mod-active"))
    run(cell(ASKING))
    expect(answer).to_have_text("explorer.d_model=512 explorer.warmup=8000 heard=[8000, 100, 8000]")

    assert complaints == []
