"""Whose the published files are, and that the texts of their licences are published with them."""

from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sphinx.errors import ExtensionError

from tools.site.after import licences
from tools.site.after.licences import OURS, WORKS, Work, publish, strangers, text_of
from tools.site.pages import Site

APP: Any = None  # which the step takes as all do, and does not ask
GRANTS = {
    "MIT": "Permission is hereby granted, free of charge, to any person obtaining a copy",
    "BSD": "Redistribution and use in source and binary forms",
    "OFL": "SIL OPEN FONT LICENSE",
    "CC-": "creativecommons.org/licenses/by/4.0",
}


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.file)
def test_the_text_of_a_licence_is_whole(work: Work) -> None:
    text = " ".join(text_of(work).split())
    assert "Copyright" in text
    for licence in work.licence.split(" AND "):
        assert GRANTS[licence[:3]] in text
    assert "AS IS" in text


def test_each_work_has_a_file_of_its_own() -> None:
    assert len({work.file for work in WORKS}) == len(WORKS)


def test_a_package_without_its_licence_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "files", lambda name: [])
    with pytest.raises(ExtensionError, match="the package Sphinx brings no licence"):
        text_of(WORKS[0])


def site(folder: Path, *more: str) -> Site:
    """What a build leaves: every file that is named, by a name that fits."""
    for pattern in (*OURS, *(pattern for work in WORKS for pattern in work.files), *more):
        path = folder / "_static" / pattern.replace("*", "x")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return Site(folder)


def test_the_texts_are_put_beside_the_pages(tmp_path: Path) -> None:
    publish(APP, site(tmp_path))
    for work in WORKS:
        assert (tmp_path / "_static/licences" / work.file).read_text() == text_of(work)


def test_a_file_of_which_nobody_has_said_whose_it_is_ends_the_build(tmp_path: Path) -> None:
    built = site(tmp_path, "scripts/jquery.js")
    assert list(strangers(tmp_path / "_static")) == ["scripts/jquery.js"]
    with pytest.raises(ExtensionError, match=r"whose are scripts/jquery\.js\? Name them in tools/"):
        publish(APP, built)


def test_the_list_leads_from_its_page_to_the_texts() -> None:
    env = SimpleNamespace(docname="book/licences")
    document = SimpleNamespace(settings=SimpleNamespace(env=env))
    directive = licences.Licences.__new__(licences.Licences)
    directive.state = SimpleNamespace(document=document)
    (node,) = directive.run()
    for work in WORKS:
        assert f'<li><a href="../_static/licences/{work.file}">' in node.astext()
