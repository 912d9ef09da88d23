"""A recorded evaluation: rules choose, the numbers are the library's, the files are committed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tools import samples
from tools.samples import SAMPLES, SEARCHES, choose, evaluate, main
from transformer import Transformer, TransformerConfig
from transformer.data.parallel import ParallelText
from transformer.evaluation import score, sentence_chrf
from transformer.text import WordTokenizer
from transformer.translation import Translator

WORDS = ["ein", "zwei", "Hund", "läuft", "schläft", ".", "a", "two", "dog", "runs", "sleeps"]
TEXT = ParallelText(
    ["ein Hund läuft .", "zwei Hund läuft", "Hund schläft", "zwei Hund schläft .", "ein Hund"] * 2,
    ["a dog runs .", "two dog runs", "dog sleeps", "two dog sleeps .", "a dog"] * 2,
)


def translator(seed: int) -> Translator:
    """An untrained model whose large weights let it say different things."""
    torch.manual_seed(seed)
    tokenizer = WordTokenizer(WORDS)
    model = Transformer(TransformerConfig.tiny(src_vocab_size=tokenizer.vocab_size, max_len=12))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.mul_(4)
    return Translator(model, tokenizer)


@pytest.fixture(scope="module")
def models() -> dict[str, Translator]:
    return {"last": translator(0), "averaged": translator(1)}


@pytest.fixture(scope="module")
def result(models: dict[str, Translator]) -> dict:
    return evaluate(models, TEXT, each=2, n_resamples=20)


def test_rules_choose_by_score_and_then_by_place() -> None:
    chrf = [50.0, 10.0, 90.0, 10.0, 60.0, 55.0]
    chosen = choose(chrf, [9.0, 8.0, 7.0, 1.0, 2.0, 3.0], 2)
    assert chosen == {
        "worst": [1, 3],
        "best": [2, 4],
        "median": [5, 0],
        "stride": [0, 3],
        "differ": [3, 4],
    }
    assert chosen.keys() == SAMPLES.keys()
    assert choose([1.0], [1.0], 5) == {rule: [0] for rule in SAMPLES}


def test_every_model_is_scored_with_every_search(
    result: dict, models: dict[str, Translator]
) -> None:
    assert [s["name"] for s in result["systems"]] == [f"{m}, {s}" for m in models for s in SEARCHES]
    assert result["baseline"] == "last, greedy"
    for system in result["systems"]:
        outputs = models[system["model"]].translate(TEXT.source, **SEARCHES[system["search"]])
        expected = score(outputs, TEXT.target).to_dict()
        assert {key: system[key] for key in expected} == expected
        assert system["length_ratio"] > 0
        assert system["intervals"].keys() == {"bleu", "chrf"}
    assert result["systems"][0]["seconds_ratio"] == 1
    best = max(result["systems"], key=lambda s: s["bleu"])
    assert result["best"] == best["name"]


def test_the_other_translation_is_of_the_same_model(result: dict) -> None:
    models = [result[key].split(", ")[0] for key in ("best", "other")]
    assert models[0] == models[1]
    assert sum(result[key].endswith("greedy") for key in ("best", "other")) == 1


def test_samples_are_what_their_rules_say(result: dict, models: dict[str, Translator]) -> None:
    best, other = result["best"], result["other"]
    chrf = result["sentence_chrf"][best]
    by_rule = {rule: [s for s in result["samples"] if s["rule"] == rule] for rule in SAMPLES}
    assert all(len(chosen) == 2 for chosen in by_rule.values())
    assert [s["chrf"][best] for s in by_rule["worst"]] == [round(x, 1) for x in sorted(chrf)[:2]]
    assert [s["line"] for s in by_rule["stride"]] == [1, 6]
    for sample in result["samples"]:
        i = sample["line"] - 1
        assert (sample["source"], sample["reference"]) == (TEXT.source[i], TEXT.target[i])
        assert sample["features"] == result["features"][i]
        expected = sentence_chrf([sample["translations"][other]], [sample["reference"]])[0]
        assert sample["chrf"][other] == pytest.approx(expected, abs=0.06)


def test_counts_of_the_first_and_the_best_system_are_kept(result: dict) -> None:
    assert result["bleu_counts"].keys() == {result["baseline"], result["best"]}
    assert all(len(counts) == len(TEXT) for counts in result["bleu_counts"].values())


@pytest.fixture
def tool(models: dict, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """The command line on the small models; its provenance says that the tree is clean."""
    facts = {"command": "train", "commit": "abc", "task": "multi30k", "training": {}}
    monkeypatch.setattr(samples, "multi30k_splits", lambda folder: {"test_2016_flickr": TEXT})
    monkeypatch.setattr(samples, "load_run", lambda path, device: (models[path.name], facts))
    monkeypatch.setattr(samples, "provenance", lambda device: {"commit": "abc1234"})

    def call(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["samples", *arguments])
        return main([*arguments, "--out", str(tmp_path / "out.json"), "--device", "cpu"])

    return call


def test_the_record_says_where_it_comes_from(tool: Callable[..., int], tmp_path: Path) -> None:
    status = tool(
        *("a=/somewhere/last", "averaged", "--data", "/somewhere/data"),
        *("--sentences", "4", "--each", "1"),
    )
    assert status == 0
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["commit"] == "abc1234"
    assert record["command"].startswith("python -m tools.samples a=last averaged --data data")
    assert record["data"]["n_sentences"] == 4
    assert "research and education" in record["data"]["licence"]
    assert record["models"]["averaged"] == {"command": "train", "commit": "abc"}
    assert len(record["samples"]) == len(SAMPLES)


@pytest.mark.parametrize("commit", ["abc1234-dirty", None])
def test_files_that_no_commit_holds_record_nothing(
    tool: Callable[..., int],
    commit: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(samples, "provenance", lambda device: {"commit": commit})
    assert tool("last") == 1
    assert "commit, then record" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["last", "a/last"], "two folders have the same name"),
        (["last", "--split", "tomorrow"], "no split 'tomorrow'"),
        (["last", "--sentences", "0"], "must be at least 1"),
        (["last", "--each", "0"], "must be at least 1"),
    ],
)
def test_bad_input_is_named(
    tool: Callable[..., int],
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    assert tool(*arguments) == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()
