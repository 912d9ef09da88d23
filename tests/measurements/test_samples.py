"""A recorded evaluation: rules choose, the numbers are the library's, the files are committed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import measurements.__main__ as command
from measurements import samples
from measurements.samples import (
    BASELINE,
    EACH,
    JUDGED,
    SAMPLES,
    SEARCHES,
    choose,
    evaluate,
    found_by,
    log_probability,
)
from transformer import Transformer, TransformerConfig
from transformer.data.corpora import Corpus
from transformer.data.parallel import ParallelText
from transformer.decoding import beam_search
from transformer.evaluation import score, sentence_chrf
from transformer.text import BOS_ID, EOS_ID, WordTokenizer
from transformer.translation import Translator

from transformer_book.results import recorded

pytestmark = pytest.mark.slow

WORDS = ["ein", "zwei", "Hund", "läuft", "schläft", ".", "a", "two", "dog", "runs", "sleeps"]
TEXT = ParallelText(
    ["ein Hund läuft .", "zwei Hund läuft", "Hund schläft", "zwei Hund schläft .", "ein Hund"] * 2,
    ["a dog runs .", "two dog runs", "dog sleeps", "two dog sleeps .", "a dog"] * 2,
)


@pytest.fixture(scope="module")
def translator() -> Translator:
    """An untrained model whose large weights let it say different things."""
    torch.manual_seed(0)
    tokenizer = WordTokenizer(WORDS)
    model = Transformer(TransformerConfig.tiny(src_vocab_size=tokenizer.vocab_size, max_len=12))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.mul_(4)
    return Translator(model.eval(), tokenizer)


@pytest.fixture(scope="module")
def result(translator: Translator) -> dict:
    return evaluate(translator, TEXT, each=2, n_resamples=20)


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


def test_the_model_is_scored_with_every_search(result: dict, translator: Translator) -> None:
    assert [s["name"] for s in result["systems"]] == list(SEARCHES)
    for system in result["systems"]:
        outputs = translator.translate(TEXT.source, **SEARCHES[system["name"]])
        expected = score(outputs, TEXT.target).to_dict()
        assert {key: system[key] for key in expected} == expected
        assert system["length_ratio"] > 0
        assert system["intervals"].keys() == {"bleu", "chrf"}


def test_what_is_judged_is_fixed_beforehand_and_not_by_its_score(result: dict) -> None:
    assert (result["baseline"], result["judged"]) == (BASELINE, JUDGED)
    assert SEARCHES[JUDGED] == {"beam_size": 4, "length_penalty": 0.6}
    for sample in result["samples"]:
        assert sample["translations"].keys() == {BASELINE, JUDGED}


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_the_sums_are_what_teacher_forcing_gives(translator: Translator, alpha: float) -> None:
    """Beams have their penalty taken out again."""
    settings = {"beam_size": 3, "length_penalty": alpha}
    _, sums = found_by(translator, TEXT.source, **settings)
    limit = translator.model.config.max_len
    for source, found in zip(TEXT.source, sums, strict=True):
        src = torch.tensor([[*translator.tokenizer.encode(source), EOS_ID]])
        marks = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": limit}
        ((best,),) = beam_search(translator.model, src, **settings, **marks)
        tokens = [*best.tokens, EOS_ID][:limit]  # what the limit cuts off has no end mark
        with torch.no_grad():
            logits = translator.model(src, torch.tensor([[BOS_ID, *tokens[:-1]]]))
        logs = logits[0].log_softmax(-1)[range(len(tokens)), tokens]
        assert found == pytest.approx(logs.sum().item(), abs=1e-3)


def test_a_given_translation_costs_what_its_tokens_cost(translator: Translator) -> None:
    source, target = "ein Hund läuft", "a dog"
    encode = translator.tokenizer.encode
    src = torch.tensor([[*encode(source), EOS_ID]])
    tokens = [*encode(target), EOS_ID]
    with torch.no_grad():
        logs = translator.model(src, torch.tensor([[BOS_ID, *tokens[:-1]]]))[0].log_softmax(-1)
    expected = sum(logs[t, token].item() for t, token in enumerate(tokens))
    found = log_probability(translator, ["zwei Hund schläft .", source], ["a", target])
    assert found[1] == pytest.approx(expected, abs=1e-4)


def test_a_beam_is_more_probable_than_greedy_where_the_record_says_so(result: dict) -> None:
    logs = result["log_probability"]
    assert logs.keys() == {BASELINE, JUDGED, "reference", "nothing"}
    assert all(len(values) == len(TEXT) for values in logs.values())
    for name in (BASELINE, JUDGED):
        (system,) = (s for s in result["systems"] if s["name"] == name)
        assert system["log_probability"] == pytest.approx(sum(logs[name]) / len(TEXT), abs=1e-3)


def test_samples_are_what_their_rules_say(result: dict) -> None:
    chrf = result["sentence_chrf"][JUDGED]
    by_rule = {rule: [s for s in result["samples"] if s["rule"] == rule] for rule in SAMPLES}
    assert all(len(chosen) == 2 for chosen in by_rule.values())
    assert [s["chrf"][JUDGED] for s in by_rule["worst"]] == [round(x, 1) for x in sorted(chrf)[:2]]
    assert [s["line"] for s in by_rule["stride"]] == [1, 6]
    for sample in result["samples"]:
        i = sample["line"] - 1
        assert (sample["source"], sample["reference"]) == (TEXT.source[i], TEXT.target[i])
        assert sample["features"] == result["features"][i]
        expected = sentence_chrf([sample["translations"][BASELINE]], [sample["reference"]])[0]
        assert sample["chrf"][BASELINE] == pytest.approx(expected, abs=0.06)


def test_counts_of_both_searches_are_kept(result: dict) -> None:
    assert result["bleu_counts"].keys() == {BASELINE, JUDGED}
    assert all(len(counts) == len(TEXT) for counts in result["bleu_counts"].values())


@pytest.fixture
def tool(
    clean: None, translator: Translator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., int]:
    """The command line on the small model; its provenance says that the tree is clean."""
    facts = {"command": "train", "commit": "abc", "task": "everyday", "training": {}}
    corpus = Corpus(ParallelText([], []), {"test.de-en": TEXT})
    monkeypatch.setattr(samples, "everyday_corpus", lambda folder: corpus)
    monkeypatch.setattr(samples, "load_run", lambda path, device: (translator, facts))
    out = str(tmp_path / "out.json")
    return lambda *given: command.main(["samples", *given, "--out", out, "--device", "cpu"])


def test_the_record_says_where_it_comes_from(tool: Callable[..., int], tmp_path: Path) -> None:
    status = tool(
        *("--model", "/somewhere/last", "--data", "/somewhere/data"),
        *("--sentences", "4", "--each", "1"),
    )
    assert status == 0
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["commit"] == "abc1234"
    assert record["command"].startswith("python -m measurements samples --model last --data data")
    assert record["data"]["n_sentences"] == 4
    assert "CC BY" in record["data"]["licence"]
    assert record["model"] == {"command": "train", "commit": "abc"}
    assert len(record["samples"]) == len(SAMPLES)


def test_the_books_record_is_of_these_searches_and_quotes_few_sentences() -> None:
    record = recorded("everyday_evaluation")
    assert [system["name"] for system in record["systems"]] == list(SEARCHES)
    assert (record["baseline"], record["judged"]) == (BASELINE, JUDGED)
    assert record["data"]["n_sentences"] == 1000
    assert len(record["samples"]) == EACH * len(SAMPLES)
    assert not record["commit"].endswith("-dirty")


@pytest.mark.parametrize("commit", ["abc1234-dirty", None])
def test_files_that_no_commit_holds_record_nothing(
    tool: Callable[..., int],
    commit: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(command, "provenance", lambda device: {"commit": commit})
    assert tool("--model", "last") == 1
    assert "commit, then measure" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--split", "tomorrow"], "no split 'tomorrow'"),
        (["--sentences", "0"], "must be at least 1"),
        (["--each", "0"], "must be at least 1"),
    ],
)
def test_bad_input_is_named(
    tool: Callable[..., int],
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    assert tool("--model", "last", *arguments) == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()
