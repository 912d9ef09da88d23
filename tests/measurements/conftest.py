"""A clean clone, and a page for widgets, for what measures."""

from collections.abc import Iterator

import pytest

import measurements.__main__ as command

from transformer_book.page.widget_pages import WidgetSite, widget_site


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is recorded comes from a commit, whatever the tree of these tests is like."""
    origin = command.provenance
    monkeypatch.setattr(
        command, "provenance", lambda device: origin(device) | {"commit": "abc1234"}
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WidgetSite]:
    """The front ends, served as a built book has them."""
    with widget_site(tmp_path_factory.mktemp("site")) as served:
        yield served
