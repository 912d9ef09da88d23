"""What every widget keeps to, whatever it shows.

The widgets are those that `transformer_book.widgets` offers, the controls those on their pages: no
list names either. A control works where all that is seen of the widget (traits, markup, fields,
dots of its canvases) is the same after a key, a mouse and a finger, and after Python has set the
traits, which Python allows.
"""

import functools
import json
import re
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import pytest

from tests.transformer_book.widgets.broken_examples import DOG, MAN, bench, translator
from tests.transformer_book.widgets.decoder_examples import OTHER, TOY, decoder
from tests.transformer_book.widgets.heads_examples import made
from tests.transformer_book.widgets.rerank_examples import explorer as reranked
from transformer.text import BOS_ID, EOS_ID

from transformer_book import widgets
from transformer_book.page.model_scripts import page_model
from transformer_book.widgets.self_check import predict
from transformer_book.widgets.static_page import element_of_widget

# Those that show something of a model's, or of an author's, are nothing without it.
GIVEN: dict[str, Callable[[], Any]] = {
    "AttentionHeads": lambda: widgets.AttentionHeads([made(), made(6, 3, seed=1)], kind="cross"),
    "BeamExplorer": lambda: widgets.BeamExplorer(  # with some that are finished, for alpha to rank
        translator(), [MAN, DOG], bos_id=BOS_ID, eos_id=EOS_ID, step=8
    ),
    "BrokenTranslator": bench,
    "DecoderAtWork": lambda: decoder([TOY, OTHER]),
    "MemoryExplorer": lambda: widgets.MemoryExplorer(63_000_000, 480_000.0),
    "ParserAtWork": lambda: widgets.ParserAtWork(translator("toy_parser")),
    "RerankExplorer": reranked,
    "SelfCheck": lambda: predict("How much?", 0.62, low=0, high=1, why="So it is."),
    "SoftmaxTemperature": lambda: widgets.SoftmaxTemperature(scores=[("a", 2.0), ("b", 0.0)]),
}
# Of many buttons that are alike, the first and the last.
CONTROLS = """(place) => [...place.querySelectorAll(
  "input[type=range], input[type=radio], input[type=checkbox], select, button, " +
  "[role=slider], [role=application]"
)].filter((one, _, all) => {
  const kind = ({ tagName, className, parentElement }) =>
    tagName + className + parentElement.className;
  const alike = all.filter((each) => kind(each) === kind(one));
  return one.tagName !== "BUTTON" || alike.length < 4 || [alike[0], alike.at(-1)].includes(one);
}).map((one, n) => {
  one.dataset.control = n;
  return [one.type || one.getAttribute("role"), n];
})"""
SEEN = """async (place) => {
  for (let before = ""; before !== place.innerHTML || place.querySelector("[aria-busy=true]");) {
    before = place.innerHTML;
    for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame);
  }
  const fields = [...place.querySelectorAll("input, select")].map((f) => [f.value, f.checked]);
  const dots = [...place.querySelectorAll("canvas")].map(({ width, height }, n) => {
    const context = new OffscreenCanvas(width || 1, height || 1)
      .getContext("2d", { willReadFrequently: true });
    if (width && height) context.drawImage(place.querySelectorAll("canvas")[n], 0, 0);
    const { data } = context.getImageData(0, 0, width || 1, height || 1);
    return new Uint32Array(data.buffer).reduce((sum, dot) => (31 * sum + dot) % 4294967291, 7);
  });
  const traits = { ...place.model.state, packed: 0 };
  return JSON.stringify({ traits, fields, dots, markup: place.innerHTML }); // for speed one string
}"""
BESIDE_SLIDERS = """(place) => {
  const rest = place.cloneNode(true);
  const [all, copies] = [place, rest].map((one) => [...one.querySelectorAll("*")]);
  all.forEach((one, n) => one.checkVisibility() || copies[n].remove()); // nobody sees it move
  for (const one of rest.querySelectorAll("input[type=range], [role=slider]"))
    (one.matches("input") ? one.parentElement : one).remove();
  return rest.innerHTML;
}"""
OPEN = """(place) => {
  for (const one of place.querySelectorAll("details:not([open])")) one.firstChild.click();
}"""
SET = """async (place, text) => {
  const traits = JSON.parse(text);
  for (let i = 0; i < 2; i += 1) // what one of them has cut off, the next round brings back
    for (const [name, value] of Object.entries(traits))
      if (name !== "packed" && JSON.stringify(place.model.get(name)) !== JSON.stringify(value))
        place.model.set(name, value);
  // A button that is allowed again is so from the next frame on.
  for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame);
}"""
FOCUSED = """() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return [document.activeElement.tagName, outlineStyle !== "none" && outlineWidth !== "0px"];
}"""
FRESH = re.compile(r"tfw-([\w-]+?)-\d+-\w{6}")  # a name that is given once


def make(name: str) -> Any:
    """The widget, as a chapter begins with it."""
    return GIVEN.get(name, getattr(widgets, name))()


def trait_of(one: Any, attribute: str) -> str:
    """The trait that a control is named after."""
    return str(FRESH.sub(r"\1", one.get_attribute(attribute)))


def without_fresh_names(markup: str) -> str:
    """Markup that is the same whenever what it shows is the same."""
    names: dict[str, str] = {}
    renamed = FRESH.sub(lambda m: names.setdefault(m[0], f"{m[1]}-{len(names)}"), markup)
    return renamed.replace(' class=""', "")


class Moved:
    """A widget on a page, whose controls are moved, each from the same state."""

    def __init__(self, widget: Any, shown: Any, fingers: bool) -> None:
        self.widget, self.shown, self.page, self.place = widget, shown, shown.page, shown.widget
        self.fingers = fingers
        self.place.evaluate(OPEN)
        kinds = {"select-one": "select", "submit": "button"}
        controls = self.place.evaluate(CONTROLS)
        self.left = {n: getattr(self, kinds.get(kind, kind)) for kind, n in controls}
        self.first = self.start = self.seen()
        self.states = [self.start["traits"]]
        self.changed: set[str] = set()

    def seen(self) -> dict[str, Any]:
        """All that the page shows, and its state."""
        found: dict[str, Any] = json.loads(self.place.evaluate(SEEN))
        found["markup"] = without_fresh_names(found["markup"]).split("<")
        return found

    def set(self, traits: dict[str, Any]) -> None:
        """As Python would."""
        self.place.evaluate(SET, json.dumps(traits))

    def will_be(self, expected: dict[str, Any]) -> None:
        """Waits, but not long: a busy browser tells later what a finger has done."""
        for _ in range(20):
            if (found := self.seen()) == expected:
                return
        for name, value in expected.items():
            assert found[name] == value

    def same(self, *acts: Callable[[], object]) -> dict[str, Any]:
        """What each of the acts leads to from the same beginning; Python too, and allows it."""
        self.set(self.start["traits"])
        acts[0]()
        found = self.seen()
        traits = found["traits"]
        for act in (*acts[1:], lambda: self.set(traits)):
            self.set(self.start["traits"])
            act()
            self.will_be(found)
        self.changed |= {name for name in traits if traits[name] != self.states[0][name]}
        with self.widget.hold_trait_notifications():
            for name in self.changed:
                setattr(self.widget, name, traits[name])
        self.states.append(traits)
        return found

    def move_all(self) -> None:
        """Moves every control, in a state in which it is there and may be moved."""
        for state in self.states:  # which grow as others are reached
            for n, move in [*self.left.items()]:
                self.set(state)
                self.start = self.seen()
                one = self.page.locator(f'[data-control="{n}"]')
                if one.is_visible() and one.is_enabled():
                    move(one)
                    del self.left[n]

    def tap(self, one: Any) -> Callable[..., object]:
        """By finger, or where a browser cannot be given one, by mouse once more."""
        act: Callable[..., object] = one.tap if self.fingers else one.click
        return act

    def focused(self, one: Any) -> None:
        assert one.evaluate("one => one === document.activeElement"), "the focus is lost"

    def from_end_to_end(
        self, one: Any, name: str, pointed: Callable[[str], list[Callable[[], object]]]
    ) -> None:
        """Home, End, and what is pointed at in their place: two states, and two pictures."""
        ends, pictures = [], []
        for key in ("Home", "End"):
            found = self.same(*pointed(key), lambda key=key: one.press(key))
            ends.append(found["traits"].get(name, found["traits"]))  # a length may be one of a list
            beside = without_fresh_names(self.place.evaluate(BESIDE_SLIDERS))
            pictures.append((beside, found["dots"]))
            self.focused(one)
        assert ends[0] != ends[1]
        # A guess shows nothing before it is judged.
        assert pictures[0] != pictures[1] or name == "given", f"{name} moves, and nothing shows it"

    def range(self, one: Any) -> None:
        box = one.bounding_box()

        def pointed(key: str) -> list[Callable[[], object]]:
            at = {"x": 3 if key == "Home" else box["width"] - 3, "y": box["height"] / 2}
            return [functools.partial(act, position=at) for act in (one.click, self.tap(one))]

        self.from_end_to_end(one, trait_of(one, "id"), pointed)

    def slider(self, one: Any) -> None:
        """What is held on a picture."""
        label = one.get_attribute("aria-label")
        self.from_end_to_end(one, label, lambda _: [])
        for finger in {False, self.fingers}:
            moved = []
            for by in ((50, 50), (-50, -50)):  # from one of the ends one of the two leads nowhere
                self.set(self.start["traits"])
                self.shown.drag(one, *by, finger=finger)
                moved.append(self.seen()["traits"] != self.start["traits"])
            assert any(moved), f"{label} cannot be dragged"

    def radio(self, one: Any) -> None:
        def by_arrows() -> None:
            group = self.page.locator(f'input[name="{one.get_attribute("name")}"]')
            group.and_(self.page.locator(":checked")).focus()
            for _ in range(group.count()):
                if not one.is_checked():
                    self.page.keyboard.press("ArrowRight")

        trait, was = trait_of(one, "name"), one.is_checked()
        found, before = (
            self.same(one.click, self.tap(one), by_arrows)["traits"],
            self.start["traits"],
        )
        self.focused(one)
        # A choice may be one out of two traits.
        assert (found.get(trait, found) == before.get(trait, before)) == was

    def checkbox(self, one: Any) -> None:
        trait = trait_of(one, "id")
        found = self.same(one.click, self.tap(one), lambda: one.press("Space"))["traits"]
        self.focused(one)
        assert found[trait] is not self.start["traits"][trait]

    def select(self, one: Any) -> None:
        trait, last = trait_of(one, "id"), one.locator("option").count() - 1
        end, key = last, "ArrowDown"
        if one.evaluate("one => one.selectedIndex") == last:
            end, key = 0, "ArrowUp"

        def by_arrows() -> None:
            one.focus()
            for _ in range(last):
                self.page.keyboard.press(key)

        found = self.same(lambda: one.select_option(index=end), by_arrows)["traits"]
        self.focused(one)
        assert found[trait] != self.start["traits"][trait]

    def button(self, one: Any) -> None:
        one.press("Enter")
        if not one.is_visible():
            return  # gone with what it has undone
        pressed = one.get_attribute("aria-pressed") == "true"
        found = self.same(one.click, self.tap(one), lambda: one.press("Enter"))
        self.focused(one)
        # What it says may stand there by now, and a step back may lead to the beginning.
        assert pressed or found != self.start or found != self.first

    def application(self, one: Any) -> None:
        box, nodes = one.bounding_box(), one.locator("[data-node]")
        at = {"position": {"x": 0.4 * box["width"], "y": 0.6 * box["height"]}}
        by_mouse, by_finger = one.hover, self.tap(one)
        if nodes.count():  # of a tree, which has nothing to say between its nodes
            at, by_mouse, by_finger = {}, nodes.last.click, self.tap(nodes.last)
        found = []
        for act in (lambda: one.press("Home"), lambda: one.press("End"),
                    lambda: by_mouse(**at), lambda: one.press("Home")):  # fmt: skip
            act()
            found.append(self.seen())
        home, end, pointed, elsewhere = found
        assert home != end and pointed != elsewhere
        if nodes.count():
            self.set(pointed["traits"])
        by_finger(**at)
        self.will_be(pointed)


every_widget = pytest.mark.parametrize("name", widgets.__all__)


@pytest.mark.smoke
@pytest.mark.firefox
@pytest.mark.slow
@every_widget
def test_keyboard_mouse_finger_and_python_move_each_control_alike(show, browser, name):
    widget = make(name)
    fingers = browser.browser_type.name == "chromium"
    shown = show(widget, touch=fingers)
    moved = Moved(widget, shown, fingers)
    moved.move_all()
    assert shown.complaints == []
    # What asks a model is there only with one: its own file moves that.
    assert not moved.left or name in ("DecoderAtWork", "BrokenTranslator")
    assert len(moved.left) <= 3


TWO_KEYS = """async (one, [key, frames]) => {
  for (let i = 0; i < 2; i += 1) {
    one.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    for (let n = 0; n < frames; n += 1) await new Promise(requestAnimationFrame);
  }
}"""


@every_widget
def test_two_keys_within_a_frame_are_two_steps(show, name):
    shown = show(make(name))
    for one in shown.widget.locator("[role=slider]:visible, [role=application]:visible").all():
        moved = 0
        for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
            start, found = json.loads(shown.widget.evaluate(SEEN))["traits"], []
            for frames in (0, 2):
                shown.widget.evaluate(SET, json.dumps(start))
                one.evaluate(TWO_KEYS, [key, frames])
                found.append(json.loads(shown.widget.evaluate(SEEN))["traits"])
            assert found[0] == found[1], key
            moved += found[0] != start
        # The cursor of a picture may be nothing that Python knows.
        assert moved or one.get_attribute("role") == "application"


@every_widget
def test_each_view_is_sound_in_each_look_and_the_focus_is_seen(show, look, name):
    shown = show(make(name), **look)
    shown.widget.evaluate(OPEN)
    shown.check()
    for one in shown.widget.locator("input[type=radio], input[type=checkbox]").all():
        if one.is_visible() and one.is_enabled() and not one.is_checked():
            one.check()
            shown.frame()
            shown.check()
    shown.page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    stops = []
    while not stops or stops[-1][0] != "BODY":
        shown.page.keyboard.press("Tab")
        stops.append(shown.page.evaluate(FOCUSED))
    assert len(stops) > 1 and all(outlined for _, outlined in stops[:-1])


def as_in_a_chapter(name: str) -> Any:
    """The widget, with as much in it as a chapter puts there."""
    if name != "AttentionHeads":
        return make(name)
    sentence = made(12, 12, n_layers=3, n_heads=4, alignment=[(1, 1)])
    return widgets.AttentionHeads([sentence, made(5, 4, 3, 4)], kind="cross", live=page_model())


@every_widget
def test_on_a_phone_no_view_is_taller_than_a_thousand_pixels(show, name):
    shown = show(as_in_a_chapter(name), width=390, touch=True)
    heights = {"": shown.height()}
    for one in shown.widget.locator("input[type=radio]").all():
        if one.is_visible() and one.is_enabled():
            one.check()
            shown.widget.evaluate(SEEN)
            heights[one.get_attribute("id")] = shown.height()
    assert max(heights.values()) <= 1000, heights
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 390


@every_widget
@pytest.mark.parametrize("width", [390, 1280])
def test_what_stands_below_does_not_jump_when_a_slider_moves(show, width, name):
    shown = show(as_in_a_chapter(name), width=width)
    for one in shown.widget.locator("input[type=range]:visible:enabled").all():
        heights = []
        for key in ("Home", *["PageUp"] * 10, "End"):
            one.press(key)
            shown.widget.evaluate(SEEN)
            heights.append(shown.height())
        assert max(heights) - min(heights) <= 4, (one.get_attribute("id"), heights)


def test_a_misspelt_setting_is_refused():
    with pytest.raises(TypeError, match="MaskExplorer has no setting 'sho'; did you mean show"):
        widgets.MaskExplorer(sho="causal")


@every_widget
def test_the_page_has_the_whole_state_and_paper_a_twin(name):
    widget = make(name)
    text = re.search("<script[^>]*>(.*)</script>", element_of_widget(widget)).group(1)
    carried = json.loads(text)
    shared = {key for key in widget.keys if not key.startswith("_")}
    assert shared - {"layout", "tabbable", "tooltip"} == {*carried["state"], *carried["buffers"]}
    assert len(carried["state"]["description"]) > 10
    data, _ = widget._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]
    if "text/html" in data:
        assert "<details>" in data["text/html"]
    else:
        assert data["image/png"].startswith(b"\x89PNG")
    assert plt.get_fignums() == []
