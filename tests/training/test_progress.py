"""The progress line: in a terminal, in a notebook, and nowhere."""

import IPython.display
import pytest

from transformer.training import progress as module
from transformer.training.progress import (
    NotebookProgress,
    Progress,
    TerminalProgress,
    progress,
)


class Page:
    """Stands for a notebook's page: the first display and its later versions."""

    def __init__(self):
        self.versions = []

    def display(self, data, raw, display_id):
        assert raw and display_id
        self.versions.append(data)
        return self

    def update(self, data, raw):
        assert raw
        self.versions.append(data)


@pytest.fixture
def page(monkeypatch):
    page = Page()
    monkeypatch.setattr(module, "_in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", page.display)
    return page


def test_the_place_decides_the_kind(page, monkeypatch):
    assert isinstance(progress(10), NotebookProgress)
    assert type(progress(10, show=False)) is Progress
    monkeypatch.setattr(module, "_in_notebook", lambda: False)
    bar = progress(10)
    assert isinstance(bar, TerminalProgress)
    bar.close()


def test_without_a_kernel_it_is_no_notebook():
    assert module._in_notebook() is False


def test_hidden_it_prints_nothing(capfd):
    bar = progress(3, show=False)
    bar.update("loss 1.0")
    bar.close()
    assert capfd.readouterr() == ("", "")
    assert bar.step == 1


def test_a_terminal_sees_steps_and_facts_on_standard_error(capfd):
    bar = TerminalProgress(10, 4)
    for _ in range(6):
        bar.update("loss 1.234")
    bar.close()
    out, err = capfd.readouterr()
    assert out == ""
    assert "10/10" in err
    assert "loss 1.234" in err


def test_a_notebook_keeps_one_output_that_ends_in_the_last_state(page, capfd):
    bar = NotebookProgress(2000, 500)
    for i in range(1500):
        bar.update(f"loss {i}")
    bar.close()
    last = page.versions[-1]
    assert "step 2,000 of 2,000" in last["text/plain"]
    assert "loss 1499" in last["text/plain"]
    assert 'max="2000" value="2000"' in last["text/html"]
    assert len(page.versions) < 100  # not one a step
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_facts_as_text_not_as_markup(page):
    bar = NotebookProgress(1, 0)
    bar.update("loss <b>1</b>")
    bar.close()
    assert "&lt;b&gt;1&lt;/b&gt;" in page.versions[-1]["text/html"]
