"""The models that come with the book: small, traceable, as good as their cards say."""

import json
from pathlib import Path

import pytest
import torch

from measurements.publish_model import card
from transformer.data.everyday import everyday_corpus
from transformer.data.toy_german import toy_german
from transformer.evaluation import bracketing
from transformer.tasks import parsing_splits, toy_german_splits
from transformer.weights import load_tensors, model_tensors

from transformer_book.page.model_scripts import shipped_pack, unpack
from transformer_book.shipped import shipped_folder, shipped_model

TEST = "test.de-en"
SIZES = {"everyday": 8 * 10**6, "toy_german": 2**20, "toy_parser": 300_000}  # bytes, at most


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_they_are_small_with_matrices_in_8_bits(name: str, size: int) -> None:
    path = shipped_folder(name) / "model.safetensors"
    assert path.stat().st_size <= size
    tensors, _ = load_tensors(path)
    for tensor in tensors.values():
        assert tensor.dtype == (torch.int8 if tensor.dim() == 2 else torch.float32)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_a_page_computes_with_the_very_weights_that_python_has(name: str) -> None:
    _, _, tensors = unpack(shipped_pack(name))
    ours = model_tensors(shipped_model(name).model)
    assert tensors.keys() == ours.keys()
    assert all(torch.equal(tensors[part], weights) for part, weights in ours.items())


def test_it_computes_in_float32_and_translates() -> None:
    translator = shipped_model()
    assert {p.dtype for p in translator.model.parameters()} == {torch.float32}
    [translation] = translator.translate(["Zwei Hunde spielen im Schnee."], beam_size=4)
    assert "two dogs" in translation.lower()
    assert "snow" in translation.lower()


@pytest.mark.parametrize(
    ("name", "test", "score", "licence"),
    [
        ("toy_german", "test_combinations", "exact", "MIT licence"),
        ("toy_parser", "test", "f1", "MIT licence"),
        ("everyday", "test.en-de", "bleu", "CC BY 2.0 FR"),
    ],
)
def test_the_cards_say_where_they_come_from(name: str, test: str, score: str, licence: str) -> None:
    folder = shipped_folder(name)
    facts, scores = (json.loads((folder / f).read_text()) for f in ("config.json", "scores.json"))
    text = (folder / "README.md").read_text()
    for known in (facts["command"], facts["commit"], facts["hardware"], licence):
        assert known in text
    assert not facts["commit"].endswith("dirty")
    greedy, beam = (scores[f"{test}{search}"][score] for search in ("", " beam 4"))
    shown = "| {} | {:.1%} | {:.1%} |" if score == "exact" else "| {} | {:.1f} | {:.1f} |"
    assert shown.format(test, greedy, beam) in text
    size = (folder / "model.safetensors").stat().st_size
    assert text == card(facts, scores, shipped_model(name).model.n_parameters(), size)


def test_it_has_learned_what_it_needs_for_40_bleu() -> None:
    scores = json.loads((shipped_folder() / "scores.json").read_text())
    assert scores[f"{TEST} beam 4"]["bleu"] >= 40


@pytest.mark.slow
def test_the_toy_model_has_learned_its_task() -> None:
    name, splits = "test_combinations", toy_german_splits(toy_german(n_train=10_000))
    said = json.loads((shipped_folder("toy_german") / "scores.json").read_text())[name]
    scores = shipped_model("toy_german").evaluate(splits[name].source, splits[name].target)
    assert scores.exact >= 0.99
    assert scores.exact == pytest.approx(said["exact"], abs=0.002)  # another CPU rounds otherwise
    assert said["n_sentences"] == len(splits[name]) == 1000


@pytest.mark.slow
def test_the_toy_parser_has_learned_its_task_and_not_what_it_never_saw() -> None:
    splits = parsing_splits()
    said = json.loads((shipped_folder("toy_parser") / "scores.json").read_text())
    parser, scores = shipped_model("toy_parser"), {}
    for name, text in splits.items():
        scores[name] = bracketing(text.source, parser.translate(text.source), text.target)
        assert scores[name].f1 == pytest.approx(said[name]["f1"], abs=0.5)  # another CPU rounds
        assert said[name]["n_sentences"] == len(text) == 500
    assert scores["test"].f1 >= 99 and scores["test_constructions"].exact == 0


@pytest.mark.slow
def test_the_card_tells_the_truth(real_data: Path) -> None:
    text = everyday_corpus(real_data / "everyday").splits[TEST]
    said = json.loads((shipped_folder() / "scores.json").read_text())[f"{TEST} beam 4"]
    scores = shipped_model().evaluate(text.source, text.target, beam_size=4)
    assert scores.bleu == pytest.approx(said["bleu"], abs=0.15)  # another CPU rounds otherwise


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        ValueError, match="no model named 'wmt' comes with the book; there are: eve"
    ):
        shipped_folder("wmt")
