"""What is wider than its column: formulas in running text, and boxes that scroll."""

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


BOX = """<div class="cell_output"><div class="rows output stream" style="width: {}px">
<pre>base   27.3 BLEU
 big   28.4 BLEU</pre></div></div>"""


def test_an_edge_fades_behind_which_a_box_goes_on(browser: Browser) -> None:
    """Until the box has been scrolled there; one that has room for all has no such edge."""
    page = browser.new_page()
    style, script = (
        (STATIC / name).read_text(encoding="utf-8") for name in ("book.css", "book.js")
    )
    columns = BOX.format(90) + BOX.format(600)
    page.set_content(PAGE.format(style=style, columns=columns, script=script))
    narrow, roomy = page.locator("pre").all()
    page.wait_for_selector(".goes-on-right")
    fading = "box => [box.className, getComputedStyle(box).maskImage !== 'none']"
    assert narrow.evaluate(fading) == ["goes-on-right", True]
    assert narrow.evaluate("box => box.innerText.trimEnd().split('\\n').length") == 2
    assert narrow.bounding_box()["height"] == roomy.bounding_box()["height"]  # no row is broken
    narrow.evaluate("box => box.scrollTo(5, 0)")
    page.wait_for_selector(".goes-on-right.goes-on-left")
    narrow.evaluate("box => box.scrollTo(1000, 0)")
    page.wait_for_selector(".goes-on-left:not(.goes-on-right)")
    assert roomy.evaluate(fading) == ["", False]
    narrow.focus()
    page.keyboard.press("ArrowRight")
    assert narrow.evaluate(fading)[1] is False  # the ring around it is whole
    page.close()


def test_the_links_that_skip_stand_apart(browser: Browser) -> None:
    """Whatever the width of the window."""
    page = browser.new_page()
    style = (STATIC / "book.css").read_text(encoding="utf-8")
    links = '<div id="pst-skip-link"><a href="#a">Skip one</a><a href="#b">Skip two</a></div>'
    page.set_content(PAGE.format(style=style, columns=links, script=""))
    one, two = (link.bounding_box() for link in page.locator("a").all())
    assert one["x"] + one["width"] + 16 < two["x"]
    page.close()
