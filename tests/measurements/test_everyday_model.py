"""What is found out about the everyday model: scores, languages, and what its doubt is worth."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from measurements import everyday_model
from measurements.everyday_model import ELSEWHERE, area, doubt_of, judged, table
from tests.helpers.both_ways import ENGLISH, GERMAN, N_KNOWN, two_ways
from transformer.data.corpora import Corpus
from transformer.data.everyday import ask_both
from transformer.data.parallel import ParallelText, read_lines

pytestmark = pytest.mark.slow

KNOWN = [*zip(GERMAN[:N_KNOWN], ENGLISH, strict=False)]
OTHERS = [*zip(GERMAN[10:14], ENGLISH[10:14], strict=True)]


def corpus(valid: list[tuple[str, str]]) -> Corpus:
    towards = ask_both([*zip(GERMAN, ENGLISH, strict=True)]).values()
    train = ParallelText(
        [line for text in towards for line in text.source],
        [line for text in towards for line in text.target],
    )
    parts = {"valid": valid, "test": [*KNOWN, *OTHERS]}
    splits = {
        f"{name}.{way}": text
        for name, part in parts.items()
        for way, text in ask_both(part).items()
    }
    return Corpus(train, splits, {})


def test_the_area_is_the_share_of_pairs_in_the_right_order() -> None:
    bad = np.array([True, True, False, False])
    assert area(np.array([4.0, 3, 2, 1]), bad) == 1
    assert area(np.array([1.0, 2, 3, 4]), bad) == 0
    assert area(np.array([4.0, 1, 2, 3]), bad) == 0.5
    assert area(np.array([2.0, 2, 2, 1]), bad) == 0.75  # a tie is half


def test_the_nearest_of_several_translations_judges() -> None:
    text = ask_both(KNOWN)["de-en"]
    twice = ParallelText([*text.source, *text.source], [*["Quite another."] * 4, *text.target])
    means, bad = judged(two_ways(), twice, 100)
    assert len(means) == N_KNOWN and not bad.any()
    _, bad = judged(two_ways(), ParallelText(text.source, ["Quite another."] * 4), 100)
    assert bad.all()


def test_doubt_begins_where_one_sound_translation_in_ten_is_doubted() -> None:
    found = doubt_of(two_ways(), corpus(KNOWN))
    means = [two_ways().confidence(side[:N_KNOWN]) for side in (GERMAN, ENGLISH)]
    assert found.unsure_below == pytest.approx(np.quantile(means, 0.1), abs=1e-3)
    tokens = two_ways().tokenizer
    assert [found.language(tokens.encode(text)) for text in (*GERMAN[:9], *ENGLISH[:9])] == [
        *["de"] * 9,
        *["en"] * 9,
    ]
    with pytest.raises(ValueError, match="every translation of the validation pairs is bad"):
        doubt_of(two_ways(), corpus([(german, "Zq.") for german, _ in OTHERS]))


def test_all_test_sets_are_scored_and_doubt_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(everyday_model, "everyday_corpus", lambda data: corpus(KNOWN))
    two_ways().save(tmp_path / "model")
    two_ways().ways.save(tmp_path / "model")
    tests = tmp_path / "tests"
    tests.mkdir()
    with gzip.open(tests / "chat.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{german}\t{english}\tline\n" for german, english in KNOWN)
    found = everyday_model.run(tmp_path / "model", tests=tests, sentences=8)
    sets = ("test", "chat", "own sentences")
    assert set(found["scores"]) == {f"{name}.{way}" for name in sets for way in everyday_model.WAYS}
    assert found["scores"]["chat.de-en"]["bleu"] == pytest.approx(100)
    assert 20 < found["scores"]["test.en-de"]["bleu"] < 80
    assert found["language"] == {"sentences": 16, "right": 16}
    doubt = found["doubt"]["de-en"]
    assert doubt["pairs"] == 8 and 1 <= doubt["bad"] <= 4
    assert doubt["area_under_curve"] == doubt["bad_caught"] == 1
    assert doubt["elsewhere"] == len(read_lines(ELSEWHERE)) == 50 and doubt["elsewhere_caught"] > 40
    assert "language found out: 16 of 16" in table(found)
