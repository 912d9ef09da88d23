"""What reading translations back is worth: the weights that are chosen, and the scores."""

import gzip
from pathlib import Path

import pytest

from measurements import reading_back
from tests.helpers.both_ways import ENGLISH, GERMAN, two_ways
from transformer.data.corpora import Corpus
from transformer.data.everyday import ask_both
from transformer.data.parallel import ParallelText

from transformer_book.both_ways import BACKWARD, CANDIDATES, PER_TOKEN
from transformer_book.results import recorded

PAIRS = [*zip(GERMAN[:6], ENGLISH[:6], strict=True)]


@pytest.mark.slow
def test_weights_are_chosen_on_validation_pairs_and_judged_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = {
        f"{name}.{way}": text for name in ("valid", "test") for way, text in ask_both(PAIRS).items()
    }
    corpus = Corpus(ParallelText([], []), splits, {})
    monkeypatch.setattr(reading_back, "everyday_corpus", lambda data: corpus)
    two_ways().save(tmp_path / "model")
    two_ways().ways.save(tmp_path / "model")
    for name in ("tatoeba-x", "news"):
        with gzip.open(tmp_path / f"{name}.tsv.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{german}\t{english}\n" for german, english in PAIRS)
    found = reading_back.run(tmp_path / "model", tests=tmp_path, sentences=5)
    names = ("test", "tatoeba-x", "own sentences")
    assert set(found["sets"]) == {f"{name}.{way}" for name in names for way in ("de-en", "en-de")}
    grid = {(w["backward"], w["per_token"]): w["de-en"] + w["en-de"] for w in found["valid"]}
    alone, best = found["chosen"].values()
    assert grid[best] == max(grid.values()) >= grid[alone] and alone[0] == 0
    one = found["sets"]["tatoeba-x.de-en"]
    assert {scores["n_sentences"] for scores in one["scores"].values()} == {5}
    assert all(low <= high for low, high in one["ahead_of"].values()) and len(one["ahead_of"]) == 3
    assert "tatoeba-x.en-de" in reading_back.table(found)


def test_the_module_has_the_weights_that_validation_chose() -> None:
    record = recorded("reading_back")
    assert record["candidates"] == CANDIDATES
    assert record["chosen"][reading_back.READ] == [BACKWARD, PER_TOKEN]
    best = max(record["valid"], key=lambda w: w["de-en"] + w["en-de"])
    assert [best["backward"], best["per_token"]] == [BACKWARD, PER_TOKEN]
