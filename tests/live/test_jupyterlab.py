"""The widgets of the book in a real JupyterLab: Python and the browser move the same object."""

import re
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.live.servers import status_of
from transformer.training import noam_rate

from transformer_book import widgets

CREATE = """\
import ipywidgets
from transformer_book.widgets import ScheduleExplorer
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
def cells() -> list[str]:
    """The code of the notebook."""
    return [CREATE, LINK, SET, ASK]


@pytest.fixture
def kernel() -> str:
    """The name of the kernel that the notebook asks for."""
    return "python3"


@pytest.fixture
def asked() -> list[str]:
    """What JupyterLab has asked in a dialog."""
    return []


@pytest.fixture
def page(
    lab,
    browser: Browser,
    cells: list[str],
    kernel: str,
    asked: list[str],
    complaints: list[str],
    request: pytest.FixtureRequest,
) -> Iterator[Page]:
    """The notebook, opened in JupyterLab; it is the test's own, and so is its kernel."""
    code = [nbformat.v4.new_code_cell(source) for source in cells]
    notebook = nbformat.v4.new_notebook(cells=code)
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel}
    name = f"{request.function.__name__}.ipynb"
    nbformat.write(notebook, lab.folder / name)
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

    def accept(dialog: Locator) -> None:
        """On a slow machine JupyterLab asks what it otherwise knows, and waits for an answer."""
        asked.append(dialog.inner_text())
        print(f"JupyterLab asked: {asked[-1]}")
        dialog.locator("button.jp-mod-accept").click()

    page.add_locator_handler(page.locator(".jp-Dialog"), accept)
    page.goto(lab.page_of(name))
    yield page
    context.close()


@pytest.fixture
def cell(page: Page) -> Callable[[int], Locator]:
    """The n-th cell of the notebook."""
    return page.locator(".jp-Notebook .jp-CodeCell").nth


def run(cell: Locator) -> None:
    """Runs one cell, as a reader does."""
    cell.locator(".cm-content, .CodeMirror").click()
    expect(cell).to_have_class(re.compile("jp-mod-active"))
    cell.locator(".cm-content, .CodeMirror textarea").press("Control+Enter")


def run_first(cell: Locator) -> None:
    """Runs a cell of a notebook whose kernel may still be starting: what it is sent till then
    is forgotten, at once or when another kernel takes its place."""
    prompt = cell.locator(".jp-InputPrompt")
    for _ in range(PATIENCE // 10_000):
        run(cell)
        try:
            expect(prompt).not_to_have_text("[ ]:", timeout=10_000)
            expect(prompt).not_to_have_text("[*]:", timeout=PATIENCE)
        except AssertionError:
            continue
        if prompt.inner_text() != "[ ]:":
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


def test_who_does_not_know_the_token_gets_no_notebook(lab):
    assert status_of(lab.address, lab.token) == 200
    assert status_of(lab.address) == 403
    assert status_of(lab.address, "guessed") == 403


class Move(NamedTuple):
    """A key on a control of a widget, and what the trait then is."""

    widget: str
    role: str
    label: str
    key: str
    trait: str
    value: object


MOVES = [
    Move("AttentionHeads(looks, kind='cross')", "radio", "cross", "ArrowLeft",
         "kind", "decoder self"),
    Move("AttentionStepper()", "slider", "width d_k", "End", "d_k", 128),
    Move("BeamExplorer(german, sentences, **marks, beam_size=4)", "slider", "beam size",
         "ArrowLeft", "beam_size", 3),
    Move("BleuExplorer()", "radio", "half of it", "Space", "candidate", "the brown dog runs"),
    Move("BrokenTranslator(german, sentences)", "combobox", "layer", "ArrowUp", "layer", 0),
    Move("BudgetExplorer()", "slider", "width d_model", "End", "d_model", 4096),
    Move("CacheExplorer()", "slider", "length of the text", "End", "length", 131_072),
    Move("ComplexityExplorer()", "slider", "width d", "End", "d", 1024),
    Move("DecoderAtWork(german, sentences)", "slider", "step", "ArrowRight", "step", 2),
    Move("LabelSmoothingExplorer()", "slider", "vocabulary size V", "End", "vocab_size", 37000),
    Move("MaskExplorer()", "slider", "sentence of the batch", "End", "sentence", 2),
    Move("MemoryExplorer(63_000_000, 480_000.0)", "slider", "memory of the device", "End",
         "memory", 32),
    Move("MergeExplorer()", "slider", "merges done", "End", "step", 15),
    Move("ParserAtWork(shipped_model('toy_parser'))", "slider", "tokens written", "Home",
         "step", 0),
    Move("PositionExplorer()", "radio", "curves", "ArrowLeft", "view", "rotation"),
    Move("RerankExplorer(shipped_model(), ['Wer war es?'])", "slider", "how much", "End",
         "weight", 0.5),
    Move("RotaryExplorer()", "slider", "distance", "End", "distance", 20),
    Move("ScheduleExplorer()", "slider", "warm-up steps", "Home", "warmup", 100),
    Move("SeedsExplorer()", "slider", "seeds n", "End", "n", 50),
    Move("SelfCheck('slider', 'Which?', spec=scale, given=1.0)", "slider", "Your guess", "End",
         "given", 2),
    Move("ShapesExplorer()", "slider", "source length", "End", "src_len", 24),
    Move("SoftmaxTemperature()", "slider", "temperature", "End", "temperature", 5.0),
    Move("TrainingPlayground(tasks=['copy', 'sort'])", "slider", "seed", "End", "seed", 10),
    Move("TreeExplorer()", "slider", "with a spoon", "End", "hangs", [3, 0]),
]  # fmt: skip
IMPORTS = """\
import random
from transformer.data.toy_german import generate
from transformer_book.shipped import shipped_model
from transformer.text import BOS_ID, EOS_ID
from transformer_book.widgets import *

german, rng = shipped_model("toy_german"), random.Random(0)
sentences = [" ".join(generate(rng).source) for _ in range(2)]
marks = {"bos_id": BOS_ID, "eos_id": EOS_ID}
found = [german.attention(sentence) for sentence in sentences]
scale = {"truth": 1, "low": 0, "high": 2, "step": 1, "unit": ""}
looks = [{n: getattr(one, n) for n in ("source", "target", "weights")} for one in found]"""
CONTROLS = "all => all.map((one) => [one.type, one.value, one.checked, one.ariaValueText])"


def test_all_widgets_are_driven():
    driven = {move.widget.partition("(")[0] for move in MOVES}
    assert driven == set(widgets.__all__)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Looks again and again; fails when it never holds."""
    end = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


class TestQuestion:
    """JupyterLab asks before a cell can run."""

    @pytest.fixture
    def cells(self) -> list[str]:
        return ["print(6 * 7)"]

    @pytest.fixture
    def kernel(self) -> str:
        return "no-such-kernel"

    def test_a_dialog_is_answered_and_the_notebook_runs(self, page, cell, asked):
        expect(cell(0)).to_be_visible(timeout=PATIENCE)
        run_first(cell(0))
        expect(cell(0).locator(".jp-OutputArea-output")).to_have_text("42", timeout=PATIENCE)
        # JupyterLab 3 takes another kernel without a question; a slow machine may be asked twice.
        assert all("kernel" in question.casefold() for question in asked)


class TestAll:
    """One notebook with a cell for each widget, one that asks for its trait, one that sets it."""

    @pytest.fixture
    def cells(self) -> list[str]:
        code = [IMPORTS]
        for n, move in enumerate(MOVES):
            name = f"w{n}.{move.trait}"
            code += [f"w{n} = {move.widget}\nbefore = {name}\nw{n}", f"print({name}, before)"]
            code += [f"{name} = before"]
        return code

    def test_each_widget_is_moved_by_the_reader_and_by_python(self, page, cell, complaints):
        expect(cell(0)).to_be_visible(timeout=PATIENCE)
        run_first(cell(0))
        for n, move in enumerate(MOVES):
            made, asked, reset = (cell(3 * n + i) for i in (1, 2, 3))
            run(made)
            widget = made.locator(".tfw").first
            control = widget.get_by_role(move.role, name=move.label).first
            expect(control).to_be_visible(timeout=PATIENCE)
            controls = widget.locator("input, select, [role=slider]")
            first = controls.evaluate_all(CONTROLS)
            control.press(move.key)
            run(asked)
            value = re.escape(str(move.value))  # a list has brackets
            told = re.compile(f"^{value} (?!{value}$)")
            answer = asked.locator(".jp-OutputArea-output")
            expect(answer).to_have_text(told, timeout=PATIENCE)
            assert controls.evaluate_all(CONTROLS) != first
            run(reset)
            wait_until(
                lambda now=controls, then=first: now.evaluate_all(CONTROLS) == then,
                f"{move.widget} does not show what Python sets",
            )
        assert complaints == []


class TestDecoder:
    """A kernel answers what the page of the book asks its own model."""

    @pytest.fixture
    def cells(self) -> list[str]:
        made = "work = DecoderAtWork(german, sentences[0], step=2)\nwork"
        return [IMPORTS, made, 'print(work.run()["given"], work.run()["silenced"], work.message)']

    def test_another_token_and_a_silenced_head_are_answered(self, page, cell, complaints):
        expect(cell(0)).to_be_visible(timeout=PATIENCE)
        run_first(cell(0))
        run(cell(1))
        widget = cell(1).locator(".tfw").first
        whole = widget.locator(".tfw-decoder-whole").first
        expect(whole).to_contain_text("Its tokens are the most probable ones", timeout=PATIENCE)
        widget.get_by_role("button", name="Take").nth(1).click()
        expect(whole).to_contain_text("Its first 2 tokens were given", timeout=PATIENCE)
        widget.get_by_text("Silence heads").click()
        widget.get_by_label("cross-attention, layer 1, head 2", exact=True).click()
        expect(whole).to_contain_text("Silenced: cross-attention, layer 1", timeout=PATIENCE)
        run(cell(2))
        answer = cell(2).locator(".jp-OutputArea-output")
        expect(answer).to_have_text("2 ['decoder.0.cross.1']", timeout=PATIENCE)
        assert complaints == []


class TestParser:
    """A kernel parses what its reader types."""

    @pytest.fixture
    def cells(self) -> list[str]:
        made = "work = ParserAtWork(shipped_model('toy_parser'))\nwork"
        return [
            IMPORTS,
            made,
            'print(*work.shown["words"], work.step == len(work.shown["tokens"]))',
        ]

    def test_a_sentence_of_ones_own_gets_its_tree(self, page, cell, complaints):
        expect(cell(0)).to_be_visible(timeout=PATIENCE)
        run_first(cell(0))
        run(cell(1))
        widget = cell(1).locator(".tfw").first
        field = widget.get_by_label("Your own sentence")
        expect(field).to_be_visible(timeout=PATIENCE)
        field.fill("they saw us .")
        field.press("Enter")
        expect(widget.get_by_text("Nobody has drawn the true tree")).to_be_visible(timeout=PATIENCE)
        expect(widget.locator("rect")).to_have_count(4)
        run(cell(2))
        answer = cell(2).locator(".jp-OutputArea-output")
        expect(answer).to_have_text("they saw us . True", timeout=PATIENCE)
        assert complaints == []
