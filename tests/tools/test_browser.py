"""Which Chromium the browser tests take, and what is said when there is none."""

from pathlib import Path
from subprocess import CompletedProcess

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


def test_a_browser_without_windows_is_preferred(tmp_path: Path, monkeypatch) -> None:
    """It computes a third less, which is minutes of every run."""
    shell, _ = (program(tmp_path, name, 0) for name in (browser.SHELL, "chromium"))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser, "downloaded", lambda: None)
    assert browser.find_chromium() == shell


@pytest.mark.parametrize("packaged", [{browser.SHELL, "chromium"}, {"chromium"}])
def test_older_systems_have_only_the_browser_with_windows(packaged, monkeypatch) -> None:
    commands = []

    def imitated(command: list[str], **_: object) -> CompletedProcess[bytes]:
        commands.append(command)
        known = command[:2] == ["apt-get", "update"] or command[-1] in packaged
        return CompletedProcess(command, 0 if known and "playwright" not in command else 1)

    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(browser.subprocess, "run", imitated)
    browser.install_chromium()
    assert commands[-1][-1] == (browser.SHELL if browser.SHELL in packaged else "chromium")


def test_a_firefox_that_is_too_old_is_none(tmp_path: Path, monkeypatch) -> None:
    def installed(version: int) -> None:
        path = Path(program(tmp_path, "firefox-esr", 0))
        path.write_text(f"#!/bin/sh\necho Mozilla Firefox {version}.1.0esr\n")

    installed(browser.OLDEST_FIREFOX - 1)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FIREFOX", raising=False)
    assert browser.find_firefox() is None
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000)
    with pytest.raises(browser.NoBrowserError, match="apt-get install firefox-esr"):
        browser.ensure_firefox()
    program(tmp_path, "firefox", 1)  # it does not start
    assert browser.find_firefox() is None
    elsewhere = tmp_path / "elsewhere"
    Path(tmp_path / "firefox-esr").rename(elsewhere)
    elsewhere.write_text(elsewhere.read_text().replace(str(browser.OLDEST_FIREFOX - 1), "999"))
    monkeypatch.setenv("FIREFOX", str(elsewhere))
    assert browser.find_firefox() == str(elsewhere)
    monkeypatch.delenv("FIREFOX")
    installed(browser.OLDEST_FIREFOX)
    assert browser.ensure_firefox() == str(tmp_path / "firefox-esr")


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
