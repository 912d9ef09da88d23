"""The model that comes with the book: small, traceable, as good as its card says."""

import json
from pathlib import Path

import pytest
import torch

from tools.publish_model import LARGEST, card
from transformer.data.multi30k import load_multi30k
from transformer.shipped import shipped_folder, shipped_model
from transformer.weights import load_tensors

TEST = "test_2016_flickr"


def test_it_is_small_and_in_float16() -> None:
    path = shipped_folder() / "model.safetensors"
    assert path.stat().st_size <= LARGEST == 16 * 2**20
    tensors, _ = load_tensors(path)
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}


def test_it_computes_in_float32_and_translates() -> None:
    translator = shipped_model()
    assert {p.dtype for p in translator.model.parameters()} == {torch.float32}
    [translation] = translator.translate(["Zwei Hunde spielen im Schnee."], beam_size=4)
    assert "two dogs" in translation.lower()
    assert "snow" in translation.lower()


def test_its_card_says_where_it_comes_from() -> None:
    folder = shipped_folder()
    facts, scores = (json.loads((folder / f).read_text()) for f in ("config.json", "scores.json"))
    text = (folder / "README.md").read_text()
    for known in (facts["command"], facts["commit"], facts["hardware"], "not for commercial use"):
        assert known in text
    assert not facts["commit"].endswith("dirty")
    assert (
        f"| {TEST} | {scores[TEST]['bleu']:.1f} | {scores[f'{TEST} beam 4']['bleu']:.1f} |" in text
    )
    assert scores[TEST]["signature"] in text
    size = (folder / "model.safetensors").stat().st_size
    assert text == card(facts, scores, shipped_model().model.n_parameters(), size)


def test_it_has_learned_what_it_needs_for_35_bleu() -> None:
    scores = json.loads((shipped_folder() / "scores.json").read_text())
    assert scores[f"{TEST} beam 4"]["bleu"] >= 35
    assert scores[f"{TEST} beam 4"]["n_sentences"] == 1000


@pytest.mark.slow
def test_the_card_tells_the_truth(real_data: Path) -> None:
    text = load_multi30k(real_data / "multi30k").tests[TEST]
    said = json.loads((shipped_folder() / "scores.json").read_text())[f"{TEST} beam 4"]
    scores = shipped_model().evaluate(text.source, text.target, beam_size=4)
    assert scores.bleu == pytest.approx(said["bleu"], abs=0.15)  # another CPU rounds otherwise


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        ValueError, match="no model named 'wmt' comes with the book; there are: mul"
    ):
        shipped_folder("wmt")
