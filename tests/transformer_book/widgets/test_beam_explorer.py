"""The beam explorer shows the search's own trees, numbers and ranking, whatever moves it."""

import math

import pytest
import torch
from traitlets import TraitError

from tests.helpers import BOS, EOS, MARKS, log_probabilities
from tests.transformer_book.widgets.beam_examples import EXTRA, SENTENCES, explorer, translator
from transformer.decoding import beam_search
from transformer.decoding.beam import penalty

from transformer_book.widgets import BeamExplorer

FATES = {"lives": "lives on", "finished": "is finished", "dropped": "is dropped"}


def table(shown, kind):
    rows = shown.widget.locator(f".tfw-beam-{kind} tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return [[text.replace("−", "-") for text in row] for row in rows]


def open_folds(shown):
    for summary in shown.widget.locator("summary").all():
        summary.click()


def front(shown):
    return shown.page.get_by_role("slider", name="step")


def assert_shows(shown, one):
    """Both tables, and the boxes of the tree, are what Python has."""
    shown.frame()
    shown.page.wait_for_selector('.tfw-beam-tree[aria-busy="false"]')
    rows = table(shown, "candidates")
    for row, candidate in zip(rows, one.candidates(), strict=True):
        text, token, probability, total, fate = row
        assert (text, token) == (candidate["text"], candidate["token"])
        assert float(probability) == pytest.approx(math.exp(candidate["log_prob"]), abs=0.00051)
        assert float(total) == pytest.approx(candidate["total"], abs=0.00051)
        left = candidate["fate"] == "lives" and one.step == one.n_steps
        assert fate in (
            ("is left over", "is cut off at the limit") if left else (FATES[candidate["fate"]],)
        )
    rows = table(shown, "ends")
    for row, end in zip(rows, one.finished(), strict=True):
        assert row[:2] == [end["text"], str(end["length"])]
        wanted = [end["total"], penalty(end["length"], one.alpha), end["score"]]
        assert list(map(float, row[2:])) == pytest.approx(wanted, abs=0.00051)
    groups = shown.widget.locator(".tfw-beam-tree [data-node]").evaluate_all(
        "groups => groups.map(g => [g.getAttribute('data-node'), g.getAttribute('class')])"
    )
    looks = {int(node): look for node, look in groups}
    nodes = one.tree.nodes[0]
    assert len(groups) == len(looks)
    assert looks.keys() >= {i for i, node in enumerate(nodes) if node.length <= one.step}
    best = one.finished()[0]["node"] if one.finished() else -1
    way = set()
    while best >= 0:
        way.add(best)
        best = nodes[best].parent
    for i, look in looks.items():
        node = nodes[i]
        assert ("tfw-beam-later" in look) == (node.length > one.step)
        if node.length <= one.step and node.fate == "dropped":
            assert "tfw-beam-dropped" in look
    assert {i for i, look in looks.items() if "tfw-beam-best" in look} == way


def test_a_large_tree_is_drawn_over_several_frames(show):
    """Another tree may come while one is drawn; then only the new one is finished."""
    one = explorer(beam_size=5)
    one.step = one.n_steps
    shown = show(one)
    assert_shows(shown, one)
    busy = shown.widget.evaluate(
        """async (place) => {
          const busy = [];
          for (const size of [4, 1, 5]) {
            place.model.set("beam_size", size);
            await new Promise(requestAnimationFrame);
            busy.push(place.querySelector(".tfw-beam-tree").getAttribute("aria-busy"));
          }
          return busy;
        }"""
    )
    assert "true" in busy
    one.beam_size = 5
    one.step = one.n_steps
    assert_shows(shown, one)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_every_step_shows_the_searchs_numbers(show, look, beam_size):
    one = explorer(beam_size=beam_size)
    shown = show(one, **look)
    shown.check()
    for step in range(one.n_steps + 1):
        one.step = step
        shown.set("step", step)
        assert_shows(shown, one)
        if step:
            first = one.candidates()[0]
            assert (
                shown.readout()
                .replace("−", "-")
                .startswith(f"Step {step} of {one.n_steps}, candidate 1 of {2 * beam_size}: ")
            )
            assert f"sum {first['total']:.3f}" in shown.readout().replace("−", "-")
    assert one.finished()
    shown.check()


def test_alpha_ranks_the_finished_anew(show):
    one = explorer(beam_size=5)
    orders = set()
    shown = show(one)
    for example in range(3):
        one.example = example
        one.step = one.n_steps
        shown.set("example", example)
        shown.set("step", one.step)
        for alpha in (0.0, 0.6, 2.0):
            one.alpha = alpha
            shown.set("alpha", alpha)
            assert_shows(shown, one)
            orders.add((example, *(end["node"] for end in one.finished())))
            ranked_anew = "ranked anew" in shown.widget.locator(".tfw").text_content()
            assert ranked_anew == (alpha != 0.6)
    assert len(orders) > 3


def test_keyboard_mouse_and_finger_move_every_control(show):
    one = explorer(step=2)
    shown = show(one, touch=True)
    page = shown.page
    open_folds(shown)

    def now():
        shown.frame()
        return [shown.state(name) for name in ("example", "beam_size", "step", "alpha")]

    page.get_by_label("sentence").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_label("beam size").press("ArrowLeft")
    front(shown).press("ArrowRight")
    page.get_by_label("alpha").press("ArrowRight")
    assert now() == [1, 4, 3, pytest.approx(0.7)]
    page.get_by_role("button", name="Previous step").click()
    assert now()[2] == 2

    tree = shown.widget.locator(".tfw-beam-tree")
    for key, step in (("ArrowRight", 3), ("ArrowLeft", 2), ("Home", 0), ("End", None)):
        tree.press(key)
        one.example, one.beam_size = 1, 4
        assert now()[2] == (one.n_steps if step is None else step)
    assert page.get_by_role("button", name="Next step", disabled=True).is_visible()
    tree.press("Home")
    shown.frame()
    assert shown.readout().startswith("Nothing is written yet")
    assert page.get_by_role("button", name="Previous step", disabled=True).is_visible()
    tree.press("ArrowRight")
    shown.frame()
    one.step = 1
    for place in (2, 3):
        tree.press("ArrowDown")
        text = one.candidates()[place - 1]["text"]
        assert f"candidate {place} of 8: “\u2068{text}\u2069”" in shown.readout()
    tree.press("ArrowUp")
    assert "candidate 2 of 8" in shown.readout()
    boxes = shown.widget.locator(".tfw-beam-tree [data-node]")
    boxes.and_(page.locator('[data-node="5"]')).click()
    assert "candidate 5 of 8" in shown.readout()
    boxes.and_(page.locator('[data-node="8"]')).tap()
    assert "candidate 8 of 8" in shown.readout()
    shown.check()


def test_a_step_and_a_candidate_within_a_frame_are_both_taken(show):
    """By two keys that come before the step is drawn."""
    shown = show(explorer(step=1))
    shown.widget.locator(".tfw-beam-tree").evaluate(
        """tree => { for (const key of ["ArrowRight", "ArrowDown"])
          tree.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }"""
    )
    shown.frame()
    assert shown.readout().startswith("Step 2 of")
    assert "candidate 2 of" in shown.readout()
    assert shown.complaints == []


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_front_is_dragged_and_stays_in_sight(show, finger):
    """The tree scrolls below the hand: what counts is how far it has come."""
    one = explorer(beam_size=3, step=3)
    shown = show(one, touch=True, width=390)
    height = shown.height()
    for by, step in ((2 * 57, 5), (-3 * 57, 2), (-900, 0), (900, one.n_steps)):
        shown.drag(front(shown), by, 40, finger=finger)
        assert shown.state("step") == step
        one.step = step
        assert_shows(shown, one)
        assert front(shown).get_attribute("aria-valuetext") == f"{step} of {one.n_steps}"
        box = shown.widget.locator(".tfw-scroll:has(.tfw-beam-tree)").bounding_box()
        dot = shown.widget.locator(".tfw-grip-dot").bounding_box()
        assert dot["x"] + dot["width"] <= box["x"] + box["width"] + 1
        assert shown.height() == height
    for key, step in (("Home", 0), ("ArrowRight", 1), ("PageUp", 6), ("End", one.n_steps)):
        front(shown).press(key)
        assert shown.state("step") == step


@pytest.mark.parametrize("width", [390, 1000])
def test_no_step_and_no_beam_changes_how_tall_it_is(show, width):
    shown = show(explorer(), width=width)
    heights = set()
    for size in (1, 5, 3):
        shown.set("beam_size", size)
        for step in (0, 2, 5, 7):
            shown.set("step", step)
            heights.add(shown.height())
    assert len(heights) == 1
    assert heights.pop() < 1000


def test_on_a_phone_the_tables_fit_and_their_names_stay(show):
    one = explorer(beam_size=3)
    one.step = one.n_steps
    shown = show(one, width=390)
    open_folds(shown)
    shown.frame()
    for name in ("Candidates of this step", "Finished hypotheses"):
        box = shown.widget.get_by_role("region", name=name)
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0, name
        assert box.locator("thead th:visible").count() >= 2
    assert shown.page.get_by_text("Finished so far, best score first").is_visible()
    shown.check()


def test_the_whole_tree_stays_whole_when_the_beam_changes(show):
    one = explorer(beam_size=1)
    one.step = one.n_steps
    shown = show(one)
    for size in (3, 5, 2):
        shown.set("beam_size", size)
        one.beam_size = size
        assert shown.state("step") == one.n_steps
        one.step = one.n_steps
        assert_shows(shown, one)
    longest = max(len(t.steps[0]) for trees in one._trees for t in trees.values())
    shown.set("step", longest)
    assert shown.state("step") == one.n_steps


def test_a_step_is_quick_for_a_wide_beam_and_a_long_output(show):
    # To the limit of the model: 8 prefixes, 16 candidates a step, some 30 steps.
    one = BeamExplorer(
        translator(), ["a b c d e f g h i j"], bos_id=BOS, eos_id=EOS, beam_sizes=[8],
        extra_length=20,
    )  # fmt: skip
    one.step = one.n_steps
    assert one.n_steps > 25
    shown = show(one)
    session = shown.page.context.new_cdp_session(shown.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    times = shown.widget.evaluate(
        """async (place) => {
          const times = [];
          for (let i = 0; i < 20; i += 1) {
            await new Promise((done) => requestAnimationFrame(done));
            place.model.set("step", 29 - (i % 2));
            times.push(await new Promise((done) => requestAnimationFrame(() => {
              const began = performance.now();
              queueMicrotask(() => done(performance.now() - began));
            })));
          }
          return times;
        }"""
    )
    assert sorted(times)[10] < 16
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    shown.check()


def test_a_sentence_of_the_readers_own(show):
    one = BeamExplorer(translator(), ["a b"], bos_id=BOS, eos_id=EOS, beam_sizes=[1, 2])
    one.sentence = "a b " * 30
    assert "sentence 2 has 60 tokens, more than the model takes (31)" in one.message
    one.sentence = "w x y"
    assert (one.message, one.example, len(one.contents["examples"])) == ("", 1, 2)
    shown = show(one)
    field = shown.page.get_by_label("Your own sentence")
    assert field.count() == 0  # on a page nobody is there to search
    shown.render_with_kernel("beam_explorer")
    field.fill(" c d ")
    field.press("Enter")
    assert shown.state("sentence") == "c d"
    shown.set("message", "there is no <b>word</b>")
    assert shown.page.get_by_role("alert").last.inner_text() == "there is no <b>word</b>"
    one.sentence = "c d"
    shown.set("contents", one.contents)
    shown.set("example", 2)
    one.step = one.n_steps
    shown.set("step", one.step)
    assert shown.page.get_by_label("sentence", exact=True).first.input_value() == "2"
    assert [row[0] for row in table(shown, "ends")][: len(one.finished())] == [
        end["text"] for end in one.finished()
    ]


def test_hostile_tokens_stay_text(show):
    hostile = ["<b>x</b>", "<script>alert(1)</script>", "שלום", "مرحبا", "$x_$", "&amp;"]
    words = hostile + [f"{w}{i}" for i in range(4) for w in hostile][:20]
    one = BeamExplorer(
        translator(tuple(words)), [" ".join(hostile)], bos_id=BOS, eos_id=EOS, extra_length=5
    )
    one.step = one.n_steps
    shown = show(one)
    shown.frame()
    assert [row[0] for row in table(shown, "candidates")] == [c["text"] for c in one.candidates()]
    assert shown.widget.locator(".tfw :is(b, script)").count() == 0
    shown.check()
    one.twin().canvas.draw()


@pytest.mark.slow
def test_python_has_the_numbers_of_the_model_and_of_the_search():
    one, model = explorer(beam_size=4, example=1), translator().model
    one.step = one.n_steps
    src = torch.tensor([[*translator().tokenizer.encode(SENTENCES[1]), EOS]])
    found = beam_search(model, src, beam_size=4, n_best=4, max_len=4 + EXTRA, **MARKS)[0]
    texts = [" ".join(translator().tokenizer.pieces(h.tokens)) for h in found]
    assert [end["text"] for end in one.finished()][:4] == texts
    assert [end["score"] for end in one.finished()][:4] == pytest.approx(
        [h.score for h in found], abs=1e-4
    )
    (total,) = log_probabilities(model, src, [found[0].tokens], len(found[0].tokens) < 4 + EXTRA)
    assert one.finished()[0]["total"] == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "error", "named"),
    [
        ({"sentences": []}, ValueError, "sentences are"),
        ({"sentences": "a b"}, ValueError, "give a list"),
        ({"sentences": ["a", " "]}, ValueError, "sentence 2 is empty"),
        (
            {"sentences": ["a " * 40]},
            ValueError,
            r"has 40 tokens, more than the model takes \(31\)",
        ),
        ({"beam_sizes": []}, ValueError, "rising numbers from 1 to 8"),
        ({"beam_sizes": [2, 1]}, ValueError, r"beam_sizes are \[2, 1\]"),
        ({"beam_sizes": [9]}, ValueError, "rising numbers"),
        ({"length_penalty": -1.0}, ValueError, "length_penalty"),
        ({"beam_size": 3}, TraitError, r"beam_size \(3\) must be one of 1, 2"),
        ({"example": 1}, TraitError, r"example \(1\) must be 0 to 0"),
        ({"step": 99}, TraitError, r"step \(99\) must be 0 to"),
        ({"alpha": 2.5}, TraitError, "alpha"),
        ({"alpha": float("nan")}, TraitError, "alpha"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(changes, error, named):
    settings = {"sentences": ["a b"], "beam_sizes": [1, 2], "extra_length": 2, **changes}
    sentences = settings.pop("sentences")
    with pytest.raises(error, match=named):
        BeamExplorer(translator(), sentences, bos_id=BOS, eos_id=EOS, **settings)


def test_the_twin_draws_the_same_tree():
    one = explorer(beam_size=3, step=4)
    (axes,) = one.twin().axes
    seen = [n for n in one.tree.nodes[0] if n.length <= 4]
    assert len(axes.patches) == len(seen)
    assert len(axes.lines) == len(seen) - 1
    written = [text.get_text() for text in axes.texts]
    for candidate in one.candidates():
        total = f"{candidate['total']:.2f}".replace("-", "−")
        assert any(t.startswith(candidate["token"]) and t.endswith(total) for t in written)


def test_the_step_stays_in_sight_when_the_width_changes(show) -> None:
    """As on a slide, which gives the tree its width after the first step is shown."""
    one = explorer(beam_size=2)
    one.step = one.n_steps
    shown = show(one)
    box = shown.widget.locator(".tfw-scroll:has(.tfw-beam-tree)")
    for width in (900, 420, 640):
        shown.widget.evaluate("(place, width) => { place.style.width = `${width}px`; }", width)
        shown.frame()
        shown.frame()
        hidden = box.evaluate(
            """(box) => Math.max(...[...box.querySelectorAll(
                 '[data-node]:not(.tfw-beam-later)')].map((node) =>
                 node.getBoundingClientRect().right)) - box.getBoundingClientRect().right"""
        )
        assert hidden <= 1, f"at {width} px"


def test_the_table_of_candidates_fits_half_a_slide(show) -> None:
    """A slide puts the widget into two columns; the last one of the table is not cut off there."""
    shown = show(explorer(beam_size=2))
    open_folds(shown)
    shown.widget.evaluate("(place) => { place.style.width = '490px'; }")
    shown.frame()
    box = shown.widget.get_by_role("region", name="Candidates of this step")
    wide = box.evaluate("(box) => [box.scrollWidth, box.clientWidth]")
    assert wide[0] <= wide[1]
