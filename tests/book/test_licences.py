"""What the site is published with, and under which licences."""

import re
from pathlib import Path

from tools.site.after.licences import FOLDER, WORKS, strangers

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
STATIC = HTML / "_static"


def test_every_file_is_ours_or_has_its_notice() -> None:
    assert list(strangers(STATIC)) == []
    for work in WORKS:
        assert len((STATIC / FOLDER / work.file).read_text()) > 500


def test_no_work_is_named_that_is_not_there() -> None:
    for work in WORKS:
        assert any(list(STATIC.glob(pattern)) for pattern in work.files), work.name


def test_a_script_that_names_its_licence_file_has_it_beside_it() -> None:
    named = 0
    for path in STATIC.rglob("*.js"):
        for name in re.findall(r"license information please see (\S+\.txt)", path.read_text()):
            assert (path.parent / name).exists()
            named += 1
    assert named


def test_the_page_of_licences_leads_to_all_texts_and_every_page_to_it() -> None:
    page = (HTML / "book/licences.html").read_text()
    links = re.findall(rf'href="(\.\./_static/{FOLDER}/[^"]+)"', page)
    assert len(links) == len(WORKS)
    assert all((HTML / "book" / link).exists() for link in links)
    for path in HTML.rglob("*.html"):
        if "toctree-l1" in path.read_text():
            assert re.search(
                r'href="(?:[^"]*/)?licences\.html"|href="#"[^>]*>\s*Licences', path.read_text()
            )
