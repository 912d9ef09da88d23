"""What check says of right answers, of each known mistake, and of answers that are none."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer_book.exercises.right_ones import RIGHT_ONES
from transformer import attention, embedding, masks
from transformer.text import bpe
from transformer.training import label_smoothing_loss

from transformer_book.exercises import EXERCISES, check
from transformer_book.exercises.catalogue.parsing import both_sides_count_alike
from transformer_book.exercises.comparing import Rules, same
from transformer_book.exercises.exercise import Case
from transformer_book.exercises.inputs import LEVELS, Draw
from transformer_book.exercises.solutions import embedding as embedding_solutions
from transformer_book.exercises.solutions import masks as mask_solutions

ROOT = Path(__file__).resolve().parents[3]
MISTAKES = [
    pytest.param(name, way, mistake, id=f"{name}-{way.__name__}")
    for name, exercise in EXERCISES.items()
    for way, mistake in exercise.ways.items()
]


# Right answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXERCISES)
def test_our_solution_passes(name: str) -> None:
    result = check(EXERCISES[name].solution)
    assert result.passed, result
    assert result.sentence == f"{name} is right."


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_three_other_right_answers_pass(name: str) -> None:
    others = RIGHT_ONES[name]
    assert len(others) == 3
    for function in others:
        # The first call of some of torch's functions imports half a library.
        result = check(function, name, seconds=60.0)
        assert result.passed, f"{function}: {result}"


def test_gradients_are_checked_where_a_chapter_has_switched_them_off() -> None:
    with torch.no_grad():
        assert check(EXERCISES["softmax"].solution).passed
        cut_off = check(lambda x: x.softmax(-1).detach(), "softmax")
    assert "no gradient passes" in cut_off.sentence


def test_our_solutions_are_what_the_module_computes() -> None:
    tokens, logits = torch.tensor([[3, 1, 0]]), torch.randn(1, 3, 5)
    assert torch.equal(mask_solutions.causal_mask(4), masks.causal_mask(4)[0, 0])
    assert torch.equal(mask_solutions.padding_mask(tokens, 0), masks.padding_mask(tokens, 0))
    ours = embedding_solutions.sinusoidal_positions(50, 8)
    torch.testing.assert_close(ours, embedding.sinusoidal_positions(50, 8), atol=1e-4, rtol=0)
    pairs = ["a", "b", "a", "b"], ("a", "b")
    merged = EXERCISES["merge_pair"].solution(*pairs)
    assert tuple(merged) == bpe.merge_pair(*pairs)
    loss, _ = label_smoothing_loss(logits, tokens, 0.1, 0)
    torch.testing.assert_close(
        EXERCISES["label_smoothing_loss"].solution(logits, tokens, 0.1, 0), loss
    )
    part = attention.MultiHeadAttention(8, 2, d_k=3, d_v=5)
    x, y = torch.randn(1, 3, 8), torch.randn(1, 4, 8)
    weights = (part.w_query, part.w_key, part.w_value, part.w_output)
    found = EXERCISES["multi_head_attention"].solution(x, y, y, *(w.weight.T for w in weights), 2)
    torch.testing.assert_close(found, part(x, y, y))


# Mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "way", "mistake"), MISTAKES)
def test_each_known_mistake_fails_with_its_own_sentence(name: str, way: Any, mistake: Any) -> None:
    result = check(way, name)
    assert not result.passed
    assert result.sentence == mistake.sentence
    assert result.mistake == mistake.name
    assert result.erratum == mistake.erratum
    assert result.inputs
    assert result.seen


def test_no_two_mistakes_of_an_exercise_have_the_same_sentence() -> None:
    for exercise in EXERCISES.values():
        sentences = [mistake.sentence for mistake in exercise.mistakes]
        assert len(set(sentences)) == len(sentences) >= 3
        assert all(sentence.endswith((".", "?")) for sentence in sentences)


def test_the_errata_that_mistakes_name_are_in_the_book() -> None:
    text = (ROOT / "book" / "findings" / "errata.md").read_text("utf-8")
    known = set(map(int, re.findall(r"^### Erratum (\d+):", text, re.MULTILINE)))
    named = {m.erratum for e in EXERCISES.values() for m in e.mistakes} - {None}
    assert named <= known
    assert len(named) >= 10


def test_of_what_torch_says_only_the_beginning_stands_in_the_sentence() -> None:
    said = says(
        lambda x: x.masked_fill(True, -1e9), "masked_fill() received an invalid combination"
    )
    assert "expected one of" not in said


# Attention as it is trained ---------------------------------------------------------------------


def attention_with(weights_of: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """An attention that makes its weights of the scores and a mask in its own way."""

    def attention(query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(key.size(-1))
        allowed = torch.ones_like(scores) if mask is None else mask.expand_as(scores).float()
        weights = weights_of(scores, allowed)
        return weights @ value, weights

    return attention


def in_heads(attention: Callable[..., Any]) -> Callable[..., Any]:
    """Multi-head attention around an attention."""

    def multi_head(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
        pairs = ((query, w_query), (key, w_key), (value, w_value))
        parts = ((x @ w).unflatten(-1, (n_heads, -1)).transpose(1, 2) for x, w in pairs)
        return attention(*parts, mask)[0].transpose(1, 2).flatten(2) @ w_output

    return multi_head


def powers_times_the_mask(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    powers = scores.exp() * allowed
    return powers / (powers.sum(-1, keepdim=True) + 1e-9)


def shifted_powers_times_the_mask(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * allowed
    return (powers / powers.sum(-1, keepdim=True)).nan_to_num()


def infinities_added_and_nan_replaced(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    return (scores + allowed.log()).softmax(-1).nan_to_num()


@pytest.mark.parametrize(
    ("weights_of", "words"),
    [
        (powers_times_the_mask, "NaN"),
        (shifted_powers_times_the_mask, "The mask multiplies the exponentials"),
        (infinities_added_and_nan_replaced, "the gradient with respect to query is NaN: does an"),
    ],
)
def test_an_attention_that_could_not_be_trained_fails(weights_of: Any, words: str) -> None:
    attention = attention_with(weights_of)
    says_so = check(attention, "scaled_dot_product_attention")
    assert not says_so.passed and words in says_so.sentence
    assert not check(in_heads(attention), "multi_head_attention").passed


def test_a_mask_has_one_row_for_all_queries_where_it_hides_padding() -> None:
    def with_a_row_each(query, key, value, mask=None):
        if mask is not None and mask.size(-2) != query.size(-2):
            raise ValueError("a row for each query")
        return EXERCISES["scaled_dot_product_attention"].solution(query, key, value, mask)

    assert "a row for each query" in check(with_a_row_each, "scaled_dot_product_attention").sentence
    heads = check(in_heads(with_a_row_each), "multi_head_attention")
    assert "a row for each query" in heads.sentence


# Answers that are none -----------------------------------------------------------------------


def says(function: Callable[..., Any], *words: str, name: str = "softmax", **limits: Any) -> str:
    result = check(function, name, **limits)
    assert not result.passed
    for word in words:
        assert word in result.sentence
    assert result.sentence.endswith((".", "?"))
    assert result.mistake == ""
    return result.sentence


def test_what_is_not_written_yet_is_called_so() -> None:
    def softmax(x):
        """The skeleton."""
        ...

    assert "not written yet" in check(softmax).sentence


def test_a_wrong_type_is_named() -> None:
    says(lambda x: print("done"), "returns nothing (None)", "`return`")
    says(lambda x: x.numpy(), "NumPy array", "torch.Tensor")
    says(lambda x: x.softmax(-1).tolist(), "is a list")
    says(lambda x: (x.softmax(-1), x), "is a tuple")
    says(lambda *a: torch.tensor(0.1), "is a tensor", ".item()", name="noam_rate")
    says(lambda *a: True, "a bool", name="training_flops")
    says(lambda *a: 1.0, "a float", "whole number", name="training_flops")
    says(lambda *a: "abab", "a str", "list of strings", name="merge_pair")
    says(lambda *a: [1, 2], "element 0", name="merge_pair")
    says(lambda *a: torch.ones(2), "list of whole numbers", ".tolist()", name="greedy_search")
    attend = "scaled_dot_product_attention"
    says(lambda q, k, v, m: q, "2 things: the output, the weights", name=attend)
    says(lambda q, k, v, m: (q, k, v), "has 3 elements; it should have 2: the output", name=attend)
    right = EXERCISES[attend].solution
    says(lambda *a: (right(*a)[0], None), "(the weights) is None", name=attend)


def test_a_wrong_shape_is_named_with_its_axes() -> None:
    says(lambda x: x.softmax(-1)[None], "shape (1, 2)", "should have (2,)", "(..., keys)")
    said = says(lambda x, n: x, "shape (2, 5, 12)", "(2, 3, 5, 4)", name="split_heads")
    assert "(batch, heads, len, width)" in said
    swapped = "scaled_dot_product_attention"
    says(lambda q, k, v, m: (q, q), "(the output)", name=swapped)


def test_a_wrong_dtype_is_named() -> None:
    says(lambda x: x.double().softmax(-1), "float64", "should hold float32")
    says(lambda t, p: (t != p)[:, None, None].int(), "int32", "True and False", name="padding_mask")


def test_an_exception_is_quoted_with_its_line() -> None:
    says(lambda x: x.no_such_method(), "AttributeError", "no_such_method", "in the line")
    says(lambda x, y: x, "cannot be called as its skeleton is, softmax(x)", "missing 1")
    says(lambda: 1, "softmax(x)")

    def leaves(x):
        raise SystemExit(1)

    def interrupts(x):
        raise KeyboardInterrupt

    says(leaves, "SystemExit")
    says(interrupts, "KeyboardInterrupt")


def test_nan_in_the_place_of_a_number_is_named() -> None:
    def bracketing_f1(proposed, wanted):
        right = EXERCISES["bracketing_f1"].solution(proposed, wanted)
        return math.nan if not sum(map(len, proposed)) else right

    assert says(bracketing_f1, "gives NaN", "0/0", name="bracketing_f1")
    assert same((math.nan, 1.0), (math.nan, 1.0), Rules(1e-6))
    assert not same(math.nan, 1.0, Rules(1e-6))


def test_f1_that_is_nan_both_ways_is_no_fault_of_the_exchange() -> None:
    wanted = [[("NP", 0, 1)]]
    case = Case({"proposed": [[]], "wanted": wanted}, math.nan, 0.0, lambda **changed: math.nan)
    assert both_sides_count_alike(case) is None
    assert both_sides_count_alike(replace(case, answer=1.0))


def test_nan_is_named() -> None:
    says(lambda x: x * float("nan"), "NaN")
    said = says(lambda x: x.softmax(-1).where(x > -900, float("nan")), "NaN")
    assert "0/0" in said


def test_a_known_mistake_is_named_though_it_also_gives_nan() -> None:
    def inverted(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf)
        weights = scores.softmax(-1)
        return weights @ value, weights

    found = check(inverted, "scaled_dot_product_attention")
    assert found.mistake == "the mask the other way round"
    assert found.sentence.startswith("The mask is taken the other way round")
    found = check(lambda x: x.exp() / x.exp().sum(), "softmax")
    assert found.mistake == "over all entries" and found.seen


def test_a_change_of_an_argument_is_named() -> None:
    def subtracts(x):
        x -= x.amax(-1, keepdim=True)
        return x.softmax(-1)

    def pops(pieces, pair):
        merged = RIGHT_ONES["merge_pair"][0](pieces, pair)
        pieces.clear()
        return merged

    says(subtracts, "changes its argument x")
    says(pops, "changes its argument pieces", name="merge_pair")


def test_random_numbers_are_named_and_come_out_as_before() -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(1)
    np.random.seed(1)

    def seeds(x):
        torch.manual_seed(0)
        np.random.seed(0)
        return x.softmax(-1)

    says(seeds, "random numbers")
    says(lambda x: (x + 1e-9 * torch.randn(x.shape)).softmax(-1), "random numbers")
    assert torch.equal(torch.rand(3), expected[0])
    assert np.array_equal(np.random.rand(3), expected[1])


def test_an_answer_that_depends_on_earlier_calls_is_named() -> None:
    calls = []

    def remembers(x):
        calls.append(x)
        first = len(list(EXERCISES["softmax"].inputs()))
        shifted = first  # the property calls it once more for each input
        return x.softmax(-1) + (len(calls) > first + shifted) * 1.0

    says(remembers, "another answer to the same arguments")


def test_a_gradient_that_is_lost_or_wrong_is_named() -> None:
    says(lambda x: x.detach().softmax(-1), "no gradient", ".detach()")
    says(lambda x: torch.tensor(x.softmax(-1).tolist()), "no gradient", ".tolist()")
    says(x_detached_in_the_sum, "gradient with respect to x")
    says(lambda x: torch.from_numpy(np.asarray(x.softmax(-1))), "require gradients")


def x_detached_in_the_sum(x):
    powers = (x - x.amax(-1, keepdim=True)).exp()
    return powers / powers.detach().sum(-1, keepdim=True)


def test_what_no_catalogue_holds_is_said_by_a_property() -> None:
    says(lambda x: 2 * x.softmax(-1), "All of the answer sums to 2, and should sum to 1")
    says(lambda n: torch.ones(n, n).bool(), "position 1, which comes after it", name="causal_mask")
    said = says(lambda *a: ["a"], "no letter may get lost", name="merge_pair")
    assert said.startswith("abab has become a")


def test_where_no_property_fails_the_first_wrong_entry_is_named() -> None:
    result = check(lambda x, *w: x, "feed_forward")
    assert not result.passed
    assert re.search(r"entry \[0\] of the result is .*, and should be ", result.sentence)


def test_the_smallest_input_that_shows_it_is_shown() -> None:
    result = check(lambda size: torch.ones(size, size).bool().tril(-2), "causal_mask")
    assert result.inputs == {"size": 3}


ODD = (
    lambda *a: (),
    lambda *a: [],
    lambda *a: {},
    lambda *a: "",
    lambda *a: object(),
    lambda *a: a,
    lambda *a: list(a),
    lambda *a: a[0],
    lambda *a: [a[0], a[0]],
    lambda *a: float("inf"),
    lambda *a: -3,
    lambda *a: [float("nan")] * 3,
    lambda *a: [[], []],
    lambda *a: [-1] * 200,
    lambda *a: torch.tensor(0.0),
    lambda *a: torch.empty(0),
    lambda *a: torch.ones(2, 3) * 1j,
    lambda *a: torch.eye(3).to_sparse(),
    lambda *a: np.float64("nan"),
    lambda *a: (torch.ones(2), torch.ones(2)),
    lambda *a: torch.Tensor,
    lambda *a: ...,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_no_answer_is_so_odd_that_check_raises(name: str) -> None:
    exercise = EXERCISES[name]
    target = exercise.solution
    distorting = [
        lambda *a: filled(target(*a), float("nan")),
        lambda *a: filled(target(*a), float("inf")),
        lambda *a: filled(target(*a), -1e9),
    ]
    for function in (*ODD, *distorting, 3, None, "softmax", torch.nn.Linear(1, 1), torch.Tensor):
        result = check(function, name)
        assert not result.passed
        assert result.sentence
        assert repr(result)
        # Pictures take longer than all the checks: one exercise draws them.
        if name == "scaled_dot_product_attention":
            assert result._repr_html_()


def filled(value: Any, number: float) -> Any:
    """The same types and shapes, all numbers alike."""
    if isinstance(value, torch.Tensor):
        return value * 0 + (number if value.is_floating_point() else 1)
    if isinstance(value, tuple | list):
        return type(value)(filled(each, number) for each in value)
    return number if isinstance(value, float) else f"{value}!" if isinstance(value, str) else -1


# The name ------------------------------------------------------------------------------------


def test_the_exercise_is_found_by_the_functions_name() -> None:
    def my_softmax(x):
        return x.softmax(-1)

    assert check(my_softmax).passed
    assert check(lambda x: x.softmax(-1), "softmax").passed


def test_a_name_that_nobody_knows_gets_a_list_and_a_guess() -> None:
    def sofmax(x):
        return x

    said = check(sofmax).sentence
    assert "did you mean softmax?" in said
    assert all(name in said for name in EXERCISES)
    assert "exercises() lists them" in check(lambda x: x).sentence


def test_a_result_in_the_place_of_the_function_is_named() -> None:
    assert "check(softmax), not check(softmax(x))" in check(torch.ones(2)).sentence


# Inputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXERCISES)
def test_axes_of_different_names_have_different_sizes(name: str) -> None:
    """So that axes that were mixed up show; unless an exercise says why two are alike."""
    alike = {"decoder_layer": {("len", "src_len")}, "greedy_search": set()}.get(name, set())
    for level in range(len(LEVELS)):
        for draw, _ in EXERCISES[name].draws():
            if draw.level != level or draw.seed > 1:
                continue
            sizes = list(draw.sizes.items())
            equal = {
                (a, b) for i, (a, n) in enumerate(sizes) for b, m in sizes[i + 1 :] if n == m > 1
            }
            assert equal <= alike, f"level {level}: {equal}"


def test_the_same_inputs_are_drawn_each_time() -> None:
    one, other = (Draw(1, 0, {}).normal("*batch width") for _ in range(2))
    assert torch.equal(one, other)
