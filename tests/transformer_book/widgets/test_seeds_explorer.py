"""The seeds explorer's experiments are what they are said to be, on the page as in Python."""

import json
import math
import re

import numpy as np
import pytest
from traitlets import TraitError

from tests.helpers.node import in_node

from transformer_book.ablation import findings
from transformer_book.student import quantile_975
from transformer_book.widgets import SeedsExplorer
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.seeds_explorer import (
    EXPERIMENTS,
    MOST_SEEDS,
    expected_luck,
    normal_numbers,
)  # fmt: skip

ASKED = {
    "question": "Five seeds, an effect as large as the spread's third: how many see it?",
    "answers": ["About 80", "About 50", "About 10"],
    "right": "About 10",
    "why": "Luck decides who does.",
}
SETTINGS = [
    {"effect": 0.1, "spread": 0.3, "n": 5},
    {"effect": 0.01, "spread": 0.6, "n": 2},
    {"effect": 0.38, "spread": 0.3, "n": 5, "seed": 99},
    {"effect": 0.12, "spread": 0.3, "n": 50, "seed": 7},
    {"effect": 0.8, "spread": 0.05, "n": 30},
    {"effect": 0.0, "spread": 0.2, "n": 50, "seed": 3},
]


def handle(shown):
    return shown.page.get_by_role("slider", name="true effect")


def table(shown) -> list[list[str]]:
    """What the page has counted, and what it computes: shares, wrong ones, exaggeration."""
    rows = shown.widget.locator("tbody tr")
    return [row.locator("td").all_inner_texts() for row in rows.all()]


def expected(widget: SeedsExplorer) -> list[list[str]]:
    def words(luck, digits: int) -> list[str]:
        wrong = f"{100 * luck.wrong:.{digits}f} %" if widget.effect else "–"
        factor = "–" if math.isnan(luck.exaggeration) else f"{luck.exaggeration:.1f}"
        return [f"{100 * luck.significant:.{digits}f} %", wrong, factor]

    columns = words(widget.counted(), 0), words(widget.expected(), 1)
    return [list(row) for row in zip(*columns, strict=True)]


def dots(shown, kind: int) -> list[tuple[float, float]]:
    """Where the dots of a kind stand in the picture."""
    path = shown.widget.locator(f".tfw-chart .tfw-seeds-dot.tfw-seeds-{kind}").get_attribute("d")
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", path)]


@pytest.mark.parametrize("n", range(2, MOST_SEEDS + 1, 3))
def test_where_nothing_differs_one_interval_in_twenty_excludes_zero(n):
    assert expected_luck(0.0, 1.0, n).significant == pytest.approx(0.05, abs=1e-4)


def test_intervals_are_those_of_the_findings():
    widget = SeedsExplorer(effect=0.25, spread=0.4, n=7, seed=2)
    numbers = 0.25 + 0.4 * normal_numbers(2)[:, :7]
    intervals = sorted(
        (findings.Interval.of(row.tolist()) for row in numbers), key=lambda i: i.mean
    )
    means, halves = widget.estimates()
    assert means == pytest.approx([interval.mean for interval in intervals])
    assert halves == pytest.approx([interval.half_width for interval in intervals])
    found = [interval for interval in intervals if interval.excludes_zero]
    assert widget.counted().significant == len(found) / EXPERIMENTS
    sizes = [abs(interval.mean) / 0.25 for interval in found]
    assert widget.counted().exaggeration == pytest.approx(sum(sizes) / len(sizes))


@pytest.mark.parametrize(("effect", "n"), [(0.35, 5), (1.2, 5), (0.5, 2), (0.2, 12), (0.1, 40)])
def test_the_long_run_is_that_of_a_long_run(effect, n):
    """The chances against 400,000 experiments drawn by another generator."""
    rng = np.random.default_rng(0)
    means = effect + rng.normal(size=400_000) / math.sqrt(n)
    deviations = np.sqrt(rng.chisquare(n - 1, size=400_000) / (n - 1))
    found = np.abs(means) > quantile_975(n - 1) * deviations / math.sqrt(n)
    luck = expected_luck(effect, 1.0, n)
    assert luck.significant == pytest.approx(found.mean(), abs=0.003)
    assert luck.wrong == pytest.approx((found & (means < 0)).mean(), abs=0.001)
    assert luck.exaggeration == pytest.approx(np.abs(means[found]).mean() / effect, rel=0.01)


def test_the_rule_is_right_for_many_seeds_and_promises_too_much_for_few():
    power = {}
    for n in (5, 20, 50):
        widget = SeedsExplorer(n=n, spread=0.2)
        power[n] = expected_luck(widget.found_by_rule(), 0.2, n).significant
    assert power[5] < 0.6 < 0.75 < power[20] < power[50]
    assert power[50] == pytest.approx(0.78, abs=0.02)


def test_the_numbers_are_normal_independent_and_others_for_each_seed():
    hundreds = [normal_numbers(seed) for seed in range(1, 100)]
    assert hundreds[0].shape == (EXPERIMENTS, MOST_SEEDS)
    everything = np.stack(hundreds)
    assert len(np.unique(everything)) > 0.999 * everything.size  # no hundred runs into the next
    assert everything.mean() == pytest.approx(0, abs=0.005)
    assert everything.std() == pytest.approx(1, abs=0.005)
    assert (np.abs(everything) > 1.96).mean() == pytest.approx(0.05, abs=0.002)
    neighbours = np.corrcoef(everything[..., :-1].ravel(), everything[..., 1:].ravel())[0, 1]
    assert abs(neighbours) < 0.01


def test_the_pages_numbers_are_pythons():
    jobs = [SeedsExplorer(**setting) for setting in SETTINGS]
    script = f"""
      import {{ counted, expected, experiments }} from
        "{(FRONT_ENDS / "seeds_explorer/maths.js").as_uri()}";
      const {{ constants, jobs }} = {
        json.dumps(
            {
                "constants": jobs[0].constants,
                "jobs": [
                    {k: getattr(job, k) for k in ("effect", "spread", "n", "seed")} for job in jobs
                ],
            }
        )
    };
      console.log(JSON.stringify(jobs.map((job) => {{
        const found = experiments(constants, job.seed, job.n);
        const means = found.map(([mean]) => job.effect + job.spread * mean);
        const halves = found.map(([, half]) => job.spread * half);
        return [means, halves, ...[counted(means, halves, job.effect), expected(constants, job)]
          .map((luck) => [luck.significant, luck.wrong, luck.exaggeration])];
      }})));"""
    written = in_node(script)
    for job, (means, halves, *lucks) in zip(jobs, written, strict=True):
        assert (means, halves) == tuple(pytest.approx(x, abs=1e-9) for x in job.estimates())
        for found, luck in zip(lucks, (job.counted(), job.expected()), strict=True):
            assert found[0] == pytest.approx(luck.significant, abs=1e-6)
            if job.effect:
                assert found[1] == pytest.approx(luck.wrong, abs=1e-6)
                assert found[2] == pytest.approx(luck.exaggeration, rel=1e-5)
            else:
                assert found[2] is None and math.isnan(luck.exaggeration)


def test_starts_with_a_hundred_dots_and_its_table(show, look):
    widget = SeedsExplorer()
    shown = show(widget, **look)
    assert table(shown) == expected(widget)
    kinds = [len(dots(shown, kind)) for kind in range(3)]
    luck = widget.counted()
    assert sum(kinds) == EXPERIMENTS
    assert kinds[2] == round(EXPERIMENTS * luck.wrong) > 0
    assert kinds[1] + kinds[2] == round(EXPERIMENTS * luck.significant)
    assert min(y for _, y in dots(shown, 2)) > max(y for _, y in dots(shown, 1))  # below zero
    shown.check()


def test_with_more_seeds_more_see_it_and_nobody_has_to_exaggerate(show):
    widget = SeedsExplorer(effect=0.2)
    shown = show(widget)
    for key, n in (("End", MOST_SEEDS), ("Home", 2), ("ArrowRight", 3)):
        shown.page.get_by_label("seeds n").press(key)
        shown.frame()
        widget.n = n
        assert shown.state("n") == n
        assert table(shown) == expected(widget)
    shown.page.get_by_label("spread").press("Home")
    shown.page.get_by_role("button", name="Another hundred").press("Enter")
    shown.frame()
    widget.spread, widget.seed = 0.05, 2
    assert (shown.state("spread"), shown.state("seed")) == (0.05, 2)
    assert table(shown) == expected(widget)
    shown.set("seed", 99)
    shown.page.get_by_role("button", name="Another hundred").click()
    assert shown.state("seed") == 1


def test_keys_move_the_line_and_the_cursor_says_what_each_found(show):
    widget = SeedsExplorer()
    shown = show(widget)
    for key, effect in (("ArrowUp", 0.12), ("PageUp", 0.22), ("End", 0.8), ("Home", 0.0)):
        handle(shown).press(key)
        assert shown.state("effect") == pytest.approx(effect)
    shown.frame()
    widget.effect = 0.0
    assert table(shown) == expected(widget)
    assert [row[0] for row in table(shown)][1:] == ["–", "–"]  # of nothing there is no direction
    assert len(dots(shown, 2)) == 0
    text = handle(shown).get_attribute("aria-valuetext")
    assert text == "0.00: 5 % significant, in the long run 5.0 %"

    shown.set("effect", 0.1)
    widget.effect = 0.1
    means, halves = widget.estimates()
    chart = shown.widget.locator(".tfw-chart")
    for key, i in (("End", 99), ("ArrowLeft", 98), ("Home", 0)):
        chart.press(key)
        said = f"Experiment {i + 1} of 100: {means[i]:.2f} ± {halves[i]:.2f} nats, "
        said += "significant." if means[i] > halves[i] else "not significant."
        assert shown.readout() == said.replace("-", "−")
    wrong = next(i for i in range(100) if means[i] < -halves[i])
    for _ in range(wrong):
        chart.press("ArrowRight")
    assert shown.readout().endswith("significant, in the wrong direction.")


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_line_of_the_true_effect_is_dragged_and_all_dots_with_it(show, finger):
    widget = SeedsExplorer()
    shown = show(widget, touch=True, width=390)
    height, before = shown.height(), sorted(dots(shown, 0) + dots(shown, 1) + dots(shown, 2))
    shown.drag(handle(shown), 0, -42, finger=finger)
    widget.effect = shown.state("effect")
    assert 0.3 < widget.effect < 0.45
    assert table(shown) == expected(widget)
    after = sorted(dots(shown, 0) + dots(shown, 1) + dots(shown, 2))
    moved = [y - was for (_, y), (_, was) in zip(after, before, strict=True)]
    assert moved == pytest.approx([-42] * EXPERIMENTS, abs=2)
    assert shown.height() == height
    shown.drag(handle(shown), 0, 300, finger=finger, at=(0.99, 0.5))
    assert shown.state("effect") == 0
    shown.drag(handle(shown), 0, -400, finger=finger, at=(0.99, 0.5))
    assert shown.state("effect") == 0.8
    shown.check()


def test_the_question_comes_first_and_then_what_came_out_where_a_place_was_kept(show, look):
    shown = show(SeedsExplorer(**ASKED), **look)
    drag = handle(shown)
    height = shown.height()
    assert shown.readout() == "Say first what you expect; then they are shown."
    assert drag.count() == 0  # hidden, to the keyboard too
    assert table(shown) == [["?", "?"]] * 3
    assert not shown.widget.locator(".tfw-seeds-dot.tfw-seeds-1").first.is_visible()
    verdict = shown.widget.locator(".tfw-verdict > :first-child")
    assert "About 10" not in verdict.inner_text()
    seeds = shown.page.get_by_role("slider", name="seeds n", include_hidden=True)
    assert seeds.evaluate("one => one.closest('[inert]') !== null")  # it is about what is asked
    shown.check()
    shown.page.get_by_label("About 50").check()
    shown.frame()
    assert drag.is_visible() and table(shown) == expected(SeedsExplorer())
    said = verdict.locator("p").all_inner_texts()
    assert said[0].startswith("You expected: “About 50”. What came out: “About 10”. (With 5 seeds,")
    assert said[1] == "Luck decides who does."
    assert shown.height() == height
    shown.page.get_by_role("slider", name="seeds n").press("End")
    shown.frame()
    assert verdict.locator("p").all_inner_texts() == said  # it is about what was asked
    assert shown.height() == height
    shown.page.get_by_label("About 10").check()
    drag.press("End")
    shown.frame()
    assert "That is what came out." in verdict.inner_text()
    assert shown.height() == height <= 1000
    shown.check()


def test_an_interval_that_goes_on_outside_ends_in_an_arrowhead(show):
    widget = SeedsExplorer(effect=0.8, spread=0.6, n=2)
    shown = show(widget)
    spreads = shown.widget.locator(".tfw-chart .tfw-seeds-spread")
    heads = sum(path.get_attribute("d").count("m-2.5") for path in spreads.all())
    ends = [(x - half, x + half) for x, half in zip(*widget.estimates(), strict=True)]
    assert heads == sum((low < -0.6) + (high > 1) for low, high in ends) > 50
    shown.set("effect", 0.2)
    shown.set("spread", 0.05)
    shown.set("n", 50)
    assert not any("m" in path.get_attribute("d") for path in spreads.all())


def test_longer_numbers_make_the_table_no_taller(show):
    shown = show(SeedsExplorer(), width=374)
    as_in_the_book = "* { font-family: system-ui; box-sizing: border-box }"
    shown.page.add_style_tag(content=as_in_the_book)
    height = shown.height()
    handle(shown).press("End")
    shown.page.get_by_label("spread").press("Home")
    shown.frame()
    assert table(shown)[0] == ["100 %", "100.0 %"] and shown.height() == height


def test_more_seeds_come_in_motion_and_at_once_for_who_wants_none(show):
    def seen(shown):
        return shown.widget.evaluate(
            """async (place) => {
              const all = new Set();
              place.model.set("n", 40);
              for (let i = 0; i < 40; i += 1) {
                await new Promise(requestAnimationFrame);
                all.add(place.querySelector(".tfw-chart .tfw-seeds-1").getAttribute("d"));
              }
              return all.size;
            }"""
        )

    still, moving = show(SeedsExplorer()), show(SeedsExplorer())
    moving.in_motion()
    assert seen(still) <= 2 < seen(moving)
    moving.page.wait_for_timeout(500)
    assert dots(moving, 1) == dots(still, 1)


def test_what_python_sets_is_shown(show):
    widget = SeedsExplorer()
    shown = show(widget)
    for name, value in (("n", 33), ("spread", 0.37), ("effect", 0.333), ("seed", 42), ("n", 2)):
        setattr(widget, name, value)
        shown.set(name, value)
        assert table(shown) == expected(widget)
    shown.check()


def test_it_lives_on_a_page_opened_from_the_disk(from_disk):
    widget = SeedsExplorer()
    shown = from_disk(widget)
    handle(shown).press("End")
    shown.frame()
    widget.effect = 0.8
    assert table(shown) == expected(widget)
    assert shown.complaints == []


@pytest.mark.parametrize(
    ("settings", "error", "named"),
    [
        ({"n": 1}, TraitError, "n"),
        ({"n": MOST_SEEDS + 1}, TraitError, "n"),
        ({"effect": -0.1}, TraitError, "effect"),
        ({"effect": math.nan}, TraitError, "effect .nan. must be a finite number"),
        ({"spread": 0.0}, TraitError, "spread"),
        ({"seed": 0}, TraitError, "seed"),
        ({"question": "How many?", "answers": ["one"], "right": "one"}, ValueError, "at least two"),
        ({**ASKED, "right": "About 20"}, ValueError, "`right` must be one of them"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, error, named):
    with pytest.raises(error, match=named):
        SeedsExplorer(**settings)


@pytest.mark.parametrize("effect", [0.0, 0.1])
def test_the_twin_draws_the_same_experiments(effect):
    widget = SeedsExplorer(effect=effect)
    [axes] = widget.twin().axes
    drawn = sorted(
        point for kind in axes.containers for point in kind.lines[0].get_xydata().tolist()
    )
    assert [y for _, y in drawn] == pytest.approx(widget.estimates()[0])
    count = round(100 * widget.counted().significant)
    assert f"5 seeds: {count} of 100 significant" in axes.get_title()
    assert ("times the true effect" in axes.get_title()) == (effect > 0)
