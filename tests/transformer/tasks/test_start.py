"""Beginning with another model: what is taken over, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers.releases import folder_of, release
from transformer.tasks import Start, Task, copy_task, iwslt_task
from transformer.tasks.start import BY_TOKEN, rows_of
from transformer.text import BPETokenizer, save_tokenizer
from transformer.weights import model_tensors, save_model

TINY = {"d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 1}


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    return folder_of(tmp_path / "talks", release("16", None, {"TED.tst2013": 99, "TED.tst2014": 8}))


def task_on(talks: Path, **settings: Any) -> Task:
    return iwslt_task("iwslt16", talks, vocab_size=280, model={**TINY, **settings})


def start_of(task: Task, folder: Path) -> Start:
    """From the files of a model that has not learned anything."""
    folder.mkdir()
    save_model(folder / "model.safetensors", task.build_model())
    save_tokenizer(folder / "tokenizer.json", task.tokenizer)
    return Start.load(folder)


def test_with_the_same_tokens_all_weights_are_taken_over(talks: Path, tmp_path: Path) -> None:
    task = task_on(talks)
    start = start_of(task, tmp_path / "earlier")
    assert start.name == "earlier"
    with torch.no_grad():
        start.model.output.weight.mul_(3)
    model = task_on(talks, dropout=0.4, word_dropout=0.2).starting_from(start).build_model()
    tensors = model_tensors(start.model)
    taken = [name for name, t in model_tensors(model).items() if torch.equal(t, tensors[name])]
    assert taken == list(tensors)
    assert model.config.dropout == 0.4


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
def test_a_new_token_begins_with_the_mean_of_those_that_spell_it(
    talks: Path, tmp_path: Path, tie: str
) -> None:
    start = start_of(task_on(talks, tie=tie), tmp_path / "earlier")
    fresh = iwslt_task("iwslt16", talks, vocab_size=300, model={**TINY, "tie": tie})
    model = fresh.starting_from(start).build_model()
    old, new = start.tokenizer, fresh.tokenizer
    assert isinstance(old, BPETokenizer) and new.vocab_size > old.vocab_size
    spelled = [old.spell(piece) for piece in new.pieces(range(new.vocab_size))]
    assert max(map(len, spelled)) > 1
    theirs = model_tensors(start.model)
    for name, mine in model_tensors(model).items():
        expected = theirs[name]
        if name in BY_TOKEN:
            expected = torch.stack([expected[ids].sum(0) / len(ids) for ids in spelled])
        torch.testing.assert_close(mine, expected)


def test_rows_are_means() -> None:
    table = torch.arange(6.0).view(3, 2)
    assert rows_of(table, [[2], [0, 2]]).tolist() == [[4.0, 5.0], [2.0, 3.0]]


def test_another_size_is_refused_with_its_name(talks: Path, tmp_path: Path) -> None:
    start = start_of(task_on(talks), tmp_path / "earlier")
    with pytest.raises(ValueError, match=r"d_ff \(32\) differs .* earlier \(24\); leave d_ff out"):
        task_on(talks, d_ff=32).starting_from(start)


def test_words_are_not_spelled_by_subwords(talks: Path, tmp_path: Path) -> None:
    start = start_of(task_on(talks, norm="pre"), tmp_path / "earlier")
    with pytest.raises(ValueError, match="only subwords can spell each other"):
        copy_task(model=start.sizes).starting_from(start)


@pytest.mark.slow
def test_words_are_taken_over_where_they_are_the_same(tmp_path: Path) -> None:
    task = copy_task(model=TINY, training={"seed": 3})
    start = start_of(task, tmp_path / "earlier")
    model = copy_task(model=start.sizes).starting_from(start).build_model()
    assert torch.equal(model.output.weight, start.model.output.weight)


def test_a_folder_without_a_model_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no tokenizer"):
        Start.load(tmp_path)
