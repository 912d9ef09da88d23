"""Copying, what a careless split leaks, and what the records of the last chapter must hold."""

from pathlib import Path

import pytest

from measurements import fine_tuning, own_translator
from measurements.own_translator import Neighbours, copied, leak, one_way, short
from transformer.data.parallel import ParallelText

from transformer_book.results import recorded

TRAIN = ParallelText(
    ["Ich sehe den Hund.", "Ich sehe die Katze.", "Guten Tag!"],
    ["I see the dog.", "I see the cat.", "Hello!"],
)


def test_the_nearest_sentence_shares_the_rare_words() -> None:
    near = Neighbours(TRAIN.source)
    assert near.nearest("die Katze, ich") == 1
    assert near.nearest("GUTEN Abend") == 2
    assert near.nearest("Ich sehe den Hund.", left_out=[0]) == 1
    assert near.nearest("etwas anderes") == 0  # nothing is shared: the first


def test_copying_hands_out_the_translation_of_the_nearest() -> None:
    assert copied(TRAIN, TRAIN)["exact"] == 1
    test = ParallelText(["den Hund sehe ich", "Tag"], ["I see the dog.", "Day"])
    assert copied(TRAIN, test)["exact"] == 0.5


def test_a_pair_whose_relatives_are_in_the_training_text_leaks() -> None:
    pairs = ParallelText(["Danke!"] * 6 + ["Ja."], [f"Thanks {i}" for i in range(6)] + ["Yes."])
    found = leak(pairs, [], 1)
    assert (found["pairs"], found["families"], found["largest_family"]) == (7, 2, 6)
    assert found["tested"] == 1
    alike = ParallelText(["Ja."] * 4, ["Yes."] * 4)
    of_all = leak(alike, [], 2)
    assert of_all["in_training"] == {"German": 2, "English": 2, "related": 2}
    assert of_all["copying"]["anything"]["exact"] == 1


def test_pairs_lose_their_direction_and_the_long_ones_are_left_out() -> None:
    text = ParallelText(["→en Ja.", "→en " + "a " * 7, "→de Yes."], ["Yes.", "b", "Ja."])
    assert list(one_way(text, 2).source) == ["Ja.", "a " * 7]
    assert list(short(one_way(text, 2)).source) == ["Ja."]


@pytest.mark.slow
def test_both_measurements_run_on_what_the_everyday_task_reads(
    real_data: Path, tmp_path: Path
) -> None:
    parts = tmp_path / "parts.json"
    options = {"sentences": 20, "steps": 1, "parts": parts}
    result = own_translator.run(real_data / "everyday", minutes=0, **options)  # type: ignore[arg-type]
    assert result["curve"]["model"] == result["curve"]["as_long"] == {}
    assert len(result["curve"]["copying"]) == 3
    assert "copying, careful split" in own_translator.table(result)
    tuned = fine_tuning.run(real_data, **options)  # type: ignore[arg-type]
    assert fine_tuning.table(tuned).count("\n") == 3


def test_the_records_are_of_one_task_and_hold_no_model_of_text_that_forbids_it() -> None:
    text, tuned = recorded("own_translator"), recorded("fine_tuning")
    assert {len(text["curve"][name]) for name in ("copying", "model", "as_long")} == {3}
    assert text["data"]["train_pairs"] == text["leak"]["pairs"] - 5000
    assert list(tuned["models"]) == ["everyday", "then talks", "then captions", "then all three"]
    assert {len(model["scores"]) for model in tuned["models"].values()} == {3}
