"""Tasks on real text: the recipe fits the amount, the metadata say where the data come from."""

import json
import random
import string

import pytest

from tests.helpers.releases import folder_of, release
from transformer.data import corpora
from transformer.data.iwslt import load_iwslt
from transformer.data.parallel import DataError
from transformer.runs import load_run, train_task
from transformer.tasks import LARGE, SMALL, TASKS, copy_task, iwslt_task, text_task

from transformer_book.results import result_of_run

TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}
SETS = {"TED.dev2010": 30, "TED.tst2013": 300, "TED.tst2014": 8}


@pytest.fixture
def talks(tmp_path):
    return folder_of(tmp_path / "talks", release("16", None, SETS))


@pytest.mark.parametrize(("few", "recipe"), [(50_000, SMALL), (100, LARGE)])
def test_the_recipe_is_chosen_by_the_number_of_pairs(talks, monkeypatch, few, recipe):
    monkeypatch.setattr(corpora, "FEW_PAIRS", few)
    task = iwslt_task("iwslt16", talks, vocab_size=320)
    assert {name: getattr(task.config, name) for name in recipe.model} == recipe.model
    for name in ("max_tokens", "warmup", "factor"):
        assert getattr(task.training, name) == recipe.training[name]


def test_the_large_recipes_highest_rate_is_the_literatures() -> None:
    settings = LARGE.training
    rate = settings["factor"] * (LARGE.model["d_model"] * settings["warmup"]) ** -0.5
    assert rate == pytest.approx(5e-4, rel=1e-3)


def test_what_is_given_replaces_the_recipe(talks) -> None:
    task = iwslt_task(
        "iwslt16",
        talks,
        vocab_size=330,
        test_sets=["TED.dev2010"],
        model=TINY,
        training={"steps": 7, "label_smoothing": 0.2},
    )
    assert task.tokenizer.vocab_size <= 330
    assert (task.config.d_model, task.training.steps, task.training.label_smoothing) == (16, 7, 0.2)
    assert list(task.splits) == ["valid", "TED.dev2010"]
    assert task.metadata["test_sets"] == ["TED.dev2010"]


def test_the_tokenizer_has_not_seen_the_test_text(talks) -> None:
    files = {path.name: path.read_text() for path in talks.iterdir()}
    for language in ("de", "en"):
        name = f"IWSLT16.TED.tst2014.de-en.{language}.xml"
        files[name] = files[name].replace("TED.tst2014", "Xylophon")
    (talks.parent / "other").mkdir()
    other = folder_of(talks.parent / "other", files)
    tokenizers = [
        iwslt_task("iwslt16", place, vocab_size=400).tokenizer for place in (talks, other)
    ]
    assert tokenizers[0].to_json() == tokenizers[1].to_json()


@pytest.mark.slow
def test_the_real_sets_give_a_vocabulary_without_unknown_text(real_data) -> None:
    task = iwslt_task("iwslt16", real_data / "iwslt16", training={"steps": 1})
    assert task.tokenizer.vocab_size == task.metadata["vocab_size"] == 4000
    for text in task.splits.values():
        for line in (*text.source[:20], *text.target[:20]):
            assert task.tokenizer.decode(task.tokenizer.encode(line)) == line
    assert max(len(ids) for pair in task.pairs for ids in pair) < task.training.max_tokens


def test_the_metadata_stand_in_the_runs_folder_and_in_its_record(talks, tmp_path) -> None:
    task = iwslt_task("iwslt16", talks, vocab_size=320, model=TINY, training={"steps": 1})
    train_task(task, tmp_path / "run", show_progress=False)
    _, config = load_run(tmp_path / "run")
    assert config["data"] == task.metadata
    assert config["data"]["pairs"] == 330
    (tmp_path / "run" / "scores.json").write_text("{}")
    assert json.loads(json.dumps(result_of_run(tmp_path / "run")))["data"] == task.metadata


def test_plain_text_is_a_task_in_any_languages(tmp_path) -> None:
    lines = "".join(f"eins {i}\tichi {i}\n" for i in range(60))
    (tmp_path / "corpus.tsv").write_text(lines)
    task = text_task(tmp_path / "corpus.tsv", source="de", target="ja", vocab_size=300, model=TINY)
    assert (task.name, list(task.splits)) == ("text", ["valid"])
    assert len(task.pairs) == task.metadata["train_pairs"] == 57


def test_every_campaign_is_a_task(talks) -> None:
    assert {"iwslt14", "iwslt16", "iwslt17", "text"} <= TASKS.keys()
    assert load_iwslt(talks).train is None
    names = [TASKS[name].build(talks, vocab_size=320).name for name in ("iwslt14", "iwslt17")]
    assert names == ["iwslt14", "iwslt17"]


# Sentences that are longer than the model takes.

# One word of letters that no merge joins: few words, many subwords.
LONG = "".join(random.Random(0).choices(string.ascii_lowercase, k=120))


def folder_with_long_lines(folder, **parts):
    """A folder of tables of forty pairs, in which these lines (from 1) have long sides."""
    folder.mkdir()
    for name, long in {"train": {}, "valid": {}, "test": {}, **parts}.items():
        rows = [[f"{name}{' so' * (i % 4)} {i}", f"out {name} {i}"] for i in range(1, 41)]
        for line, side in long.items():
            rows[line - 1][side] = LONG
        (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize(
    ("model", "training"), [({"max_len": 40}, {"steps": 1}), ({}, {"max_tokens": 40, "epochs": 1})]
)
def test_training_pairs_that_are_too_long_are_dropped_before_the_first_step(
    tmp_path, model, training
):
    data = folder_with_long_lines(tmp_path / "data", train={7: 0, 9: 1})
    task = text_task(data, vocab_size=330, model={**TINY, **model}, training=training)
    assert len(task.pairs) == 38
    assert max(len(ids) for pair in task.pairs for ids in pair) < 40
    assert task.metadata["too_long"] == {"pairs": 2, "first": "line 7 of train.tsv"}
    said = "\n".join(task.about_data())
    assert "2 more dropped" in said and "(first: line 7 of train.tsv); 38 train" in said


@pytest.mark.slow
def test_a_run_whose_text_holds_a_long_pair_goes_on_as_it_began(tmp_path):
    data = folder_with_long_lines(tmp_path / "data", train={7: 0})
    model = {**TINY, "max_len": 40}
    for steps in (20, 40):
        training = {"steps": steps, "max_tokens": 64, "cooldown": 0.0, "evaluate_every": 0}
        task = text_task(data, vocab_size=330, model=model, training=training)
        _, metrics = train_task(task, tmp_path / "run", resume=steps > 20, show_progress=False)
    assert (metrics[-1]["step"], metrics[-1]["epoch"] > 2) == (40, True)


def test_where_nothing_is_short_enough_the_number_that_would_do_is_said(tmp_path):
    data = folder_with_long_lines(tmp_path / "data")
    with pytest.raises(
        ValueError, match=r"than the model takes \(2\); raise max_len .* to at"
    ) as no:
        text_task(data, vocab_size=330, model={**TINY, "max_len": 2})
    enough = int(str(no.value).split("to at least ")[1].split(",")[0])
    fits = text_task(data, vocab_size=330, model={**TINY, "max_len": enough})
    assert (len(fits.pairs), "too_long" in fits.metadata) == (40, False)
    less = text_task(data, vocab_size=330, model={**TINY, "max_len": enough - 1})
    assert 0 < less.metadata["too_long"]["pairs"] < 40


def test_sides_that_are_blank_are_said_for_every_part(tmp_path):
    texts = {"train": ["a b", "c d", "e f"], "valid": ["g", "h"], "test": ["i", "j"]}
    blank = {"train": [], "valid": [], "test": [1]}

    def task():
        for name, lines in texts.items():
            wanted = ["\u200b" if i in blank[name] else line for i, line in enumerate(lines)]
            (tmp_path / f"{name}.de").write_text("\n".join(lines), encoding="utf-8")
            (tmp_path / f"{name}.en").write_text("\n".join(wanted), encoding="utf-8")
        return text_task(tmp_path, vocab_size=300, model=TINY)

    assert "1 of 2 pairs of test have an empty side, and are not scored" in task().about_data()
    blank["train"] = [0, 1, 2]
    with pytest.raises(ValueError, match="no sentence pair is left to train on: a side is empty"):
        task()
    blank.update(train=[0], valid=[0, 1])
    with pytest.raises(DataError, match="valid of .*: in every pair a side is empty"):
        task()


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["max_len", "max_tokens"])
def test_made_up_sentences_that_are_too_long_are_refused(setting):
    where = "model" if setting == "max_len" else "training"
    with pytest.raises(ValueError, match=f"has 11 tokens, .* raise {setting} .* to at least 11"):
        copy_task(**{where: {setting: 10}})
    assert len(copy_task(**{where: {setting: 11}}).pairs) == 40_000


def test_sentences_that_are_too_long_are_left_out_of_the_score_and_counted(tmp_path):
    # A source that is too long cannot be translated; of a reference only the loss is missing.
    data = folder_with_long_lines(tmp_path / "data", valid={5: 0, 6: 1})
    task = text_task(data, vocab_size=330, model={**TINY, "max_len": 40}, training={"steps": 1})
    assert "1 of 40 sentences of valid are too long, and not scored" in list(task.about_data())
    model = task.build_model().eval()
    scores = task.evaluator(n_sentences=6)(model)
    assert (scores["left_out"], scores["n_sentences"]) == (1, 5)
    assert "left_out" not in task.evaluator("test", 2)(model)
    long = folder_with_long_lines(tmp_path / "long", valid=dict.fromkeys(range(1, 41), 0))
    task = text_task(long, vocab_size=330, model={**TINY, "max_len": 40}, training={"steps": 1})
    with pytest.raises(ValueError, match="no pair of valid fits; the longest has .* raise max_len"):
        task.evaluator()
