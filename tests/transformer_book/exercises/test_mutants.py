"""A program that differs from our solution in one point is rejected, or is the same function."""

import pytest

from tests.transformer_book.exercises.mutants import mutants_of

from transformer_book.exercises import EXERCISES, check

# A part of what a mutant changes, and why it is right all the same.
EQUIVALENT = {
    "scaled_dot_product_attention": {
        "-> scores = query @ key.transpose(-1, -2)": "two axes are exchanged in either order",
        "math.sqrt(key.size(-1))": "queries and keys have the same width",
    },
    "split_heads": {"transpose(2, 1)": "two axes are exchanged in either order"},
    "join_heads": {"transpose(2, 1)": "two axes are exchanged in either order"},
    "multi_head_attention": {"transpose(2, 1)": "two axes are exchanged in either order"},
    "noam_rate": {"min(step * warmup ** (-1.5), step": "the least of two in either order"},
    "training_flops": {
        "(-d_model) ** 2": "a square has no sign",
        "(-length) ** 2": "a square has no sign",
        "(2 + 2)": "two and two is two times two",
    },
    "paired_interval": {"strict=False": "both lists have a run for each seed"},
    "bracketing_f1": {
        "strict=False": "both lists have all sentences",
        "zip(wanted, proposed": "F1 is the same from either side",
        "Counter(true) & Counter(found)": "the smaller of two counts in either order",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_every_mutant_of_our_solution_is_rejected_or_is_the_same_function(name: str) -> None:
    survivors = []
    mutants = list(mutants_of(EXERCISES[name].solution))
    assert len(mutants) >= 3
    for mutant in mutants:
        result = check(mutant.function, name, seconds=0.5, memory=2**27)
        assert result.sentence.endswith((".", "?"))
        if result.passed:
            survivors.append(mutant.change)
    reasons = EQUIVALENT.get(name, {})
    unexplained = [each for each in survivors if not any(part in each for part in reasons)]
    assert unexplained == []
    # What is listed is really among the mutants, and really passes.
    assert all(any(part in each for each in survivors) for part in reasons)


def test_mutants_differ_in_one_line_and_are_many() -> None:
    changes = [m.change for m in mutants_of(EXERCISES["softmax"].solution)]
    assert len(set(changes)) == len(changes) > 15
    assert "return powers / powers.sum(dim=-1, keepdim=True) -> " in changes[-1]
    assert any("amin" in change for change in changes)
    assert any("dim=-2" in change for change in changes)
    assert any("keepdim=False" in change for change in changes)
