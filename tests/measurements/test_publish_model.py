"""What becomes the book's model: a finished, committed run; whole or not at all."""

import json
import shutil
from pathlib import Path

import pytest
import torch

import measurements.__main__ as command
from measurements import publish_model
from transformer.data.corpora import Corpus
from transformer.data.parallel import ParallelText
from transformer.runs import train_task
from transformer.tasks import copy_task
from transformer.translation import Translator
from transformer.weights import load_tensors
from transformer.weights.rounding import rounded

from transformer_book.both_ways import BothWays

pytestmark = pytest.mark.slow

TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}
SPLITS = {"valid": ParallelText(["1 2", "3 4"], ["1 2", "3 4"])}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run."""
    folder = tmp_path_factory.mktemp("runs") / "copy"
    train_task(copy_task(TINY, {"steps": 2}), folder, show_progress=False)
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run as if it had learned toy German from a clean commit, and two sentences to judge by."""
    folder = Path(shutil.copytree(trained, tmp_path / "run"))
    change(folder, task="toy", commit="abc1234")
    monkeypatch.setattr(publish_model, "toy_german_splits", lambda: SPLITS)
    return folder


def publish(run: Path, out: Path) -> int:
    return command.main(["publish_model", "--run", str(run), "--out", str(out)])


def change(folder: Path, **facts: str | None) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


def test_the_files_hold_rounded_weights_and_their_scores(run: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "models" / "small"
    assert publish(run, out) == 0
    assert "valid beam 4: BLEU" in capsys.readouterr().out
    names = {"model.safetensors", "tokenizer.json", "config.json", "scores.json", "README.md"}
    assert {path.name for path in out.iterdir()} == names
    before, _ = load_tensors(run / "model.safetensors")
    after, _ = load_tensors(out / "model.safetensors")
    expected = rounded(before)
    assert after.keys() == expected.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in expected.items())
    shipped = Translator.load(out)
    for beam, key in ((1, "valid"), (4, "valid beam 4")):
        scores = shipped.evaluate(SPLITS["valid"].source, SPLITS["valid"].target, beam_size=beam)
        assert json.loads((out / "scores.json").read_text())[key] == scores.to_dict()


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"commit": "abc1234-dirty"}, "that no commit holds"),
        ({"commit": None}, "that no commit holds"),
        ({"task": "copy"}, "the task copy"),
    ],
)
def test_what_cannot_be_told_is_not_published(
    run: Path, tmp_path: Path, capsys, facts: dict[str, str | None], message: str
) -> None:
    change(run, **facts)
    assert publish(run, tmp_path / "models" / "small") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


def test_a_model_of_the_toy_grammar_is_judged_by_sentences_that_are_right_as_a_whole(
    run: Path, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "models" / "toy"
    assert publish(run, out) == 0
    assert "valid: BLEU" in capsys.readouterr().out
    text = (out / "README.md").read_text()
    assert "# A small Transformer for toy German" in text
    assert "| valid | 0.0% | 0.0% |" in text


def test_a_parser_is_judged_by_its_brackets(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(publish_model, "parsing_splits", lambda: SPLITS)
    change(run, task="parsing")
    out = tmp_path / "models" / "parser"
    assert publish(run, out) == 0
    assert "valid beam 4: F1 0.0" in capsys.readouterr().out
    assert "malformed" in json.loads((out / "scores.json").read_text())["valid"]
    text = (out / "README.md").read_text()
    assert "words and brackets for both sides" in text and "| valid | 0.0 | 0.0 |" in text


def test_a_model_of_both_directions_knows_them_and_where_its_doubt_begins(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(SPLITS["valid"], SPLITS, {})
    ways = BothWays((1, -1), -0.5)
    monkeypatch.setattr(publish_model, "everyday_corpus", lambda data: corpus)
    monkeypatch.setattr(publish_model, "doubt_of", lambda translator, text: ways)
    change(run, task="everyday")
    out = tmp_path / "models" / "everyday"
    assert publish(run, out) == 0
    assert BothWays.load(out) == ways
    assert "Tatoeba" in (out / "README.md").read_text()


def test_too_large_a_model_leaves_nothing_behind(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(publish_model, "LARGEST", 1000)
    assert publish(run, tmp_path / "models" / "small") == 1
    assert "publish a smaller model" in capsys.readouterr().err
    assert not list((tmp_path / "models").iterdir())


def test_an_earlier_model_is_not_overwritten(run: Path, tmp_path: Path, capsys) -> None:
    assert publish(run, tmp_path) == 1
    assert "is there already" in capsys.readouterr().err
