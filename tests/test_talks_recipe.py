"""The ablation of the talks' recipe: each line differs in one thing, and finished ones are kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import talks_recipe
from benchmarks.talks_recipe import (
    LINES,
    RECIPE,
    STEPS,
    Line,
    captions_as_many,
    chosen_sentences,
    main,
    sum_of_tokens,
)
from tests.data.releases import folder_of, release
from transformer.data.parallel import ParallelText
from transformer.results import recorded
from transformer.tasks import Start, multi30k_task
from transformer.tasks.multi30k import RECIPE as CAPTIONS
from transformer.text import save_tokenizer
from transformer.weights import save_model

TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}
QUICK = {"steps": 5, "log_every": 1, "checkpoint_every": 1, "keep": 5, "evaluate_every": 2}


def changes(line: Line) -> dict[str, Any]:
    """What a line's model and training differ in."""
    return {
        name: value
        for name, value in line.to_dict().items()
        if value != Line().to_dict().get(name, {**RECIPE.model, **RECIPE.training}.get(name))
    }


def test_a_short_line_differs_in_one_thing_and_a_long_one_in_what_its_name_says() -> None:
    assert changes(LINES["recipe"]) == {} and changes(LINES["drawn weights"]) == {"start": False}
    for name, line in LINES.items():
        if line.together:
            parts = [LINES[other] for other in line.together]
            seeds = [dict(part.training).pop("seed", 0) for part in parts]
            assert len(set(seeds)) == len(parts) > 1
            same = [{**part.to_dict(), "seed": 0} for part in parts]
            assert same == same[:1] * len(parts), f"{name}: seeds of one recipe"
            continue
        varied = {key for key in changes(line) if key not in ("start", "seed", "steps")}
        of_length = "three times as long" in name
        assert line.training.get("steps", STEPS) == (3 * STEPS if of_length else STEPS)
        assert len(varied) <= (name.count(", ") if of_length else 1), name
        assert len(changes(line)) > 0 or name in ("recipe", "recipe, rounded weights")
        assert line.start != ("drawn weights" in name)
        for key in line.model:  # what the shipped model fixes is varied without it only
            assert not line.start or "dropout" in key


def test_the_recipe_fits_the_books_model() -> None:
    start = Start.load(talks_recipe.shipped_folder())
    assert {name: RECIPE.model[name] for name in RECIPE.model if name in start.sizes}.items() <= (
        start.sizes.items()
    )
    rate = RECIPE.training["factor"] * (RECIPE.model["d_model"] * RECIPE.training["warmup"]) ** -0.5
    assert rate == pytest.approx(1e-3, rel=2e-3)


def test_quoted_sentences_are_short_and_spread_whatever_a_model_makes_of_them() -> None:
    source = [" ".join(["wort"] * n) for n in [1, 6, 7, 30] * 10]
    text = ParallelText(source, [line.replace("wort", "word") for line in source])
    found = chosen_sentences(text)
    assert all(6 <= len(entry["source"].split()) <= 12 for entry in found)
    indices = [entry["index"] for entry in found]
    assert len(indices) == 5 and indices == sorted(indices) and indices[-1] - indices[0] > 20
    assert chosen_sentences(ParallelText(["ja"], ["yes"])) == []


def test_tokens_are_speed_times_time() -> None:
    reports = [
        {"seconds": 2.0, "tokens_per_second": 100},
        {"seconds": 3.0, "tokens_per_second": 50},
    ]
    assert sum_of_tokens(reports) == 250


@pytest.fixture
def folders(tmp_path: Path, few_captions: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command's options, on few sentences and with a tiny recipe."""
    sets = {"TED.tst2013": 99, "TED.tst2014": 8}
    talks = folder_of(tmp_path / "talks", release("16", None, sets))
    shipped = multi30k_task(few_captions, vocab_size=300, model={**TINY})
    folder = tmp_path / "shipped"
    folder.mkdir()
    save_model(folder / "model.safetensors", shipped.build_model())
    save_tokenizer(folder / "tokenizer.json", shipped.tokenizer)
    quick = replace(RECIPE, model={**RECIPE.model, **TINY}, training={**RECIPE.training, **QUICK})
    few = {name: replace(line, vocab_size=300) for name, line in LINES.items()}
    monkeypatch.setattr(talks_recipe, "LINES", few)
    monkeypatch.setattr(talks_recipe.task_of, "__defaults__", (quick,))
    for trained in (talks_recipe.run_line, talks_recipe.judge_together):
        monkeypatch.setattr(trained, "__defaults__", (tmp_path / "runs",))
    monkeypatch.setattr(talks_recipe, "shipped_folder", lambda: folder)
    monkeypatch.setattr(talks_recipe, "require_commit", lambda *told: None)
    monkeypatch.setattr(talks_recipe, "QUOTED_WORDS", (1, 12))
    out = str(tmp_path / "out.json")
    return ["--data", str(talks), "--captions", str(few_captions), "--out", out]


@pytest.mark.slow
def test_lines_are_recorded_one_by_one_and_not_run_again(
    folders: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert CAPTIONS.model["d_model"] == RECIPE.model["d_model"]
    names = ["recipe", "captions mixed in, drawn weights"]
    assert main([*folders, *names[:1]]) == 0
    assert list(json.loads(Path(folders[-1]).read_text())["lines"]) == names[:1]
    assert main([*folders, *names]) == 0
    assert "recipe: done before" in capsys.readouterr().out
    record = json.loads(Path(folders[-1]).read_text())
    assert list(record["lines"]) == names and record["planned"] == list(LINES)
    folders_named = ["--data talks", "--captions few_captions0", "--out out.json"]
    assert record["command"] == " ".join(["python -m benchmarks.talks_recipe", *folders_named])
    first, mixed = record["lines"].values()
    assert first["start"] == "shipped" and "start" not in mixed
    assert mixed["data"]["also"]["pairs"] > 0 and "also" not in first["data"]
    assert first["test"]["set"] == "TED.tst2014" and len(first["outputs"]) == 5
    assert first["test"]["beam"]["n_sentences"] == 8 and first["weights"] in first["nll"]
    assert len(record["quoted"]) == 5


@pytest.mark.slow
def test_a_line_that_was_killed_before_its_first_checkpoint_begins_again(
    folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*rest: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("transformer.runs.Trainer.train", killed)
        main([*folders, "recipe"])
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "config.json").exists() and not (run / "checkpoint.safetensors").exists()
    assert main([*folders, "recipe"]) == 0
    assert list(json.loads(Path(folders[-1]).read_text())["lines"]) == ["recipe"]


@pytest.mark.slow
def test_an_ensemble_is_judged_as_its_lines_are_and_needs_them_first(
    folders: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: replace(LINES["recipe"], vocab_size=300) for name in ("recipe", "again")}
    few["again"] = replace(few["again"], start=False)
    few["together"] = replace(few["recipe"], together=("recipe", "again"))
    monkeypatch.setattr(talks_recipe, "LINES", few)
    assert main([*folders, "recipe", "together"]) == 1
    assert "'together' needs the line 'again'; train it first" in capsys.readouterr().err
    assert main(folders) == 0
    lines = json.loads(Path(folders[-1]).read_text())["lines"]
    first, second, both = (lines[name] for name in few)
    assert both["line"]["together"] == ["recipe", "again"] and both["weights"] == "together"
    assert both["parameters"] == first["parameters"] + second["parameters"]
    assert both["tokens"] == first["tokens"] + second["tokens"]
    assert both["test"]["beam"]["n_sentences"] == 8 and len(both["outputs"]) == 5
    alone = [line["nll"][line["weights"]]["a sentence"] for line in (first, second)]
    assert alone[0] != alone[1] and both["nll"]["together"]["a sentence"] <= sum(alone) / 2
    assert first["test"]["set"] == both["test"]["set"] and "curve" not in both


@pytest.mark.slow
def test_lines_of_other_vocabularies_are_no_ensemble(
    folders: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"a": replace(LINES["recipe"], vocab_size=300)}
    few |= {"b": replace(few["a"], text="both"), "ab": replace(few["a"], together=("a", "b"))}
    monkeypatch.setattr(talks_recipe, "LINES", few)
    assert main(folders) == 1
    assert "the lines of 'ab' have learned different vocabularies" in capsys.readouterr().err
    assert list(json.loads(Path(folders[-1]).read_text())["lines"]) == ["a", "b"]


def test_two_processes_share_the_file(
    folders: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, found = Path(folders[-1]), {"test": {"set": "a set", "beam": {"bleu": 1.0}}}

    def run_line(name: str, *rest: Any) -> dict[str, Any]:
        if name == "recipe":  # while it runs, the other process writes a line
            out.write_text(json.dumps({"lines": {"drawn weights": found}}))
        return found

    monkeypatch.setattr(talks_recipe, "run_line", run_line)
    assert main([*folders, "recipe", "drawn weights", "dropout 0.1"]) == 0
    assert list(json.loads(out.read_text())["lines"]) == ["recipe", "drawn weights", "dropout 0.1"]
    assert "drawn weights: done before" in capsys.readouterr().out
    # Lines that are planned later stand in the record, though nothing is trained.
    longer = {**talks_recipe.LINES, "one more": LINES["recipe"]}
    monkeypatch.setattr(talks_recipe, "LINES", longer)
    assert main([*folders, "recipe"]) == 0
    assert json.loads(out.read_text())["planned"] == list(longer)


def test_the_control_has_as_many_captions_as_there_are_talks(few_captions: Path) -> None:
    corpus = captions_as_many(few_captions, 77)
    assert len(corpus.train) == 77 and list(corpus.splits) == ["valid", "test_2016_flickr"]


def test_an_unknown_line_and_a_file_of_something_else_are_refused(
    folders: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*folders, "no such line"])
    assert "no line 'no such line'" in capsys.readouterr().err
    Path(folders[-1]).write_text('{"lines": []}')
    assert main(folders) == 1
    assert "holds no lines of this benchmark" in capsys.readouterr().err


def test_the_books_record_holds_lines_of_today_and_quotes_five_short_sentences() -> None:
    record = recorded("talks_recipe")
    assert record["planned"] == list(LINES)
    assert record["lines"] and set(record["lines"]) <= set(LINES)
    for name, found in record["lines"].items():
        assert found["line"] == LINES[name].to_dict()
        assert len(found["outputs"]) == (0 if found["line"]["text"] == "captions" else 5)
    assert [6 <= len(quoted["source"].split()) <= 12 for quoted in record["quoted"]] == [True] * 5
