"""Questions are judged as their cell says, however one types, and remembered only here."""

import json
import math
import re
from math import isclose

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from tests.helpers.node import in_node

from transformer_book.widgets import markup
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.self_check import (
    bug,
    choices,
    number,
    outcome,
    predict,
    predict_cell,
    span,
    written,
)  # fmt: skip

KEY = "transformer-book:self-checks"
FOLDER = FRONT_ENDS / "self_check"


def made(script: str, jobs: object) -> object:
    """What a script makes of jobs."""
    return in_node(f"const jobs = {json.dumps(jobs)};\n{script}")


def read(*texts: str, unit: str = "") -> list[list[float]]:
    """The numbers that each text may mean."""
    script = f"""
      import {{ readings }} from "{(FOLDER / "entry.js").as_uri()}";
      const all = jobs.map((text) => readings(text, {json.dumps(unit)}));
      console.log(JSON.stringify(all.map(({{ values, problem }}) => [values, problem])));"""
    found = made(script, texts)
    assert all(bool(values) != bool(problem) for values, problem in found)
    return [values for values, _ in found]


def decide(function: str, widget, *answers) -> list[tuple[bool, list[str]]]:
    """What `verdict.js` decides of each answer: whether it is right, and its lines in words."""
    script = f"""
      import {{ {function} }} from "{(FOLDER / "verdict.js").as_uri()}";
      const [spec, why, answers] = jobs;
      console.log(JSON.stringify(answers.map((answer) => {function}(spec, answer, why))));"""
    found = made(script, [widget.spec, widget.why, answers])
    return [
        (verdict["right"], [f"{line['mark']} {plain(line['text'])}".strip()
                            for line in verdict["lines"]])
        for verdict in found
    ]  # fmt: skip


def judge(widget, *texts: str) -> list[tuple[bool, str]]:
    """Whether each text is right, and what is said to it."""
    script = f"""
      import {{ ofNumber }} from "{(FOLDER / "verdict.js").as_uri()}";
      const [spec, why, texts] = jobs;
      console.log(JSON.stringify(texts.map((text) => ofNumber(spec, text, why))));"""
    found = made(script, [widget.spec, widget.why, texts])
    return [
        (verdict["right"], " ".join(plain(line["text"]) for line in verdict["lines"]))
        for verdict in found
    ]


def plain(tree) -> str:
    return "".join(node if isinstance(node, str) else plain(node[1:]) for node in tree)


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["1/8", "0.125", "0,125", ".125", "12.5 %", "12,5%", "2^-3", "2⁻³", "(1/2)^3"], 0.125),
        (["2^16", "2**16", "2¹⁶", "65536", "65,536", "65 536", "65.536", "65'536"], 65536),
        (["65\u00a0536", "65_536", "128 * 512", "128×512", "128 x 512", "6.5536e4"], 65536),
        (["6.4e-5", "6,4e-5", "6.4 * 10^-5", "6.4·10⁻⁵", "0.000064", "64/1000000"], 6.4e-5),
        (["-2", "−2", "– 2", "1-3", "-(4/2)", "-2^1"], -2),
        (["sqrt(64)", "√64", "64^(1/2)", "64^0.5", "+8", "2^3"], 8),
        (["1,234,567", "1.234.567", "1 234 567", "1234567.0"], 1234567),
        (["65 million", "65e6", "65,000,000"], 65e6),
        (["2^3^2", "512"], 512),
        (["ln(exp(1))", "1", "100 percent", "100 per cent"], 1),
    ],
)
def test_the_forms_of_a_number_are_the_same_number(texts, value):
    for text, values in zip(texts, read(*texts), strict=True):
        assert any(isclose(one, value, rel_tol=1e-12) for one in values), text


NONSENSE = [
    "", "  ", "abc", "1 2", "1..2", "1,2,3", "(1", "1)", "2^", "*3", "1/0", "alert(1)", "1e999",
    "constructor", "__proto__", "hasOwnProperty(1)", "2**", "NaN", "Infinity", "١", "<b>1</b>",
    "1;2", "x", "9" * 101, "(" * 5000, "a" * 5000, "1+" * 2500, "-" * 100 + "x", "%",
]  # fmt: skip


def test_what_is_no_number_is_refused_with_a_sentence():
    assert read(*NONSENSE) == [[]] * len(NONSENSE)
    (right, said), (_, empty), (_, long) = judge(number("q", 3), "abc", "", "9" * 5000)
    assert not right
    assert said.startswith("That is not a number")
    assert empty == "Enter a number first."
    assert "too long" in long


def test_the_unit_may_stand_behind_the_number_and_per_cent_are_counted():
    assert read("12 tokens", "12", unit="tokens") == [[12], [12]]
    assert read("12.5 %", "12.5", "12,5 percent", "1/8 %", unit="%") == [
        [12.5], [12.5], [12.5], [0.125],
    ]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e9, 1e9).filter(lambda x: abs(x) > 1e-6), min_size=5, max_size=20))
def test_equivalent_forms_pass_and_other_numbers_fail(values):
    forms = [
        (f"{x!r}", f"{x!r}".replace(".", ","), f"({2 * x!r})/2", f"{x:,}", f"{100 * x!r} %")
        for x in values
    ]
    flat = read(*(form for group in forms for form in group))
    for i, x in enumerate(values):
        for found in flat[5 * i : 5 * i + 5]:
            assert any(isclose(one, x, rel_tol=1e-12) for one in found)
    widget = number("q", 0.0625, wrong={0.25: "the root", 16.0: "the inverse"})
    for x, (right, said) in zip(values, judge(widget, *map(repr, values)), strict=True):
        short = float(f"{x:.1g}") == x or float(f"{x:.2g}") == x  # such may be right to its digits
        assert right == isclose(x, 0.0625, rel_tol=0.005) or (
            short and isclose(x, 0.0625, rel_tol=0.05)
        )
        assert said


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(alphabet="0123456789.,+-*/^()e% xk", max_size=101), min_size=30))
def test_whatever_is_typed_is_a_finite_number_or_refused(texts):
    for values in read(*texts):
        assert len(values) <= 2
        assert all(isinstance(value, int | float) for value in values)


def test_each_named_slip_has_its_sentence_and_others_a_general_one():
    widget = number(
        "How large is one weight?",
        1 / 8,
        wrong={8.0: "The inverse.", 1 / 64: "Squared."},
        why="So.",
    )
    assert judge(widget, "1/8", "8", "1/64", "0.0156", "1.25", "-1/8", "0.1", "0.2") == [
        (True, "Yes, 0.125. So."),
        (False, "The inverse."),
        (False, "Squared."),
        (False, "Squared."),
        (False, "The digits are right, the power of ten is not."),
        (False, "Right but for its sign."),
        (False, "Too small."),
        (False, "Too large."),
    ]
    ((right, said),) = judge(number("q", 12.5, unit="%"), "0.125")
    assert not right
    assert said.startswith("That is the share")


def test_a_whole_number_has_to_be_met_and_another_to_its_digits():
    assert [right for right, _ in judge(number("q", 65536), "65536", "65535", "65,500")] == [
        True, False, False,
    ]  # fmt: skip
    assert [right for right, _ in judge(number("q", 0.3333333), "0.333", "0.332", "1/3")] == [
        True, False, True,
    ]  # fmt: skip
    assert judge(number("q", 0.3333333, digits=2), "0.33", "0.3")[0][0]
    assert judge(number("q", 0), "0", "0.1", "1-1") == [
        (True, "Yes, 0."), (False, "Too large."), (True, "Yes, 0."),
    ]  # fmt: skip


def test_a_number_that_is_right_to_the_digits_it_has_is_right():
    for value, unit, right, wrong in [
        (0.7310586, "", ["0.73", "0.7", "73%", "0,73", "7.3e-1", "0.731"], ["0.74", "0.72", "1"]),
        (0.6225, "", ["0.62", "62 %", ".62"], ["0.63", "0.61"]),
        (0.00069877, "", ["0.0007", "7e-4", "7·10⁻⁴", "7*10^-4", "0.07 %"], ["0.0008", "6e-4"]),
        (1.04, "", ["1.0", "1.04"], ["1.1", "1/1", "1.00"]),
        (73.106, "%", ["73", "73 %", "73.1"], ["74", "72"]),
        (-0.7310586, "", ["-0.73", "−0,7"], ["-0.74"]),
        (1234567.8, "", ["1.23 million", "1,234,568", "1.2e6"], ["1.3e6", "1,200,000"]),
    ]:
        said = judge(number("q", value, unit=unit), *right, *wrong)
        assert [one for one, _ in said] == [True] * len(right) + [False] * len(wrong), (value, said)
    ((_, said),) = judge(number("q", 0.7310586, why="So."), "0.73")
    assert said == "Right to the digits that you give; to more, 0.7311. So."
    # A whole number has to be met; and what a slip gives too, tells nothing yet.
    assert not judge(number("q", 65536), "6.6e4")[0][0]
    slip = number("q", 0.7311, wrong={0.7264: "Forgotten."})
    assert judge(slip, "0.73", "0.731", "0.726") == [
        (False, "That may be right, or a slip: one more digit tells which."),
        (True, "Yes, 0.7311."), (False, "Forgotten."),
    ]  # fmt: skip


OPTIONS = {
    "right": {"The *decoder*": "it asks."},
    "wrong": {"The encoder <b>": "it answers.", "Both.": "only one of them asks."},
}
MATRIX = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]


def a_choice(**others):
    return choices("Where does $d_k$ come from: `query`?", **{**OPTIONS, **others})


def a_cell(**others):
    return predict_cell("Where?", MATRIX, ["sat", "on"], ["The", "cat", "mat"], row=1, **others)


WIDGETS = {
    "choices": a_choice,
    "several": lambda: choices("Which?", right={"a": "1", "b": "2"}, wrong={"c": "3"}),
    "number": lambda: number(
        "How many?", 64, unit="tokens", wrong={512: "That is $d_{\\text{model}}$."}, hint="Divide."
    ),
    "bug": lambda: bug("Which?", CODE, line="scores = scores * keep", why="So.", others=SOUND),
    "slider": lambda: predict("How much?", 0.62, low=0, high=1, why="So it is."),
    "cell": lambda: a_cell(why="It looks at the mat."),
}


def test_a_choice_is_right_when_all_that_is_right_is_chosen_and_nothing_else():
    widget = choices("Which?", right={"a.": "1", "b.": "2"}, wrong={"c.": "3", "d.": "4"})
    texts = [markup.as_text(option["text"]) for option in widget.spec["options"]]
    a, b, c, d = (texts.index(text) for text in ("a.", "b.", "c.", "d."))
    nothing, half, wrong, both, too_much, everything = decide(
        "ofChoices", widget, [], [b], [c], [a, b], [b, a, c], [a, b, c, d]
    )
    assert nothing == (False, ["Tick at least one."])
    assert half == (False, ["Yes b: 2", "That is right, and it is not all."])
    assert wrong == (False, ["No c: 3"])
    reasons = {"a.": "Yes a: 1", "b.": "Yes b: 2", "c.": "No c: 3", "d.": "No d: 4"}
    assert both == (True, [reasons[text] for text in texts])
    assert not too_much[0] and sorted(too_much[1]) == ["No c: 3", "Yes a: 1", "Yes b: 2"]
    assert everything == (False, both[1])
    assert decide("ofChoices", a_choice(), []) == [(False, ["Choose one first."])]


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        (62, "Hardly any difference."),
        (65, "Hardly any difference."),
        (66, "That is close."),
        (52, "That is close."),
        (51, "It is more than you thought."),
        (73, "It is less than you thought."),
    ],
)
def test_a_guess_is_judged_by_its_distance_and_never_wrong(guess, said):
    widget = predict("How much?", 62, low=0, high=100, unit="%", why="So it is.")
    lines = [f"You: {guess} %. Computed: 62 %. {said}", "So it is."]
    assert decide("ofSlider", widget, guess) == [(True, lines)]


def test_a_cell_is_held_against_the_largest_of_its_row():
    widget = a_cell(why="It looks at the mat.", wrong={(1, 1): "The cat is near."})
    nothing, best, slip, other = decide("ofCell", widget, None, [1, 2], [1, 1], [1, 0])
    assert nothing == (False, ["Choose a cell first: click it, or go there with the arrow keys."])
    assert best == (True, ["Yes. The largest is on, mat: 0.60.", "It looks at the mat."])
    said = "You chose on, cat: 0.30. The largest is on, mat: 0.60."
    assert slip == (True, [said, "The cat is near.", "It looks at the mat."])
    assert other == (True, [said.replace("cat: 0.30", "The: 0.10"), "It looks at the mat."])


@pytest.mark.parametrize("name", WIDGETS)
def test_the_question_stands_there_and_the_page_is_sound(show, look, name):
    shown = show(WIDGETS[name](), **look)
    assert shown.widget.get_by_text("Self-check.").is_visible()
    shown.check()
    shown.widget.get_by_role("button", name=re.compile("Check|See what it is")).click()
    shown.frame()
    assert shown.widget.get_by_role("status").last.inner_text().strip()
    shown.check()


def verdict(shown) -> str:
    shown.frame()
    return shown.widget.locator(".tfw-verdict").inner_text()


def check(shown) -> str:
    shown.page.get_by_role("button", name="Check").click()
    return verdict(shown)


def test_a_wrong_choice_gets_its_reason_and_the_right_one_those_of_all(show):
    shown = show(a_choice())
    assert check(shown) == "Choose one first."
    answer = shown.widget.get_by_text("Answer", exact=True)
    assert not answer.is_visible()
    shown.page.get_by_label("Both").check()
    assert verdict(shown) == ""
    assert check(shown) == "No: Both: only one of them asks."
    answer.click()
    assert shown.widget.get_by_text("it asks.").is_visible()
    shown.page.get_by_label("The decoder").check()
    said = check(shown)
    assert "Yes: The decoder: it asks." in said
    assert "No: The encoder <b>: it answers." in said
    assert not answer.is_visible()
    shown.check()


def test_all_that_is_right_has_to_be_found(show):
    shown = show(WIDGETS["several"]())
    shown.page.get_by_label("a", exact=True).check()
    assert "it is not all" in check(shown)
    shown.page.get_by_label("b", exact=True).check()
    assert check(shown).count("Yes:") == 2
    shown.page.get_by_label("c", exact=True).check()
    assert "No: c: 3" in check(shown)


def test_a_number_is_answered_with_the_keyboard_alone(show, look):
    shown = show(WIDGETS["number"](), **look)
    keyboard = shown.page.keyboard
    keyboard.press("Tab")
    field = shown.page.get_by_label("Your answer (tokens)")
    expect(field).to_be_focused()
    keyboard.type("2^9")
    keyboard.press("Enter")
    assert verdict(shown) == "That is dmodel."
    keyboard.press("Control+A")
    keyboard.type("512/8 tokens")
    assert verdict(shown) == ""
    keyboard.press("Enter")
    assert verdict(shown) == "Yes, 64 tokens."
    expect(field).to_be_focused()
    shown.page.get_by_text("Hint").press("Enter")
    assert shown.widget.get_by_text("Divide.").is_visible()
    shown.check()


def test_five_thousand_letters_are_a_sentence_and_nothing_hangs(show):
    shown = show(WIDGETS["number"](), width=360)
    shown.page.get_by_label("Your answer").fill("(" * 5000)
    assert "too long" in check(shown)
    shown.check()


def test_a_guess_stands_beside_what_was_computed_and_another_covers_it(show):
    shown = show(WIDGETS["slider"](), touch=True)
    slider = shown.page.get_by_label("Your guess")
    assert not shown.widget.locator(".tfw-scale").is_visible()
    for _ in range(3):
        slider.press("ArrowLeft")
    shown.page.get_by_role("button", name="See what it is").tap()
    assert "You: 0.44. Computed: 0.62. It is more than you thought." in verdict(shown)
    assert "So it is." in verdict(shown)
    places = shown.widget.locator(".tfw-scale span").evaluate_all(
        "all => all.map((one) => one.style.left)"
    )
    assert places == ["44%", "62%"]
    slider.press("End")
    assert verdict(shown) == ""
    assert not shown.widget.locator(".tfw-scale").is_visible()


def test_a_cell_is_chosen_by_keys_or_mouse_in_the_row_that_is_asked_for(show, look):
    shown = show(a_cell(wrong={(1, 0): "It is far away."}, why="Nouns."), **look)
    field = shown.widget.locator(".tfw-field")
    field.focus()
    shown.page.keyboard.press("Enter")
    shown.frame()
    assert shown.state("given") == [1, 0]
    assert "0.1" not in shown.readout()
    shown.page.get_by_role("button", name="See what it is").click()
    said = verdict(shown)
    assert "You chose on, The: 0.10. The largest is on, mat: 0.60." in said
    assert "It is far away." in said and "Nouns." in said
    box = field.bounding_box()
    field.click(position={"x": box["width"] - 8, "y": 8})
    shown.frame()
    assert shown.state("given") == [1, 2]
    assert verdict(shown) == ""
    shown.page.get_by_role("button", name="See what it is").click()
    assert verdict(shown).startswith("Yes.")
    shown.check()


def test_what_python_sets_is_shown(show):
    shown = show(WIDGETS["number"]())
    shown.set("given", "64")
    assert shown.page.get_by_label("Your answer").input_value() == "64"
    shown.set("checked", True)
    assert verdict(shown) == "Yes, 64 tokens."


def stored(shown):
    return shown.page.evaluate("key => localStorage.getItem(key)", KEY)


def test_what_is_solved_is_remembered_in_this_browser_until_the_reader_wishes(show):
    widget = a_choice()
    shown = show(widget)
    progress = shown.widget.locator(".tfw-progress")
    shown.page.get_by_label("Both").check()
    check(shown)
    assert stored(shown) is None
    assert not progress.is_visible()
    shown.page.get_by_label("The decoder").check()
    check(shown)
    assert json.loads(stored(shown)) == [widget.key]
    assert "Solved: 1 of 1 on this page, 1 in the book." in progress.inner_text()
    shown.page.reload()
    shown.page.wait_for_selector(".widget-place[data-state=live]")
    assert "Solved: 1 of 1" in progress.inner_text()
    assert verdict(shown) == ""  # the answer is not given away
    shown.page.get_by_role("button", name="Forget it").click()
    assert stored(shown) is None
    assert not progress.is_visible()


@pytest.mark.parametrize(
    "script",
    [
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no'); }});",
        "Object.defineProperty(window, 'localStorage', {value: undefined});",
        "Storage.prototype.setItem = () => { throw new DOMException('full'); };",
        f"localStorage.setItem('{KEY}', '{{');",
        f"localStorage.setItem('{KEY}', '{{\"a\": 1}}');",
    ],
    ids=["denied", "missing", "full", "broken", "of another form"],
)
def test_a_browser_that_keeps_nothing_takes_nothing_away(show, script):
    shown = show(a_choice())
    shown.page.add_init_script(script)
    shown.page.reload()
    shown.page.wait_for_selector(".widget-place[data-state=live]")
    shown.page.get_by_label("The decoder").check()
    assert "Yes: The decoder" in check(shown)
    shown.check()


def test_a_notebook_keeps_nothing(show):
    shown = show(a_choice())
    shown.render_with_kernel("self_check")
    own = shown.widget.locator(".tfw-self-check").nth(1)
    own.get_by_label("The decoder").check()
    own.get_by_role("button", name="Check").click()
    shown.frame()
    assert "Yes: The decoder" in own.locator(".tfw-verdict").inner_text()
    assert own.locator(".tfw-progress").count() == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: choices("", **OPTIONS), "needs a question"),
        (lambda: choices("q", right={}, wrong={"a": "b"}), "at least one right and one wrong"),
        (lambda: choices("q", right={"a": "b"}, wrong={"c": " "}), "'c' has none"),
        (lambda: choices("q", right={"a": "b"}, wrong={"a": "c"}), "right and wrong at once"),
        (lambda: number("q", 3, wrong={3.0: "x"}), "cannot be told apart"),
        (lambda: number("q", 0.5, wrong={2: "x", 2.001: "y"}), "cannot be told apart"),
        (lambda: number("q", float("nan")), "must be finite"),
        (lambda: predict("q", 2, low=0, high=1), "must lie between 0 and 1"),
        (lambda: predict_cell("q", [[0.1]], ["a"], ["b", "c"]), "do not fit"),
        (lambda: predict_cell("q", [[1.1]], ["a"], ["b"]), "between 0 and 1"),
        (lambda: predict_cell("q", [[0.5, 0.5]], ["a"], ["b", "c"]), "more than one cell"),
        (lambda: choices(r"$\foo$", **OPTIONS), r"the formula '\\\\foo' has \\foo; known are"),
        (lambda: choices(r"$d_{k$", **OPTIONS), "a brace that is not closed"),
        (lambda: choices("$d_$", **OPTIONS), "ends where something is to follow"),
    ],
)
def test_what_makes_no_question_is_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


CODE = """
def attend(scores, keep):
    scores = scores * keep
    return scores.softmax(-1)
"""
SOUND = ("It takes what it needs.", "A softmax belongs here.")


def test_a_bug_shows_its_lines_in_their_order_and_the_wrong_one_is_right():
    card = bug("Which line?", CODE, line="scores = scores * keep", why="`e^0` is 1.", others=SOUND)
    lines = [markup.as_text(option["text"]) for option in card.spec["options"]]
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] == CODE.strip().splitlines()
    assert lines[1].startswith(4 * "\N{NO-BREAK SPACE}")
    assert [option["right"] for option in card.spec["options"]] == [False, True, False]
    reasons = [markup.as_text(option["reason"]) for option in card.spec["options"]]
    assert reasons == [SOUND[0], "e^0 is 1.", SOUND[1]]
    [(right, said)] = decide("ofChoices", card, [1])
    assert right and said[1] == "Yes scores = scores * keep: e^0 is 1."


@pytest.mark.parametrize(
    ("code", "call", "found"),
    [
        ("x = torch.tensor([[1.0, -0.001], [0.555, 20.0]])", "x", "1.00, 0.00, 0.56, 20.00"),
        ("x = torch.tensor(3)", "x", "3.00"),
        ("", "torch.tensor([math.nan, -math.inf])", "nan, -inf"),
        ("def small(x): return x < 1", "small(0)", "Yes"),
        ("def small(x): return x < 1", "small(1)", "No"),
        ("", "1", "1"),  # a number is no yes, though Python takes them for equal
        ("", "0.25", "0.25"),
        ("", "'a word'", "a word"),
        ("", "None", "None"),
        ("x = [", "x", "SyntaxError, '[' was never closed (<string>, line 1)"),
        ("", "missing", "NameError, name 'missing' is not defined"),
        ("", "1 / 0", "ZeroDivisionError, division by zero"),
        ("def f():\n    raise ValueError('one\\ntwo')", "f()", "ValueError, one"),
        ("def f():\n    assert False", "f()", "AssertionError"),  # it says nothing more
    ],
)
def test_an_outcome_is_what_the_call_gives_or_what_stops_it(code, call, found):
    scope = {"torch": torch, "math": math}
    assert outcome(code, call, scope) == found
    assert scope == {"torch": torch, "math": math}


def test_an_outcome_has_the_same_random_numbers_each_time_and_sees_what_it_is_given():
    torch.manual_seed(0)
    first = ", ".join(f"{x:.2f}" for x in torch.randn(3).tolist())
    torch.manual_seed(1)
    given_to_it = {"torch": torch, "n": 3}
    assert outcome("x = torch.randn(n)", "x", given_to_it) == first
    assert outcome("n = 2", "n", given_to_it) == "2"
    assert given_to_it["n"] == 3


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"line": "scores = 0"}, "has to be one line"),
        ({"others": SOUND[:1]}, "2 other lines need a reason"),
        ({"others": ("", SOUND[1])}, "2 other lines need a reason"),
        ({"why": " "}, "the wrong one, too"),
    ],
)
def test_a_bug_without_its_line_or_a_reason_is_a_sentence(given, sentence):
    whole = {"line": "scores = scores * keep", "why": "so", "others": SOUND, **given}
    with pytest.raises(ValueError, match=sentence):
        bug("Which line?", CODE, **whole)


def test_a_bug_is_found_by_choosing_its_line(show):
    shown = show(
        bug("Which?", CODE, line="scores = scores * keep", why="*e* to the 0.", others=SOUND)
    )
    shown.page.get_by_label("return scores.softmax(-1)").check()
    assert SOUND[1] in check(shown)
    shown.page.get_by_label("scores = scores * keep").check()
    said = check(shown)
    assert "e to the 0." in said and SOUND[0] in said
    shown.check()


def test_paper_and_pages_without_scripts_have_the_question_and_its_folded_answer():
    (kind,) = (paper := a_choice(hint="Look up.").print_twin())
    assert kind == "text/html"
    before, _, folded = paper[kind].partition("<details><summary>Answer</summary>")
    assert "<i>d</i><sub><i>k</i></sub>" in before and "<code>query</code>" in before
    assert before.count("<li>") == folded.count("<li>") == 3
    assert "encoder &lt;b&gt;" in before and "it asks" not in before
    assert "Yes: it asks." in folded and "No: it answers." in folded
    assert "64 tokens" in WIDGETS["number"]().answer()
    assert "0.62" in WIDGETS["slider"]().answer() and "So it is." in WIDGETS["slider"]().answer()
    assert "on, mat: 0.60" in WIDGETS["cell"]().answer()


def test_the_same_question_has_the_same_key_and_order_and_another_one_not():
    one, two = a_choice(), a_choice()
    assert (one.key, one.spec) == (two.key, two.spec)
    assert re.fullmatch("[0-9a-f]{8}", one.key)
    assert choices("Another?", **OPTIONS).key != one.key


def test_the_right_answer_is_not_always_the_first():
    options = {"right": {"a": "x"}, "wrong": {"b": "x", "c": "x"}}
    first = [choices(f"{n}?", **options).spec["options"][0]["right"] for n in range(40)]
    assert 4 < sum(first) < 25


@pytest.mark.parametrize(
    ("value", "text"),
    [(1365.33, "1,365"), (-2048.0, "−2,048"), (0.12345, "0.123"), (12.0, "12"), (1e20, "1e+20")],
)
def test_a_number_is_written_as_people_write_it(value, text):
    assert written(value) == text


def test_an_answer_has_the_digits_that_are_asked_for():
    assert written(1.985, span(1.985, 4)) == "1.985"  # with three it would be the 1.99 of a slip
