"""The task of everyday sentences: one model, asked for a language by the first word it reads."""

from pathlib import Path

import pytest

from transformer.data import everyday
from transformer.data.limits import DataError
from transformer.tasks import kind_of
from transformer.tasks.everyday import everyday_task

TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}


@pytest.fixture
def few_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"Das ist Satz {i}.\tThis is sentence {i}.\tmanythings 2018\n" for i in range(60)]
    (tmp_path / "a.tsv").write_text("".join(rows), "utf-8")
    monkeypatch.setattr(everyday.everyday_corpus, "__kwdefaults__", {"n_valid": 5, "n_test": 5})
    return tmp_path


def test_the_language_that_is_asked_for_is_one_token(few_sentences: Path) -> None:
    task = everyday_task(few_sentences, vocab_size=400, model=TINY, training={"steps": 1})
    first = {task.tokenizer.pieces([source[0]])[0] for source, _ in task.pairs}
    assert first == {"▁→de", "▁→en"}
    assert len(task.pairs) == 2 * task.metadata["train_pairs"]


def test_a_run_is_judged_in_both_directions(few_sentences: Path) -> None:
    task = everyday_task(few_sentences, vocab_size=400, model=TINY, training={"steps": 1})
    run = {"data": task.metadata}
    assert kind_of("everyday").splits(few_sentences, run) == task.splits
    run["data"] = {**task.metadata, "train_pairs": 7}
    with pytest.raises(DataError, match="the run has learned from 7 others"):
        kind_of("everyday").splits(few_sentences, run)


def test_a_wrong_setting_is_refused_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="n_heads"):
        everyday_task("nowhere", model={"n_heads": 7})
