"""Formulas in running text, in columns a little too narrow for them and a little too wide."""

from pathlib import Path

from playwright.sync_api import Browser

from tests.helpers.axe import AXE

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
FORMULA = '<span class="math"><math><mn>{}</mn></math></span>'
COLUMN = '<p style="margin: 0; width: {}px">Read {}.</p>'
PAGE = """<!doctype html><html lang="en"><title>Formulas</title>
<style>{style}</style><main><h1>Formulas</h1>{columns}</main><script>{script}</script>"""
LOOK = """() => [...document.querySelectorAll("span.math")].map((formula) => ({
  over: formula.firstElementChild.getBoundingClientRect().width -
    formula.closest("p").getBoundingClientRect().width,
  wide: formula.matches(".wide"), reached: formula.tabIndex === 0,
}))"""


def test_a_formula_that_scrolls_is_reached_by_keyboard(browser: Browser) -> None:
    """Also where less than a pixel is missing, which a box's rounded sizes do not show."""
    page = browser.new_page()
    formula = FORMULA.format("8" * 30)
    style = (STATIC / "book.css").read_text(encoding="utf-8")
    script = (STATIC / "book.js").read_text(encoding="utf-8")
    page.set_content(PAGE.format(style=style, columns=f"<p>{formula}", script=""))
    width = page.evaluate("document.querySelector('math').getBoundingClientRect().width")
    columns = [COLUMN.format(width + n / 8, formula) for n in range(-24, 25)]
    page.set_content(PAGE.format(style=style, columns="".join(columns), script=script))
    page.wait_for_selector("span.math.wide")
    looks = page.evaluate(LOOK)
    assert len(looks) == len(columns)
    for look in looks:
        assert look["wide"] == look["reached"]
        if look["over"] > 2:
            assert look["wide"], f"{look['over']} pixels stick out"
        if look["over"] < 0:
            assert not look["wide"], "it has room, and can be reached for nothing"
    page.evaluate(AXE)
    rule = "{runOnly: ['scrollable-region-focusable']}"
    found = page.evaluate(f"axe.run(document, {rule})")["violations"]
    assert [node["html"] for each in found for node in each["nodes"]] == []
    page.close()
