"""Which Chromium the browser tests take, and what is said when there is none."""

from pathlib import Path

import pytest

from tools import browser


def program(folder: Path, name: str, code: int) -> str:
    """A program that ends with an exit code."""
    path = folder / name
    path.write_text(f"#!/bin/sh\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


def test_named_browser_comes_first(tmp_path: Path, monkeypatch) -> None:
    named = program(tmp_path, "mine", 0)
    monkeypatch.setenv("CHROMIUM", named)
    assert browser.find_chromium() == named


def test_named_browser_that_does_not_start_is_an_error(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CHROMIUM", program(tmp_path, "broken", 1))
    with pytest.raises(browser.NoBrowserError, match="does not start"):
        browser.find_chromium()


def test_stub_on_the_path_is_passed_over(tmp_path: Path, monkeypatch) -> None:
    stub, real = program(tmp_path, "chromium", 1), program(tmp_path, "google-chrome", 0)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(browser, "candidates", lambda: iter([stub, real]))
    assert browser.find_chromium() == real


def test_no_browser_says_how_to_get_one(monkeypatch) -> None:
    monkeypatch.setattr(browser, "find_chromium", lambda: None)
    monkeypatch.setattr(browser, "install_chromium", lambda: None)
    with pytest.raises(browser.NoBrowserError, match="apt-get install chromium"):
        browser.ensure_chromium()
