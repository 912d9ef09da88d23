"""The command line as its user meets it.

What is asked of messages and files runs in this process, without loading torch anew; what only a
process has (bytes of standard input, signals), in one of its own.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
import yaml
from safetensors.torch import load_file

from tests.helpers.command_line import run, run_book
from tests.helpers.releases import folder_of, release
from transformer.command_line.cli import _own_test_set
from transformer.command_line.options import data_settings
from transformer.compared.seq2seq import Seq2Seq, Seq2SeqConfig
from transformer.config import TransformerConfig
from transformer.data.limits import DataError
from transformer.runs import RunError, load_run
from transformer.support.devices import NotEnoughMemoryError
from transformer.support.files import FileError, TransformerError
from transformer.tasks import TASKS
from transformer.training import TrainingError
from transformer.variants import build
from transformer.weights import CheckpointError, save_model

TINY = ["--d-model", "16", "--d-ff", "16", "--n-heads", "2", "--n-layers", "1"]


COMMAND = [sys.executable, "-m", "transformer"]
ONE_THREAD = os.environ | {"OMP_NUM_THREADS": "1"}


def unframed(text: str) -> str:
    """What the terminal has wrapped and framed, on one line."""
    return " ".join(text.replace("│", " ").split())


@pytest.fixture(scope="module")
def copy_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "copy"
    done = run("train", "copy", "--out", str(folder), "--steps", "30", *TINY)
    assert done.returncode == 0, done.stderr
    assert "Try it: echo " in done.stdout
    return folder


@pytest.mark.slow
def test_a_run_can_begin_with_the_weights_of_another(copy_run: Path, tmp_path: Path) -> None:
    start = ["train", "copy", "--start", str(copy_run), "--steps", "1", "--factor", "1e-9"]
    done = run(*start, "--out", str(tmp_path / "second"))
    assert done.returncode == 0, done.stderr
    before, after = (load_file(f / "model.safetensors") for f in (copy_run, tmp_path / "second"))
    for name, weights in before.items():
        torch.testing.assert_close(after[name], weights)
    assert json.loads((tmp_path / "second/config.json").read_text())["start"] == "copy"
    refused = run(*start, "--d-model", "32", "--out", str(tmp_path / "third"))
    assert "d_model (32) differs from that of the model to start from, copy (16)" in refused.stderr
    assert refused.returncode == 1 and not (tmp_path / "third").exists()


def test_help_names_the_commands_and_the_tasks() -> None:
    top, train = run("--help"), run("train", "--help")
    assert all(word in top.stdout for word in ("train", "translate", "evaluate"))
    assert all(word in train.stdout for word in ("copy", "toy", "multi30k", "--resume"))


def test_a_run_folder_says_where_its_weights_come_from(copy_run: Path) -> None:
    names = {path.name for path in copy_run.iterdir()}
    assert names == {
        "checkpoint.safetensors",
        "config.json",
        "metrics.jsonl",
        "model.safetensors",
        "scores.json",
        "tensorboard",
        "tokenizer.json",
    }
    facts = json.loads((copy_run / "config.json").read_text())
    assert facts["task"] == "copy"
    assert facts["training"]["steps"] == 30
    assert facts["training"]["seed"] == 0
    assert "train copy" in facts["command"]
    assert {"torch", "sacrebleu"} <= facts["versions"].keys()
    assert (facts["training"]["precision"], facts["precision"]) == ("auto", "float32")
    assert (facts["training"]["compile"], facts["compiled"]) == (None, False)
    last = json.loads((copy_run / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["step"] == 30
    assert {"loss", "rate", "tokens_per_second"} <= last.keys()
    assert "signature" in json.loads((copy_run / "scores.json").read_text())["test"]


def test_translate_gives_a_line_for_each_line(copy_run: Path) -> None:
    done = run("translate", str(copy_run), stdin="1 2 3\n4 5 6 7\n")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split("\n")) == 3


def test_translate_says_which_words_it_does_not_know(copy_run: Path) -> None:
    known = run("translate", str(copy_run), stdin="1 2 3\n")
    assert known.stderr == ""
    done = run("translate", str(copy_run), stdin="1 hello\nworld hello\n")
    assert "2 words are not in its vocabulary" in done.stderr and "hello, world" in done.stderr
    assert len(done.stdout.splitlines()) == 2  # a line for each line, and nothing else
    assert "1 word is not" in run("translate", str(copy_run), stdin="<b>\n").stderr


def test_translate_reads_a_file(copy_run: Path, tmp_path) -> None:
    (tmp_path / "in.txt").write_text("1 2 3\n")
    from_file = run("translate", str(copy_run), str(tmp_path / "in.txt"))
    assert from_file.stdout == run("translate", str(copy_run), stdin="1 2 3\n").stdout


def test_evaluate_prints_bleu_with_its_signature(copy_run: Path) -> None:
    done = run("evaluate", str(copy_run))
    assert done.returncode == 0, done.stderr
    assert "test: BLEU" in done.stdout
    assert "chrF" in done.stdout
    assert "tok:13a" in done.stdout
    assert "nc:6" in done.stdout
    kept = json.loads((copy_run / "scores.json").read_text())["test"]
    assert {"bleu", "signature", "chrf", "chrf_signature"} <= kept.keys()


def test_the_length_penalty_is_a_setting_of_the_search(copy_run: Path) -> None:
    done = run("evaluate", str(copy_run), "--beam", "2", "--length-penalty", "1")
    assert done.returncode == 0, done.stderr
    kept = json.loads((copy_run / "scores.json").read_text())
    assert "test beam 2 alpha 1" in kept
    refused = run("translate", str(copy_run), "--length-penalty", "-1", stdin="1 2\n")
    assert refused.returncode != 0
    assert "--length-penalty" in refused.stderr


@pytest.mark.slow
def test_a_run_is_packed_into_a_page(copy_run: Path, tmp_path) -> None:
    out = tmp_path / "page"
    done = run_book("pack", str(copy_run), "--out", str(out), "--sentence", "1 2 3")
    assert done.returncode == 0, done.stderr
    size, read, shown, *_ = done.stdout.splitlines()
    assert "kB to download for the model, in 1 part;" in size
    assert read.startswith("Read back: ") and shown.startswith("1 2 3 -> ")
    assert f"Open {out / 'index.html'}" in done.stdout
    assert (out / "index.html").is_file()
    again = run_book("pack", str(copy_run), "--out", str(out))
    assert (again.returncode, again.stdout) == (1, "")
    assert "is there already; name another folder" in again.stderr


@pytest.mark.slow
def test_a_page_shows_the_example_of_its_run_unless_told(copy_run: Path, tmp_path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(copy_run, folder)
    facts = json.loads((folder / "config.json").read_text())
    done = run_book("pack", str(folder))
    assert done.returncode == 0, done.stderr
    assert f"\n{facts['example']} -> " in done.stdout
    assert (folder / "page" / "index.html").is_file()
    del facts["example"]  # as in runs of earlier versions
    (folder / "config.json").write_text(json.dumps(facts))
    refused = run_book("pack", str(folder), "--out", str(folder / "other"))
    assert "give one to show first: --sentence" in unframed(refused.stderr)
    assert refused.returncode != 0 and not (folder / "other").exists()


def test_what_no_page_can_compute_with_is_not_packed(copy_run: Path, tmp_path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(copy_run, folder)
    size = load_run(copy_run)[0].tokenizer.vocab_size
    recurrent = Seq2Seq(Seq2SeqConfig(size, size, d_model=8))
    variant = build(TransformerConfig(size, size, d_model=16, n_heads=2, n_layers=1), "rotary")
    for model, complaint in (
        (recurrent, "configuration that does not fit"),
        (variant, "holds a variant of the paper's model, with ['NoPositions', 'Rotary"),
    ):
        save_model(folder / "model.safetensors", model)
        done = run_book("pack", str(folder))
        assert (done.returncode, done.stdout) == (1, "")
        assert complaint in unframed(done.stderr)
        assert not (folder / "page").exists()


@pytest.mark.slow
def test_averaged_checkpoints_are_a_run(tmp_path) -> None:
    folder = tmp_path / "copy"
    made = run(
        *("train", "copy", "--out", str(folder), "--steps", "6", "--keep", "2"),
        *("--checkpoint-every", "3", "--no-score", *TINY),
    )
    assert made.returncode == 0, made.stderr
    done = run("average", str(folder), "--last", "2")
    assert done.returncode == 0, done.stderr
    assert "average-2" in done.stdout
    scored = run("evaluate", str(folder / "average-2"))
    assert "test: BLEU" in scored.stdout
    refused = run("average", str(folder), "--last", "3")
    assert refused.returncode == 1
    assert "train with --keep 3" in refused.stderr


def test_a_beam_is_kept_beside_the_greedy_scores(copy_run: Path) -> None:
    done = run("evaluate", str(copy_run), "--beam", "2")
    assert done.returncode == 0, done.stderr
    assert "test beam 2: BLEU" in done.stdout
    kept = json.loads((copy_run / "scores.json").read_text())
    assert {"test", "test beam 2"} <= kept.keys()
    done = run("translate", str(copy_run), "--beam", "2", stdin="1 2 3\n")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_the_books_own_sentences_are_scored_with_two_references(copy_run: Path) -> None:
    done = run("evaluate", str(copy_run), "--own", "en", "--own", "de", "--max-tokens", "4096")
    assert done.returncode == 0, done.stderr
    into_english, into_german = done.stdout.splitlines()
    assert into_english.startswith("own_en: BLEU") and into_german.startswith("own_de: BLEU")
    assert "of 200 exact" in into_english and "nrefs:2" in into_english
    kept = json.loads((copy_run / "scores.json").read_text())["own_de"]
    assert (kept["n_sentences"], "nrefs:2" in kept["signature"]) == (200, True)
    refused = run("evaluate", str(copy_run), "--own", "fr")
    assert "target ('fr') must be one of de, en" in refused.stderr
    refused = run("evaluate", str(copy_run), "--own", "en", "--split", "test")
    assert "leave out --data and --split" in unframed(refused.stderr)


def test_a_model_of_both_directions_is_told_the_language() -> None:
    splits, judge = _own_test_set("everyday", "de")
    text = splits["own_de"]
    assert text.source[0].startswith("→de Do you know")
    assert judge(text.source, text.target, text.target).to_dict()["exact"] == 1.0
    assert _own_test_set("multi30k", "en")[0]["own_en"].source[0].startswith("Weißt du")


def test_translations_can_be_drawn_and_drawn_again(copy_run: Path) -> None:
    """A model of 30 steps knows little: what it draws differs from seed to seed."""
    stdin = "1 2 3 4 5\n\n6 7 8 9\n"

    def drawn(*options: str) -> str:
        done = run("translate", str(copy_run), "--sample", *options, stdin=stdin)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.split("\n")
        assert (len(lines), lines[1], lines[3]) == (4, "", "")
        return done.stdout

    assert drawn("--seed", "1") == drawn("--seed", "1") != drawn("--seed", "2")
    greedy = run("translate", str(copy_run), stdin=stdin).stdout
    assert drawn("--top-k", "1") == drawn("--temperature", "0.000001") == greedy
    assert drawn("--top-p", "0.000001") == drawn("--temperature", "1e-300") == greedy


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--temperature", "2"], "--temperature is for --sample; add it"),
        (["--sample", "--beam", "2"], "--sample draws and --beam searches; give one of them"),
        (["--sample", "--length-penalty", "0.6"], "--length-penalty is for --beam; leave it out"),
        (["--sample", "--temperature", "0"], ": --temperature (0.0) must be a number above 0"),
        (["--sample", "--top-k", "0"], ": --top-k (0) must be at least 1; leave it out to draw"),
        (["--sample", "--top-p", "2"], ": --top-p (2.0) must be above 0 and at most 1; leave it"),
        (["--sample", "--seed", str(2**70)], "must be a whole number from 0 to 2^63 - 1"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_the_words_of_the_options(
    copy_run: Path, options: list[str], sentence: str
) -> None:
    done = run("translate", str(copy_run), *options, stdin="1 2\n")
    assert (done.returncode != 0, done.stdout) == (True, "")
    assert sentence in unframed(done.stderr)
    assert not any(word in done.stderr for word in ("None", "top_k", "greedy_search", "Traceback"))


def test_a_line_that_is_too_long_to_draw_for_is_named_as_in_a_search(copy_run: Path) -> None:
    done = run("translate", str(copy_run), "--sample", stdin="3 " * 2000 + "\n")
    assert done.returncode == 1
    assert "Error: line 1 has 2000 tokens, more than the model takes" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train", "paint"], "unknown task 'paint'"),
        (["train", "copy", "--d-model", "10", "--n-heads", "4"], "must be divisible by n_heads"),
        (["train", "copy", "--steps", "0"], "steps (0) must be at least 1"),
        (["train", "copy", "--label-smoothing", "2"], "label_smoothing (2.0) must be at least 0"),
        (["train", "copy", "--factor", "nan"], "factor (nan) must be a finite number above 0"),
        (["train", "copy", "--clip", "-1"], "clip (-1.0) must be a finite number above 0"),
        (["train", "copy", "--betas", "0.9", "1"], "betas ((0.9, 1.0)) must be at least 0"),
        (["train", "copy", "--seed", str(2**70)], "must be at least 0 and below 2^63"),
        (["train", "copy", "--seed", "-1"], "seed (-1) must be at least 0"),
        (["train", "copy", "--max-tokens", "5"], "more than a batch may hold (5)"),
        (["train", "copy", "--max-len", "8", "--steps", "1"], "max_len"),
        (["train", "copy", "--preset", "A9"], "unknown preset 'A9'; choose one of base, big"),
        (["train", "copy", "--config", "nowhere.json"], "could not read nowhere.json"),
        (["train", "--steps", "1"], "name a task: copy, parsing, toy, multi30k"),
        (["train", "copy", "--norm", "both"], "norm ('both') must be one of"),
        (["train", "copy", "--device", "abacus"], "unknown device 'abacus'"),
        (["train", "copy", "--data", "."], "makes its own data"),
        (["train", "multi30k", "--data", "nowhere"], "there is no folder nowhere"),
        (
            ["train", "copy", "--test-set", "TED.tst2014"],
            "makes its own data; leave out --test-set",
        ),
        (["train", "multi30k", "--test-set", "x"], "has no such thing; leave out --test-set"),
        (["train", "iwslt16", "--data", "nowhere"], "there is no folder or archive nowhere"),
        (["train", "iwslt17", "--source", "fr"], "for fr and en name a folder or archive"),
        (["train", "text"], "name the text with --data"),
        (["train", "text", "--data", "nowhere"], "there is no folder nowhere, no .tsv file"),
        (["train", "copy", "--device", "cuda:9"], "device 'cuda:9' asked for, but"),
        (["train", "copy", "--d-ff", "10000000000000"], "choose a smaller d_model, d_ff"),
        (["train", "copy", "--checkpoint-minutes", "-1"], "checkpoint_minutes (-1.0) must be"),
        (["train", "copy", "--resume"], "no run to resume"),
        (["translate", "nowhere"], "holds no run"),
        (["evaluate", "nowhere"], "holds no run"),
    ],
)
def test_bad_input_gives_a_sentence_and_leaves_nothing(
    arguments: list[str], sentence: str, tmp_path
) -> None:
    out = ["--out", str(tmp_path / "run")] if arguments[0] == "train" else []
    done = run(*arguments, *out)
    assert done.returncode != 0
    assert sentence in unframed(done.stderr)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_page_of_no_run_gives_a_sentence() -> None:
    done = run_book("pack", "nowhere")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "holds no run" in unframed(done.stderr)


@pytest.mark.parametrize("command", ["exercise", "pack", "ablate"])
def test_a_command_of_the_book_in_its_earlier_spelling_says_the_new_one(command: str) -> None:
    done = run(command, "my folder", "--help", "--seeds", "2")
    assert (done.returncode, done.stdout) == (2, "")
    new = f"python -m transformer_book {command} 'my folder' --help --seeds 2"
    assert done.stderr == f"Error: `{command}` is a command of the book's package now: {new}\n"
    assert command not in run("--help").stdout


@pytest.mark.parametrize("below", ["", "/run"])
def test_a_file_in_place_of_the_folder_is_told_before_data_are_read(below: str, tmp_path) -> None:
    file = tmp_path / "notes"
    file.write_text("mine")
    done = run("train", "iwslt16", "--data", "nowhere", "--out", f"{file}{below}")
    assert done.returncode == 1
    told = unframed(done.stderr)
    assert "is a file, where a folder is needed; name another folder" in told
    assert "nowhere" not in told and "Traceback" not in done.stderr
    assert file.read_text() == "mine"


@pytest.mark.parametrize("error", [ValueError("a bug"), OSError(5, "a disk"), RunError("a run")])
def test_an_error_can_be_seen_where_it_was_raised(error, copy_run, monkeypatch) -> None:
    def raises(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("transformer.command_line.cli.load_run", raises)
    for off in ("", "0"):
        monkeypatch.setenv("TRANSFORMER_TRACEBACK", off)
        done = run("translate", str(copy_run))
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert done.stderr.startswith("Error: ") and str(error.args[-1]) in done.stderr
    monkeypatch.setenv("TRANSFORMER_TRACEBACK", "1")
    with pytest.raises(type(error)) as seen:
        run("translate", str(copy_run))
    assert seen.value is error and seen.traceback[-1].name == "raises"
    assert "TRANSFORMER_TRACEBACK=1" in run("--help").stdout


def test_what_is_raised_with_a_sentence_has_one_base() -> None:
    for kind in (DataError, RunError, TrainingError, FileError, CheckpointError):
        assert issubclass(kind, TransformerError)
    assert issubclass(NotEnoughMemoryError, TransformerError)
    assert not issubclass(TransformerError, ValueError)  # which is also what a bug raises


def test_a_full_memory_is_a_sentence_and_leaves_nothing(copy_run: Path, tmp_path) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    with patch("transformer.training.loop.Trainer._update", full):
        done = run("train", "copy", "--out", str(tmp_path / "run"), *TINY)
    assert done.returncode == 1
    assert "--max-tokens 352 --accumulate 2" in done.stderr
    assert not (tmp_path / "run").exists()
    with patch("transformer.translation.greedy_search", full):
        done = run("translate", str(copy_run), stdin="1 2 3\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "set max_tokens below that (--max-tokens " in done.stderr
    smaller = run("translate", str(copy_run), "--max-tokens", "4", stdin="1 2 3\n4 5 6\n")
    assert smaller.stdout == run("translate", str(copy_run), stdin="1 2 3\n4 5 6\n").stdout


def test_help_says_what_to_expect_of_each_task() -> None:
    alone = run("train")
    text = unframed(alone.stdout)
    for task in ("copy", "toy", "multi30k", "iwslt14", "iwslt16", "iwslt17", "text"):
        assert f" {task} " in text
    assert all(word in text for word in ("BLEU", "minutes", "GB", "not run by us"))


def test_talks_train_and_are_scored_from_test_sets_alone(tmp_path) -> None:
    sets = {"TED.tst2013": 99, "TED.tst2014": 3}
    talks = folder_of(tmp_path / "talks", release("16", None, sets))
    out = ["--out", str(tmp_path / "run"), "--steps", "2", "--vocab-size", "330"]
    done = run("train", "iwslt16", "--data", str(talks), *out, *TINY)
    assert done.returncode == 0, done.stderr
    assert "Trains on TED.tst2013; tests on TED.tst2014" in done.stdout
    assert "99 pairs, 0 of them dropped; 98 train" in done.stdout
    assert "TED.tst2014: BLEU" in done.stdout
    only = folder_of(tmp_path / "only", release("16", None, {"TED.tst2014": 3}))
    scored = run("evaluate", str(tmp_path / "run"), "--data", str(only))
    assert scored.returncode == 0, scored.stderr
    assert "TED.tst2014: BLEU" in scored.stdout
    assert "valid" not in scored.stdout


def test_text_of_ones_own_trains_and_is_scored(tmp_path) -> None:
    table = tmp_path / "corpus.tsv"
    table.write_text("".join(f"un {i}\tone {i}\n" for i in range(60)))
    languages = ["--source", "fr", "--target", "en", "--vocab-size", "300"]
    out = ["--out", str(tmp_path / "run"), "--steps", "2", *languages]
    done = run("train", "text", "--data", str(table), *out, *TINY)
    assert done.returncode == 0, done.stderr
    scored = run("evaluate", str(tmp_path / "run"), "--data", str(table))
    assert "valid: BLEU" in scored.stdout


def test_check_says_what_training_would_stumble_over_and_writes_nothing(tmp_path) -> None:
    own, also, long = tmp_path / "own", tmp_path / "also.tsv", "zu lang " * 60
    own.mkdir()
    pairs = [f"un {i}\tone {i}\n" for i in range(60)]
    (own / "train.tsv").write_text("".join([*pairs[:40], f"{long}\t{long}\n", "\tnothing\n"]))
    (own / "test.tsv").write_text("".join([*pairs[50:], f"wieder {long}\tone\n"]))
    also.write_text("".join(pairs[55:]))
    settings = [str(own), "--also", str(also), "--vocab-size", "300", "--max-len", "50"]
    before = sorted(tmp_path.rglob("*"))
    done = run("check", *settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(tmp_path.rglob("*")) == before
    for line in (
        "42 pairs, 1 of them dropped: 1 where a side is empty (first: line 42 of train.tsv); 39 tr",
        "Also from also.tsv: 5 pairs, 0 of them dropped; 5 train",
        "1 more dropped, too long for the model or a batch (first: line 41 of train.tsv); 43 train",
        "(max_len), a batch 1,024 (max_tokens)",
        "300 subwords asked for, ",
        "5 of 11 sentences of test stand in the training text",
        "1 of 11 sentences of test are too long, and not scored",
        "Scored by BLEU, nrefs:1|case:mixed",
    ):
        assert line in done.stdout
    out = ["--out", str(tmp_path / "run"), "--steps", "2", *TINY]
    trained = run("train", "text", "--data", *settings, *out)
    assert trained.returncode == 0, trained.stderr
    assert trained.stdout.startswith(done.stdout)
    scored = run("evaluate", str(tmp_path / "run"), "--data", str(own))
    scores = json.loads((tmp_path / "run/scores.json").read_text())
    assert scores["test"]["left_out"] == 1 and "left_out" not in scores["valid"]
    for output in (trained.stdout, scored.stdout):
        assert "; 1 too long for the model, left out\n" in output
    refused = run("check", str(own), "--vocab-size", "300", "--max-len", "2")
    assert refused.returncode == 1 and "raise max_len (--max-len) to at least" in refused.stderr


def test_fetch_tells_what_it_cannot_get(tmp_path) -> None:
    done = run("fetch", "wmt14", "--to", str(tmp_path))
    assert done.returncode == 1
    assert "no corpus 'wmt14' to fetch; there are multi30k, everyday, iwslt14" in done.stderr


def test_translations_stay_line_by_line(copy_run: Path) -> None:
    # str.splitlines would break the third line at its \u2028.
    done = run("translate", str(copy_run), stdin="1 2\n\n3\u20284\r\n\n")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    assert len(lines) == 5
    assert (lines[1], lines[3], lines[4]) == ("", "", "")


def test_a_line_that_is_too_long_is_named_and_nothing_is_printed(copy_run: Path) -> None:
    done = run("translate", str(copy_run), stdin="1 2\n\n" + "3 " * 2000 + "\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "line 3 has 2000 tokens, more than the model takes" in done.stderr
    assert "split it" in done.stderr


@pytest.mark.parametrize("content", ['{"test": {"bleu": 3', "[1, 2]", "\xff"])
def test_scores_that_are_damaged_stay_as_they_are(copy_run: Path, tmp_path, content) -> None:
    for path in copy_run.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "scores.json").unlink()
    (tmp_path / "scores.json").write_bytes(content.encode("latin-1"))
    done = run("evaluate", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "scores.json" in done.stderr and "mend it, or move it away" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "scores.json").read_bytes() == content.encode("latin-1")


@pytest.mark.parametrize("task", TASKS)
def test_settings_are_refused_before_data_are_made_or_read(task: str, tmp_path) -> None:
    """No task comes as far as its data: there are none, and making some takes too long."""

    def made(*_: object, **__: object) -> None:
        raise AssertionError("data were made")

    out = ["--out", str(tmp_path / "run")]
    data = (
        ["--data", str(tmp_path / "nowhere")] if "data_path" in data_settings(TASKS[task]) else []
    )
    with (
        patch("transformer.tasks.toy_german.toy_german", made),
        patch("transformer.data.copy_task.CopyTask.pairs", made),
    ):
        for wrong, sentence in (
            (["--label-smoothing", "2"], "label_smoothing (2.0) must be at least 0 and below 1"),
            (["--epochs", "1", "--accumulate", "0"], "accumulate (0) must be at least 1"),
            (["--epochs", "nan"], "epochs (nan) must be more than 0 and finite"),
            (["--n-heads", "7"], "must be divisible by n_heads (7)"),
        ):
            done = run("train", task, *data, *out, *wrong)
            assert done.returncode == 1
            assert sentence in done.stderr
    assert not (tmp_path / "run").exists()


def test_the_help_of_data_says_what_each_task_takes() -> None:
    for command in ("train", "evaluate"):
        said = unframed(run(command, "--help").stdout)
        assert "multi30k: folder, archive or file of the data; what has an address is" in said
        assert "iwslt14, iwslt16, iwslt17: folder or archive of the campaign" in said
        assert "text: a folder, a .tsv file, or what two files share" in said


def test_a_run_is_not_overwritten(copy_run: Path) -> None:
    before = (copy_run / "model.safetensors").read_bytes()
    done = run("train", "copy", "--out", str(copy_run), "--steps", "30", *TINY)
    assert done.returncode == 1
    assert "add --resume" in done.stderr
    assert (copy_run / "model.safetensors").read_bytes() == before


def test_an_unknown_split_is_named(copy_run: Path) -> None:
    done = run("evaluate", str(copy_run), "--split", "nowhere")
    assert done.returncode != 0
    assert "no split 'nowhere'" in " ".join(done.stderr.split())


def test_a_run_without_its_end_cannot_translate(copy_run: Path, tmp_path) -> None:
    (tmp_path / "config.json").write_bytes((copy_run / "config.json").read_bytes())
    done = run("translate", str(tmp_path), stdin="1\n")
    assert done.returncode == 1
    assert "has not ended" in done.stderr


@pytest.mark.slow
def test_a_killed_multi30k_run_ends_with_the_weights_of_one_that_was_not(
    few_captions: Path, tmp_path
) -> None:
    """A corpus in files, killed with SIGKILL between and during checkpoints, and resumed."""
    command = ["train", "multi30k", "--data", str(few_captions), "--steps", "30", *TINY]
    command += ["--checkpoint-every", "3", "--max-tokens", "256", "--evaluate-every", "20"]
    command += ["--dropout", "0.1", "--evaluate-sentences", "2", "--no-score"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    start = [*COMMAND, *command, "--out"]
    subprocess.run([*start, str(whole)], env=ONE_THREAD, capture_output=True, check=True)

    for kill in range(3):
        resume = ["--resume"] if kill else []
        process = subprocess.Popen(
            [*start, str(broken), *resume],
            env=ONE_THREAD,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        checkpoint = broken / "checkpoint.safetensors"
        seen = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        while process.poll() is None:
            if checkpoint.exists() and checkpoint.stat().st_mtime_ns != seen:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    rest = [*start, str(broken), "--resume"]
    done = subprocess.run(rest, env=ONE_THREAD, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected, found = (load_file(folder / "model.safetensors") for folder in (whole, broken))
    assert expected.keys() == found.keys()
    for name, tensor in expected.items():
        assert tensor.equal(found[name]), name


@pytest.mark.slow
def test_settings_of_a_file_are_overridden_by_options(copy_run: Path, tmp_path) -> None:
    """A run's own config.json, and YAML by hand."""
    config = str(copy_run / "config.json")
    done = run("train", "--config", config, "--out", str(tmp_path / "again"), "--no-score")
    assert done.returncode == 0, done.stderr
    assert made_of(tmp_path / "again") == made_of(copy_run)
    weights = (folder / "model.safetensors" for folder in (copy_run, tmp_path / "again"))
    assert len({path.read_bytes() for path in weights}) == 1
    file = tmp_path / "own.yaml"
    own = {"task": "copy", "config": {"d_ff": 24}, "training": {"steps": 3}}
    file.write_text(yaml.safe_dump(own))
    options = ["--config", str(file), "--out", str(tmp_path / "own"), "--no-score"]
    options += ["--epochs", "0.016"]
    done = run("train", *options, *TINY[:2], *TINY[4:], "--resume")
    assert "no run to resume" in done.stderr
    done = run("train", *options, *TINY[:2], *TINY[4:])
    assert done.returncode == 0, done.stderr
    made = made_of(tmp_path / "own")
    assert (made["config"]["d_model"], made["config"]["d_ff"]) == (16, 24)
    assert made["training"]["steps"] == 10  # of 625 in an epoch


def made_of(folder: Path) -> dict:
    """The settings that a run has written down."""
    config = json.loads((folder / "config.json").read_text())
    return {part: config.get(part) for part in ("task", "data", "config", "training")}


@pytest.mark.slow
def test_a_row_of_table_3_brings_its_label_smoothing_and_options_override_it(tmp_path) -> None:
    out = [
        "--out",
        str(tmp_path / "run"),
        "--steps",
        "1",
        "--no-score",
        *TINY,
        "--max-tokens",
        "64",
    ]
    done = run("train", "copy", "--preset", "D4", *out)
    assert done.returncode == 0, done.stderr
    made = made_of(tmp_path / "run")
    base = TransformerConfig.base()
    assert (made["config"]["norm"], made["config"]["dropout"]) == (base.norm, base.dropout)
    assert (made["training"]["label_smoothing"], made["config"]["d_model"]) == (0.2, 16)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("task: paint", "unknown task 'paint'; choose one of copy, parsing, toy"),
        ("task: copy\ncolour: red", "colour is no setting; there are task, data, config, training"),
        (
            "task: copy\ntraining: {stepz: 3}",
            "training.stepz is no setting; there are steps, ",
        ),
        ("task: copy\ntraining: {steps: many}", "training.steps ('many') must be a whole number"),
        ("task: copy\ntraining: {steps: }", "training.steps (None) must be a whole number"),
        ("task: copy\ntraining: 5", "training (5) must be settings with their values"),
        ("task: copy\nconfig: {norm: both}", "config.norm ('both') must be one of post, pre"),
        ("task: copy\nconfig: {src_vocab_size: 5}", "config.src_vocab_size is no setting"),
        ("task: multi30k\ndata: {sorce: fr}", "data.sorce is no setting; there are data_path"),
        ("task: [copy", "is no YAML file"),
        ("- copy", "holds no settings; write task, data, config and training in it"),
    ],
)
def test_what_is_wrong_in_a_file_of_settings_is_named(text: str, sentence: str, tmp_path) -> None:
    (tmp_path / "own.yaml").write_text(text)
    done = run("train", "--config", str(tmp_path / "own.yaml"), "--out", str(tmp_path / "run"))
    assert done.returncode == 1
    assert sentence in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_that_was_refused_leaves_room_for_the_right_command(tmp_path) -> None:
    command = ["train", "copy", "--out", str(tmp_path / "run"), "--steps", "2", "--no-score", *TINY]
    # Refused by the first batch, after the folder has been made.
    assert run(*command, "--max-tokens", "5").returncode == 1
    assert run(*command).returncode == 0


def test_a_run_of_an_unknown_task_is_not_scored(copy_run: Path, tmp_path) -> None:
    for path in copy_run.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "config.json").unlink()
    config = json.loads((copy_run / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "task": "paint"}))
    done = run("evaluate", str(tmp_path))
    assert done.returncode == 1
    assert "unknown task 'paint'; choose one of copy, parsing, toy, multi30k" in done.stderr
    assert run("translate", str(tmp_path), stdin="1 2\n").returncode == 0


def test_the_place_of_data_is_refused_where_a_run_made_its_own(copy_run: Path) -> None:
    done = run("evaluate", str(copy_run), "--data", ".")
    assert done.returncode != 0
    assert "the task copy makes its own data; leave out --data" in unframed(done.stderr)


@pytest.mark.slow
def test_a_line_that_is_no_utf8_is_named(copy_run: Path, tmp_path) -> None:
    """Bytes of a file, and of the standard input of a process."""
    content = "1 2\nüber\n".encode("latin-1")
    (tmp_path / "in.txt").write_bytes(content)
    done = run("translate", str(copy_run), str(tmp_path / "in.txt"))
    assert done.returncode == 1
    assert "line 2 of " in done.stderr
    process = subprocess.run(
        [*COMMAND, "translate", str(copy_run)], input=content, capture_output=True, env=ONE_THREAD
    )
    assert (process.returncode, process.stdout) == (1, b"")
    sentence = (
        b"Error: line 2 of standard input is not UTF-8 text (byte 4 is 0xfc); save it as UTF-8"
    )
    assert process.stderr.strip() == sentence


@pytest.mark.slow
def test_a_run_that_is_interrupted_says_how_it_goes_on(tmp_path) -> None:
    folder = tmp_path / "run"
    process = subprocess.Popen(
        [*COMMAND, "train", "copy", "--out", str(folder), "--steps", "100000", *TINY],
        env=ONE_THREAD,
        stdout=subprocess.PIPE,
        text=True,
        # A process in the background of a shell has inherited that it is to be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        while process.poll() is None and not (folder / "metrics.jsonl").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "goes on from its last checkpoint with --resume" in out


def test_commands_to_be_copied_name_folders_with_blanks(copy_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs Über $(x) 'uns'" / "-mein lauf"
    brief = ("--steps", "1", "--keep", "1", "--checkpoint-every", "1", "--no-score", *TINY)
    made = run("train", "copy", "--out", str(folder), *brief)
    averaged = run("average", str(folder), "--last", "1")
    translate = shlex.split(made.stdout.splitlines()[-1].partition(" | ")[2])
    evaluate = shlex.split(averaged.stdout.splitlines()[-1].partition(": ")[2])
    assert translate == ["python", "-m", "transformer", "translate", str(folder)]
    assert evaluate == ["python", "-m", "transformer", "evaluate", str(folder / "average-1")]


@pytest.mark.slow
def test_nothing_is_lost_where_nobody_reads_on(copy_run: Path, tmp_path: Path) -> None:
    """Results end with their reader, as those of `cat` do; a training goes on to its end."""
    (tmp_path / "in.txt").write_text("1 2 3\n" * 5000)
    line = '"$@" | head -1; exit ${PIPESTATUS[0]}'
    shell = ["bash", "-c", line, "bash", *COMMAND]
    head = [*shell, "translate", str(copy_run), str(tmp_path / "in.txt")]
    done = subprocess.run(head, env=ONE_THREAD, capture_output=True)
    assert (done.returncode, done.stdout.count(b"\n"), done.stderr) == (141, 1, b"")
    train = [*COMMAND, "train", "copy", "--out", str(tmp_path / "run"), "--steps", "3", *TINY]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "env": ONE_THREAD}
    with subprocess.Popen(train, **both) as process:
        assert process.stdout
        process.stdout.close()
    assert process.returncode == 0
    assert (tmp_path / "run" / "model.safetensors").exists()
    assert (tmp_path / "run" / "scores.json").exists()
