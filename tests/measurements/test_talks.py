"""What is recorded of the talks: lengths that can be counted again, and two baselines."""

import json
from pathlib import Path

import pytest

import measurements.__main__ as command
from measurements.talks import baselines, lengths
from tests.helpers.releases import folder_of, release
from transformer.data.parallel import ParallelText
from transformer.evaluation import score

from transformer_book.results import recorded
from transformer_book.shipped import shipped_model


def test_lengths_count_the_words_of_both_sides() -> None:
    texts = [ParallelText(["Ja .", "Nein .", "Gut"], ["Yes", "No", "All right"])]
    assert lengths([*texts, ParallelText(["Ach so"], ["Oh"])]) == [[1, 2, 1], [2, 1, 3]]


def test_the_baselines_are_the_source_and_the_everyday_model() -> None:
    translator = shipped_model()
    test = ParallelText(["Ein Hund .", "Zwei Hunde spielen ."], ["A dog .", "Two dogs play ."])
    found = baselines(test, translator)
    assert all(one.pop("interval")["half_width"] > 0 for one in found.values())
    assert list(found.values()) == [
        score(test.source, test.target).to_dict(),
        score(translator.translate(test.source), test.target).to_dict(),
    ]


def test_the_record_leaves_the_test_set_out_of_the_lengths(clean: None, tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path / "talks", release("16", None, {"TED.dev2010": 3, "TED.tst2014": 2})
    )
    out = tmp_path / "talks.json"
    assert command.main(["talks", "--data", str(folder), "--out", str(out)]) == 0
    record = json.loads(out.read_text())
    assert record["commit"] == "abc1234" and record["data"]["pairs"] == 3
    assert sum(count for *_, count in record["lengths"]) == 3
    assert {scores["n_sentences"] for scores in record["baselines"].values()} == {2}
    assert record["command"] == "python -m measurements talks --data talks --out talks.json"


def test_a_folder_without_the_test_set_records_nothing(
    clean: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(tmp_path / "talks", release("16", None, {"TED.dev2010": 3}))
    out = tmp_path / "talks.json"
    assert command.main(["talks", "--data", str(folder), "--out", str(out)]) == 1
    assert "holds no set TED.tst2014; there are TED.dev2010" in capsys.readouterr().err
    assert not out.exists()


def test_the_books_record_is_of_the_pairs_that_the_recorded_run_was_given() -> None:
    record, run = recorded("talks"), recorded("iwslt16_subset_cpu")
    assert record["data"]["pairs"] == run["data"]["pairs"]
    assert sum(count for *_, count in record["lengths"]) == run["data"]["pairs"]
    (test_set,) = run["data"]["test_sets"]
    assert record["data"]["test_set"] == test_set
    for scores in record["baselines"].values():
        assert scores["signature"] == run["scores"][test_set]["signature"]
        assert scores["n_sentences"] == run["scores"][test_set]["n_sentences"]
