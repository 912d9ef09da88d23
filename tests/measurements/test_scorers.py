"""A record of several scorers: the same translations under all of them, and where it comes from."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import measurements.__main__ as command
from measurements import samples
from transformer import Transformer, TransformerConfig
from transformer.data.corpora import Corpus
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
def tool(
    clean: None, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    facts = {"command": "train", "commit": "abc"}
    corpus = Corpus(ParallelText([], []), {"test.de-en": TEXT})
    monkeypatch.setattr(samples, "everyday_corpus", lambda folder: corpus)
    monkeypatch.setattr(samples, "load_run", lambda path, device: (translator, facts))
    return lambda *arguments: command.main(["scorers", "--device", "cpu", *arguments])


def test_the_record_scores_the_papers_search(
    tool: Callable[..., int], translator: Translator, tmp_path: Path
) -> None:
    path = tmp_path / "out.json"
    assert tool("--model", "/somewhere/last", "--out", str(path)) == 0
    record = json.loads(path.read_text())
    assert (record["commit"], record["search"]) == ("abc1234", "beam 4")
    assert record["command"].startswith("python -m measurements scorers --device cpu --model last")
    assert record["references_with"] == {"a hyphen": 2, "a quotation mark": 2}
    outputs = translator.translate(TEXT.source, beam_size=4, length_penalty=0.6)
    assert record["scores"]["13a"]["bleu"] == round(score(outputs, TEXT.target).bleu, 2)


def test_bad_input_is_named(
    tool: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.json"
    assert tool("--model", "last", "--split", "tomorrow", "--out", str(path)) == 1
    assert "no split 'tomorrow'" in capsys.readouterr().err
    assert not path.exists()
