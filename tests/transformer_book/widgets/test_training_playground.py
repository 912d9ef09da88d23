"""The reader trains a model in the page: presses, watches, takes parts out, and foretells."""

import gzip
import re

import matplotlib.pyplot as plt
import pytest
from playwright.sync_api import expect
from traitlets import TraitError

from tests.transformer_book.widgets.training_in_node import ALL_PARTS, OWN, RECIPE, computed

from transformer_book.widgets import TrainingPlayground
from transformer_book.widgets.training_playground import SWITCHES, TASKS

WRONG_ORDER = "Digits of the source in the wrong order"
QUESTION = {
    "question": "The model cannot tell where a digit stands. What will it write?",
    "answers": ["A copy, as always", WRONG_ORDER],
    "right": WRONG_ORDER,
    "why": "Without positions the encoder sees a set.",
}
RUN = {
    "task": "copy",
    "changes": {},
    "seed": 1,
    "losses": [(1, 2.8), (20, 2.0), (40, 0.6)],
    "right": [0, 120, 200],
    "weights": [[0.9, 0.1, 0.0], [0.2, 0.0, 0.8]],
    "source": ["7", "8", "⏎"],
    "written": ["7", "⏎"],
    "learned": 8,
    "after": {"median": 30.0, "worst": 40},
    "runs": 10,
    "steps": 40,
}


def button(shown, name):
    return shown.page.get_by_role("button", name=name, exact=True)


def status(shown):
    return shown.widget.locator(".tfw-play-status").inner_text()


def numbers(shown):
    """Step, loss and how many are right, as the status names them."""
    found = re.match(r"step ([\d,]+) · loss ([\d.]+) · (\d+) of 200 right", status(shown))
    assert found, status(shown)
    return int(found[1].replace(",", "")), float(found[2]), int(found[3])


def verdict(shown):
    """What is said when a run has ended; waits for it."""
    said = shown.widget.locator(".tfw-verdict > :first-child")
    said.locator("p", has_text="steps").first.wait_for(timeout=120_000)
    return said.inner_text()


def train(shown):
    """Presses Train and waits for the end."""
    button(shown, "Train").click()
    return verdict(shown)


def test_nothing_starts_by_itself(show, look):
    shown = show(TrainingPlayground(tasks=list(TASKS), switches=list(SWITCHES)), **look)
    shown.page.wait_for_timeout(300)
    assert status(shown) == "It has learned nothing yet."
    assert button(shown, "Train").is_visible()
    assert button(shown, "Start again").get_attribute("aria-disabled") == "true"
    shown.widget.locator("summary").click()
    assert shown.page.get_by_label("seed", exact=True).is_visible()
    shown.check()


def test_it_learns_to_copy_what_it_has_not_seen(show, look):
    shown = show(TrainingPlayground(fast=True), **look)
    said = train(shown)
    step, loss, right = numbers(shown)
    assert right >= 199 and loss < 0.8 and 100 < step < 600
    assert said.startswith(f"It has learned. After {step} steps {right} of 200 unseen sequences")
    assert shown.widget.locator(".tfw-play-wrong").count() == 0
    assert shown.widget.locator(".tfw-play-right").count() == 4 * 9
    picture = shown.widget.locator(".tfw-play-curve")
    assert f"in {step} steps" in picture.get_attribute("aria-label")
    # One of the heads looks at the digit that is to be written.
    shares = []
    for head in (1, 2):
        field = shown.page.get_by_label(f"Head {head}.")
        field.focus()
        field.press("Home")
        found = re.search(r" looks at .: (\d+) %", shown.readout(head - 1))
        shares.append(int(found[1]))
    assert max(shares) > 50
    shown.check()


def test_the_first_press_answers_at_once_and_a_second_one_stops(show):
    shown = show(TrainingPlayground())
    milliseconds = button(shown, "Train").evaluate(
        """(button) => {
          const began = performance.now();
          button.click();
          return button.textContent === "Pause" ? performance.now() - began : Infinity;
        }"""
    )
    assert milliseconds < 100
    shown.widget.locator(".tfw-play-status", has_text="step").wait_for()
    button(shown, "Pause").click()
    shown.frame()
    seen = status(shown)
    shown.page.wait_for_timeout(200)
    assert status(shown) == seen


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_whoever_wants_little_motion_sees_a_picture_a_second(show, motion):
    shown = show(TrainingPlayground(steps=3000))
    shown.page.emulate_media(reduced_motion=motion)
    shown.page.reload()
    shown.page.locator(".widget-place[data-state=live]").wait_for()
    apart = shown.widget.evaluate(
        """(place) => new Promise((done) => {
          const drawn = [];
          new MutationObserver(() => {
            drawn.push(performance.now());
            if (drawn.length === 5) done((drawn[4] - drawn[1]) / 3);
          }).observe(place.querySelector(".tfw-play-status"), { childList: true });
          place.querySelector(".tfw-play-train").click();
        })"""
    )
    assert apart > 900 if motion == "reduce" else apart < 900, apart


def test_one_step_is_one_and_the_same_seed_gives_the_same_run_as_in_node(show):
    shown = show(TrainingPlayground(tasks=["copy", "reverse"]))
    losses = []
    for _ in range(3):
        button(shown, "One step").click()
        shown.widget.locator(".tfw-play-status", has_text=f"step {len(losses) + 1} ").wait_for()
        losses.append(numbers(shown)[1])
    expected = computed(
        """
        const trainer = new Trainer(await engineOf("simd"), job.config, taskOf("copy", job.own),
          job.recipe, 1);
        const losses = [];
        for (let step = 0; step < 3; step += 1) {
          atOnce(trainer.update());
          losses.push(trainer.loss);
        }
        answer(losses);""",
        {"config": ALL_PARTS, "recipe": RECIPE, "own": OWN},
    )
    assert losses == [round(loss, 2) for loss in expected]
    button(shown, "Start again").click()
    shown.frame()
    assert status(shown).startswith("It has learned nothing")
    assert shown.widget.locator(".tfw-play-old:visible").count() == 0  # it would be the same curve
    button(shown, "One step").click()
    shown.widget.locator(".tfw-play-status", has_text="step 1 ").wait_for()
    assert numbers(shown)[1] == losses[0]
    shown.set("seed", 2)
    assert shown.widget.locator(".tfw-play-old").count() == 2  # in the picture and its key
    button(shown, "One step").click()
    shown.widget.locator(".tfw-play-status", has_text="step 1 ").wait_for()
    assert numbers(shown)[1] != losses[0]


FRAMED = """(canvas) => {
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === 0xe6 && data[i + 1] === 0x9f && data[i + 2] === 0) return true;
  }
  return false;
}"""


def test_a_question_is_answered_before_the_model_trains_and_what_came_out_stands_beside_it(show):
    settings = {"steps": 200, "positions": "none", "switches": ["positions"], "fast": True}
    outcome = "After {steps} steps {right} of 200 are right; the loss is {loss}."
    shown = show(TrainingPlayground(**settings, outcome=outcome, **QUESTION))
    button(shown, "Train").press("Enter")
    shown.frame()
    assert status(shown) == "Say first what you expect."
    picture = shown.widget.locator(".tfw-play-heads canvas").first
    shown.page.get_by_label("A copy, as always").press("Space")
    shown.frame()
    # Cells that are framed would answer many a question, so they are framed only while it learns.
    assert not picture.evaluate(FRAMED)
    expect(shown.widget.locator(".tfw-play-true")).to_have_count(0)
    button(shown, "Train").press("Enter")
    said = verdict(shown)
    assert picture.evaluate(FRAMED)
    step, loss, right = numbers(shown)
    assert (step, right) == (200, 0)
    assert f"After 200 steps 0 of 200 are right; the loss is {loss:.2f}." in said
    assert "You expected: “A copy, as always”." in said
    assert f"What came out: “{WRONG_ORDER}”." in said and QUESTION["why"] in said
    expect(shown.widget.locator(".tfw-play-true")).to_have_text([WRONG_ORDER])
    shown.check()
    shown.page.get_by_label("positions").select_option("sinusoidal")
    shown.frame()
    said = train(shown)
    assert "You expected" not in said  # the question was about another model
    expect(shown.widget.locator(".tfw-play-true")).to_have_count(0)


def test_python_starts_and_stops_it_and_names_the_step_to_go_to(show):
    shown = show(TrainingPlayground())
    shown.set("training", True)
    button(shown, "Pause").wait_for()
    shown.set("training", False)
    stopped = shown.state("trained")
    assert button(shown, "Train").is_visible()
    assert stopped == 0 or numbers(shown)[0] == stopped
    shown.set("trained", 30)
    shown.widget.locator(".tfw-play-status", has_text="step 30 ").wait_for()
    samples = shown.widget.locator(".tfw-play-samples").inner_html()
    for way in (20, 0, 30):  # back, and once more from the beginning
        shown.set("trained", way)
        words = f"step {way} " if way else "It has learned nothing"
        shown.widget.locator(".tfw-play-status", has_text=words).wait_for()
        shown.widget.locator("[aria-busy=false]").wait_for()
        assert (shown.state("trained"), shown.state("training")) == (way, False)
    assert shown.widget.locator(".tfw-play-samples").inner_html() == samples


def test_the_page_says_how_many_recorded_runs_with_these_settings_have_learned(show):
    alone = {**RUN, "changes": {"n_heads": 1}, "learned": 0, "after": None}
    others = [alone | {"task": "sort"}, alone | {"changes": {"cross": False}}]
    widget = TrainingPlayground(
        switches=["n_heads"], recorded=[RUN, alone, *others], steps=20, fast=True
    )
    whole, nothing = [8, 10, 40, 30], [0, 10, 40, 0]
    assert [*widget.known.values()] == [whole, whole, nothing]
    shown = show(widget)
    said = train(shown)
    assert said.endswith("Our own runs of 40 steps: 8 of 10 learned, half of these by step 30.")
    shown.page.get_by_label("heads", exact=True).select_option("1")
    shown.frame()
    said = train(shown)
    assert "0 of 10 learned;" in said
    eight = "8 of 10, half of these by step 30."
    assert said.endswith(f"; with the whole model {eight}")
    shown.page.get_by_label("heads", exact=True).select_option("4")
    shown.frame()
    said = train(shown)
    assert "Our own runs" not in said and "Another run may differ" in said


@pytest.mark.parametrize(
    "mark", [("loss", 0.55, "the least: 0.55"), ("loss", 2.2, "a guess"), ("steps", 4, "before")]
)
def test_the_number_asked_about_is_drawn_once_the_guess_is_judged(show, mark):
    shown = show(TrainingPlayground(steps=20, fast=True, marks=[mark], **QUESTION))
    curve = shown.widget.locator(".tfw-play-curve")
    assert "20 steps" in curve.inner_text()  # as far as it trains
    shown.page.get_by_label(WRONG_ORDER).check()
    shown.frame()
    assert mark[2] not in curve.text_content()
    train(shown)
    line, name = curve.locator(".tfw-play-mark").bounding_box(), curve.get_by_text(mark[2])
    box, said = curve.locator("svg").bounding_box(), name.bounding_box()
    if mark[0] == "steps":
        at = (line["x"] - box["x"]) / box["width"] * 20  # as wide as 20 steps
        assert line["height"] == pytest.approx(box["height"], abs=3)
    else:
        at = (box["y"] + box["height"] - line["y"]) / box["height"] * 4  # as high as a loss of 4
        assert line["width"] == pytest.approx(box["width"], abs=3)
        assert min(abs(said["y"] + said["height"] - line["y"]), abs(said["y"] - line["y"])) < 4
    assert at == pytest.approx(mark[1], abs=0.1)
    assert box["x"] <= said["x"] and said["x"] + said["width"] <= box["x"] + box["width"] + 1
    assert box["y"] - 4 <= said["y"] and said["y"] + said["height"] <= box["y"] + box["height"] + 4
    button(shown, "Start again").click()
    shown.frame()
    assert mark[2] not in curve.text_content()


def test_the_step_at_which_it_has_learned_is_in_the_curve(show):
    shown = show(TrainingPlayground(positions="learned", fast=True))
    shown.set("trained", 40)
    shown.widget.locator(".tfw-play-status", has_text="step 40 ").wait_for()
    curve = shown.widget.locator(".tfw-play-curve")
    assert "learned" not in curve.inner_text()
    train(shown)
    step = numbers(shown)[0]
    assert curve.get_by_text(f"learned: {step}", exact=True).is_visible()
    line, box = (curve.locator(name).bounding_box() for name in (".tfw-play-mark", "svg"))
    axis = int(re.search(r"(\d+) steps", curve.inner_text())[1])
    assert (line["x"] - box["x"]) / box["width"] * axis == pytest.approx(step, abs=axis / 100)


def test_before_a_question_is_answered_only_the_part_that_it_is_about_can_be_changed(show):
    switches = ["cross", "positions", "norm"]
    shown = show(TrainingPlayground(tasks=["copy", "sort"], switches=switches, **QUESTION))
    others, task = shown.widget.locator("details"), shown.page.get_by_label("task")
    assert shown.page.get_by_label("cross-attention", exact=True).is_visible()
    assert not others.is_visible()
    shown.page.get_by_label(WRONG_ORDER).check()
    expect(others).to_be_visible()
    others.locator("summary").click()
    assert task.is_visible() and shown.page.get_by_label("positions").is_visible()


def test_without_a_mask_its_heads_are_those_of_training_which_look_ahead(show):
    settings = {"causal": False, "attention": "decoder", "steps": 400, "fast": True}
    shown = show(TrainingPlayground("sort", **settings))
    assert "heads in training (rows: wanted" in shown.widget.inner_text()
    train(shown)
    rows = shown.widget.locator(".tfw-play-heads .tfw-rows").first.locator("span").all_inner_texts()
    assert rows == [*sorted(rows[:-1]), "⏎"]  # though it writes nothing but the end
    ahead = []
    for head in (0, 1):
        field = shown.page.get_by_label(f"Head {head + 1}.")
        field.focus()
        field.press("Home")
        field.press("ArrowRight")
        found = re.fullmatch(r"(.) looks at \1: (\d+) %", shown.readout(head))
        ahead.append(int(found[2]))
    assert max(ahead) > 50


# A browser may tell of several moments at once, the latest one last.
OUT_OF_SIGHT_BEFORE = """
  globalThis.IntersectionObserver = class extends IntersectionObserver {
    constructor(tell, options) {
      super((entries, observer) => tell(entries.flatMap((entry) =>
        [{ target: entry.target, isIntersecting: false }, entry]), observer), options);
    }
  };
"""


def test_it_goes_on_after_it_was_out_of_sight_for_a_moment(show):
    shown = show(TrainingPlayground(steps=20, fast=True))
    shown.page.add_init_script(OUT_OF_SIGHT_BEFORE)
    shown.page.reload()
    assert train(shown).startswith("After 20 steps")


def test_of_a_readers_own_task_nobody_has_counted_runs():
    own = RUN | {"task": "own"}
    assert TrainingPlayground("own", tasks=["own"], recorded=[own]).known == {}


def test_a_run_that_has_not_learned_goes_on_if_the_reader_wants(show):
    shown = show(TrainingPlayground(steps=40, fast=True))
    assert train(shown).startswith("After 40 steps")
    button(shown, "Train").click()
    verdict = shown.widget.locator(".tfw-verdict > :first-child")
    verdict.locator("p", has_text="After 80 steps").wait_for(timeout=60_000)
    assert numbers(shown)[0] == 80


def test_a_task_of_the_readers_own(show):
    shown = show(TrainingPlayground("own", tasks=["copy", "own"], steps=20, fast=True))
    places = shown.page.get_by_label("it writes the digits at these places")
    places.fill("8 8 7 6 5 4 3 2")
    places.press("Enter")
    assert "each place from 1 to 8 once" in shown.widget.locator(".tfw-error").first.inner_text()
    places.fill("87654321")
    places.press("Enter")
    digits = shown.page.get_by_label("0 1 2 3 4 5 6 7 8 9 become")
    digits.fill("1 1 1 1 1 1 1 1 1 1")
    digits.press("Enter")
    shown.frame()
    assert shown.state("order") == [8, 7, 6, 5, 4, 3, 2, 1]
    assert shown.state("becomes") == [1] * 10
    shown.set("steps", 100)
    assert "It has learned" in train(shown)  # to write eight ones
    assert "it writes 1 1 1 1 1 1 1 1 ⏎, nothing wrong" in shown.widget.locator(
        ".tfw-play-samples [role=img]"
    ).first.get_attribute("aria-label")
    shown.page.get_by_label("task").select_option("copy eight digits")
    shown.frame()
    assert not places.is_visible()


PLACES = """(place) => new Promise((done) => {
  const parts = [...place.querySelectorAll(".tfw, .tfw-play-heads, .tfw-verdict")];
  const seen = () => JSON.stringify(parts.map((part) => {
    const { top, bottom } = part.getBoundingClientRect();
    return [top + scrollY, bottom + scrollY].map(Math.round);
  }));
  const found = new Set([seen()]);
  const watching = new MutationObserver(() => found.add(seen()));
  watching.observe(place, { childList: true, subtree: true, characterData: true });
  const until = new MutationObserver(() => {
    if (!/steps/.test(place.querySelector(".tfw-verdict > :first-child").textContent)) return;
    for (const each of [watching, until]) each.disconnect();
    done([...found]);
  });
  until.observe(place.querySelector(".tfw-verdict"), { childList: true, subtree: true });
  place.querySelector(".tfw-play-train").click();
})"""


@pytest.mark.parametrize("width", [390, 800])
@pytest.mark.parametrize("task", ["copy", "clauses"])
def test_nothing_moves_while_it_learns_nor_when_it_says_what_came_out(show, width, task):
    answers = {"answers": ["A copy, as always, of all that it has read", WRONG_ORDER]}
    settings = {"recorded": [RUN], "switches": ["n_heads"], "steps": 60} | QUESTION | answers
    shown = show(TrainingPlayground(task, **settings), width=width)
    shown.page.get_by_label("A copy, as always").check()
    shown.frame()
    assert len(shown.widget.evaluate(PLACES)) == 1
    assert "You expected: “A copy, as always" in verdict(shown)
    said, heads = [
        shown.widget.locator(of).bounding_box() for of in (".tfw-verdict", ".tfw-play-looks")
    ]
    first, then = (heads, said) if width == 390 else (said, heads)
    assert first["y"] + first["height"] <= then["y"]
    assert shown.height() <= 1000
    shown.check()


def test_on_a_phone_what_forms_is_on_the_screen_and_then_what_is_said_of_it(show):
    shown = show(TrainingPlayground(steps=3000, positions="none", **QUESTION), width=390)
    shown.page.set_viewport_size({"width": 390, "height": 700})
    shown.page.get_by_label(WRONG_ORDER).check()
    heads = shown.widget.locator(".tfw-play-heads")
    said = shown.widget.locator(".tfw-verdict > :first-child")
    expect(heads).not_to_be_in_viewport(ratio=0.9)
    button(shown, "Train").click()
    expect(heads).to_be_in_viewport(ratio=0.9)
    assert button(shown, "Pause").is_visible()  # it still trains
    shown.set("steps", 60)
    verdict(shown)
    expect(said).to_be_in_viewport(ratio=0.99)


def test_on_a_phone_each_choice_shows_what_is_chosen(show):
    shown = show(TrainingPlayground(tasks=list(TASKS), switches=list(SWITCHES)), width=390)
    shown.widget.evaluate("place => { place.style.letterSpacing = '0.1em'; }")  # as wide fonts are
    shown.widget.locator("summary").click()
    for select in shown.widget.locator("details select").all():
        assert select.bounding_box()["width"] >= 60
    shown.check()


def test_the_words_around_the_pictures_say_what_each_sign_means(show):
    shown = show(TrainingPlayground())
    words = shown.widget.inner_text()
    for sign in ("underlined: wrong; ⏎: end", "rows: written; brighter: more; framed: needed"):
        assert sign in words
    assert "300 steps of 8 sequences" in words
    shown.set("attention", "encoder")
    assert "rows: read; brighter: more)" in shown.widget.inner_text()  # no cell is framed


def test_a_letter_above_a_column_is_whole(show):
    """What of it reaches into the next cell is not cut: of a g what lies below, of a d above."""
    shown = show(TrainingPlayground("sort"), width=390)
    labels = shown.widget.locator(".tfw-play-heads .tfw-columns span")
    cut = labels.evaluate_all(
        "all => all.map((one) => getComputedStyle(one).overflowX !== 'visible')"
    )
    assert cut and not any(cut)


@pytest.mark.parametrize("task", ["clauses", "longer"])
def test_other_tasks_on_a_phone(show, task):
    shown = show(TrainingPlayground(task, steps=20, fast=True), width=390)
    train(shown)
    assert ("one digit more" in status(shown)) == (task == "longer")
    assert shown.height() < 1000
    shown.page.get_by_label("attention").select_option("decoder, self-attention")
    shown.frame()
    shown.check()


def test_without_webassembly_it_learns_the_same(show):
    shown = show(TrainingPlayground(steps=20, fast=True))
    train(shown)
    expected = numbers(shown)
    shown = show(TrainingPlayground(steps=20, fast=True))
    shown.page.evaluate("() => { delete globalThis.WebAssembly; }")
    train(shown)
    assert numbers(shown) == pytest.approx(expected, abs=0.011)


def test_it_learns_from_the_disk(from_disk):
    shown = from_disk(TrainingPlayground(steps=20, fast=True))
    train(shown)
    assert numbers(shown)[0] == 20
    assert shown.complaints == []


def test_the_largest_model_that_is_offered_fits_into_the_memory(show):
    settings = {"wide_keys": True, "n_heads": 4, "n_layers": 3, "positions": "learned"}
    shown = show(TrainingPlayground("clauses", norm="post", **settings))
    button(shown, "One step").click()
    shown.widget.locator(".tfw-play-status", has_text="step 1 ").wait_for(timeout=60_000)
    assert shown.complaints == []


def test_all_its_code_is_small_beside_a_picture():
    """With what it uses of the kit, as it comes to a page."""
    assert len(gzip.compress(TrainingPlayground._esm.encode(), 9)) < 19_000


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"task": "sing"}, "task"),
        ({"switches": ["dropout"]}, "switches"),
        ({"order": [1, 1, 2, 3, 4, 5, 6, 7]}, "must name each place from 1 to 8 once"),
        ({"becomes": [1, 2]}, "for each of the ten digits"),
        ({"steps": 30}, "must be a multiple of 20"),
        ({"n_layers": 2}, "n_layers"),
        ({"seed": 0}, "seed"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        TrainingPlayground(**settings)


@pytest.mark.parametrize("changes", [{"answers": ["A copy"]}, {"right": "Nothing"}])
def test_a_question_needs_answers_and_a_right_one(changes):
    with pytest.raises(ValueError, match="needs at least two answers"):
        TrainingPlayground(**{**QUESTION, **changes})


def test_the_twin_draws_the_recorded_run_of_these_settings():
    assert TrainingPlayground(norm="post", scaled=False).changes() == {
        "norm": "post",
        "scaled": False,
    }
    figure = TrainingPlayground(recorded=[RUN]).twin()
    loss, share = figure.axes[0].lines[0], figure.axes[2].lines[0]
    assert list(loss.get_ydata()) == [2.8, 2.0, 0.6]
    assert list(share.get_xdata()) == [0, 20, 40] and list(share.get_ydata()) == [0, 120, 200]
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == RUN["source"]
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == RUN["written"]
    without = {**RUN, "weights": [], "changes": {"cross": False}}
    figure = TrainingPlayground(cross=False, recorded=[RUN, without]).twin()
    assert "reads   7" in figure.axes[1].texts[0].get_text()
    other = TrainingPlayground(seed=2, recorded=[RUN]).twin()
    assert "copy eight digits" in other.axes[0].texts[0].get_text()
    plt.close("all")
