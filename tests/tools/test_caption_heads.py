"""What is recorded about the heads of the caption model."""

from pathlib import Path

import pytest
import torch

from tools import caption_heads
from tools.caption_heads import RULES, owner_guesses, record
from transformer.data.aligned_captions import aligned_captions
from transformer.data.caption_links import possessive_pairs
from transformer.head_search import LinkedSentence
from transformer.results import recorded

CAPTIONS = [pair.source_text for pair in aligned_captions()] + [
    " ".join(words.words).replace(" .", ".") for pair in possessive_pairs() for words in pair
]


@pytest.mark.slow
def test_every_rule_has_its_head_and_the_record_has_the_same_form() -> None:
    found = record(CAPTIONS)
    kept = recorded("caption_heads")["rules"]
    assert list(found) == list(kept) == list(RULES)
    for rule, entry in found.items():
        assert entry.keys() == kept[rule].keys()
        for model in ("trained", "untrained"):
            assert entry[model].keys() == kept[rule][model].keys()
            assert 0 < entry[model]["weight"]["mean"] < 1
    assert (
        found["article"]["trained"]["weight"]["mean"]
        > 2 * found["article"]["untrained"]["weight"]["mean"]
    )


def test_first_and_nearest_noun_are_counted() -> None:
    weights = torch.zeros(1, 1, 1)
    captions = {
        "Ein Mann am Strand mit seinem Hund": (5, 1),
        "Am Strand sitzt ein Mann mit seinem Hund": (6, 4),
        "Ein Mann mit seinem Hund": (3, 1),
    }
    found = [(text.split(), LinkedSentence(weights, {link})) for text, link in captions.items()]
    assert owner_guesses(found) == pytest.approx({"first noun": 2 / 3, "nearest noun": 2 / 3})


def test_a_folder_without_captions_gets_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caption_heads, "require_commit", lambda *_: None)
    assert caption_heads.main(["--data", str(tmp_path), "--out", str(tmp_path / "a.json")]) == 1
    assert str(tmp_path) in capsys.readouterr().err
