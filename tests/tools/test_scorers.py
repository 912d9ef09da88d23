"""A record of several scorers: the same translations under all of them, and where it comes from."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tools import samples
from tools.scorers import main
from transformer import Transformer, TransformerConfig
from transformer.data.parallel import ParallelText
from transformer.evaluation import score
from transformer.text import WordTokenizer
from transformer.translation import Translator

TEXT = ParallelText(["ein Hund .", "zwei Hund"] * 2, ["a well-known dog .", 'two "dog"'] * 2)


@pytest.fixture(scope="module")
def translator() -> Translator:
    torch.manual_seed(0)
    tokenizer = WordTokenizer(["ein", "zwei", "Hund", ".", "a", "two", "dog", '"'])
    config = TransformerConfig.tiny(src_vocab_size=tokenizer.vocab_size, max_len=60)
    return Translator(Transformer(config).eval(), tokenizer)


@pytest.fixture
def tool(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    facts = {"command": "train", "commit": "abc"}
    monkeypatch.setattr(samples, "multi30k_splits", lambda folder: {"test_2016_flickr": TEXT})
    monkeypatch.setattr(samples, "load_run", lambda path, device: (translator, facts))
    monkeypatch.setattr(samples, "provenance", lambda device: {"commit": "abc1234"})

    def call(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["scorers", *arguments])
        return main([*arguments, "--device", "cpu"])

    return call


def test_the_record_scores_the_papers_search(
    tool: Callable[..., int], translator: Translator, tmp_path: Path
) -> None:
    path = tmp_path / "out.json"
    assert tool("/somewhere/last", "--out", str(path)) == 0
    record = json.loads(path.read_text())
    assert (record["commit"], record["search"]) == ("abc1234", "beam 4")
    assert record["command"].startswith("python -m tools.scorers last")
    assert record["references_with"] == {"a hyphen": 2, "a quotation mark": 2}
    outputs = translator.translate(TEXT.source, beam_size=4, length_penalty=0.6)
    assert record["scores"]["13a"]["bleu"] == round(score(outputs, TEXT.target).bleu, 2)


def test_bad_input_is_named(
    tool: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.json"
    assert tool("last", "--split", "tomorrow", "--out", str(path)) == 1
    assert "no split 'tomorrow'" in capsys.readouterr().err
    assert not path.exists()
