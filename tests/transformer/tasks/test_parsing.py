"""The task of parsing: every token is in the vocabulary, few trees train, brackets are judged."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

from measurements.parsing import most_frequent, right_branching
from tests.helpers.command_line import run
from transformer.data.toy_german import SentencePair, Treebank, toy_treebank
from transformer.evaluation import bracketing
from transformer.tasks import TASKS, parsing_task, splits_of_run
from transformer.text import UNK_ID
from transformer.text.batching import TokenPair
from transformer.text.trees import read_tree

TINY = ["--d-model", "16", "--d-ff", "16", "--n-heads", "2", "--n-layers", "1"]


@cache
def small_bank() -> Treebank:
    """One that takes a second."""
    return toy_treebank(n_train=2_000, n_valid=20, n_test=20)


def test_every_word_and_bracket_is_a_token_and_comes_back() -> None:
    task = parsing_task(bank=small_bank())
    for pair, (source, target) in zip(small_bank().train, task.pairs, strict=True):
        assert UNK_ID not in [*source, *target]
        assert task.tokenizer.decode([*source]) == " ".join(pair.target)
        assert task.tokenizer.decode([*target]) == pair.brackets


def as_lists(pairs: Sequence[TokenPair]) -> list[list[list[int]]]:
    return [[list(side) for side in pair] for pair in pairs]


def test_fewer_trees_are_the_first_ones_and_leave_the_test_sets_alone() -> None:
    few, all_ = parsing_task(bank=small_bank(), trees=100), parsing_task(bank=small_bank())
    assert as_lists(few.pairs) == as_lists(all_.pairs[:100])
    assert few.splits == all_.splits
    assert few.tokenizer.to_json() == all_.tokenizer.to_json()


@pytest.mark.parametrize("trees", [0, 40_001])
def test_more_trees_than_there_are_and_none_are_refused(trees: int) -> None:
    with pytest.raises(ValueError, match=rf"trees \({trees}\) must be at least 1 and at most"):
        parsing_task(bank=small_bank(), trees=trees)


def test_no_tree_is_longer_than_the_search_may_write() -> None:
    from transformer.decoding import EXTRA_LENGTH

    longest = max(
        len(p.brackets.split()) - len(p.target) - 1  # of the source, the end mark counts too
        for split in vars(small_bank()).values()
        for p in split
    )
    assert longest + 1 <= EXTRA_LENGTH


@pytest.mark.slow
def test_a_run_says_bracketing_f1_at_its_end_and_again_when_it_is_evaluated(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    with patch("transformer.tasks.parsing.toy_treebank", lambda n: small_bank()):
        trained = run("train", "parsing", "--steps", "2", "--trees", "200", *TINY, "--out", out)
        again = run("evaluate", out, "--split", "test_longer")
    assert trained.returncode == again.returncode == 0, trained.stderr + again.stderr
    lines = [line for line in trained.stdout.splitlines() if ": bracketing F1" in line]
    names = [line.split(":")[0] for line in lines]
    assert names == ["valid", "test", "test_constructions", "test_longer"]
    assert again.stdout.splitlines() == lines[-1:]
    assert "BLEU" not in trained.stdout


def test_a_run_is_judged_by_the_splits_of_its_task() -> None:
    with patch("transformer.tasks.parsing.toy_treebank", lambda n: small_bank()):
        assert splits_of_run({"task": "parsing"}) == parsing_task(bank=small_bank()).splits
    assert TASKS["parsing"].judge is parsing_task(bank=small_bank()).judge is bracketing


def drawn(pair: SentencePair, brackets: str) -> str:
    words = iter(pair.target)
    return " ".join(next(words) if token == "XX" else token for token in brackets.split())


def test_the_untrained_parsers_write_trees_over_all_words() -> None:
    bank = small_bank()
    for parse in (right_branching(bank), most_frequent(bank)):
        for pair in (*bank.test, *bank.test_longer):
            assert read_tree(parse(pair.target).split(), pair.target).well_formed
    pair = next(pair for pair in bank.test if len(pair.target) == 5)
    a, b, c, d, mark = pair.target
    assert drawn(pair, right_branching(bank)(pair.target)) == (
        f"(S {a} (VP {b} (VP {c} (VP {d} {mark} )VP )VP )VP )S"
    )
    counts = [p.brackets for p in bank.train if len(p.target) == 5]
    assert most_frequent(bank)(pair.target) == max(counts, key=counts.count)
