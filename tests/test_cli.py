"""The command line as its user meets it: in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from tests.data.releases import folder_of, release

TINY = ["--d-model", "16", "--d-ff", "16", "--n-heads", "2", "--n-layers", "1"]


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "transformer", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def copy_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "copy"
    done = run("train", "copy", "--out", str(folder), "--steps", "30", *TINY)
    assert done.returncode == 0, done.stderr
    return folder


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
    last = json.loads((copy_run / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["step"] == 30
    assert {"loss", "rate", "tokens_per_second"} <= last.keys()
    assert "signature" in json.loads((copy_run / "scores.json").read_text())["test"]


def test_translate_gives_a_line_for_each_line(copy_run: Path) -> None:
    done = run("translate", str(copy_run), stdin="1 2 3\n4 5 6 7\n")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split("\n")) == 3


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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train", "paint"], "unknown task 'paint'"),
        (["train", "copy", "--d-model", "10", "--n-heads", "4"], "must be divisible by n_heads"),
        (["train", "copy", "--steps", "0"], "steps (0) must be at least 1"),
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
    # The terminal wraps and frames what the library itself reports.
    assert sentence in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_help_says_what_to_expect_of_each_task() -> None:
    alone = run("train")
    text = " ".join(alone.stdout.replace("│", " ").split())
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


def test_fetch_tells_what_it_cannot_get(tmp_path) -> None:
    done = run("fetch", "wmt14", "--to", str(tmp_path))
    assert done.returncode == 1
    assert "no corpus 'wmt14' to fetch; there are multi30k, iwslt14" in done.stderr


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


def test_a_killed_multi30k_run_ends_with_the_weights_of_one_that_was_not(
    corpora: Path, tmp_path
) -> None:
    """A corpus in files, killed with SIGKILL between and during checkpoints, and resumed."""
    command = ["train", "multi30k", "--data", str(corpora / "multi30k"), "--steps", "30", *TINY]
    command += ["--checkpoint-every", "3", "--max-tokens", "256", "--evaluate-every", "20"]
    command += ["--dropout", "0.1", "--evaluate-sentences", "2", "--no-score"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    start = [sys.executable, "-m", "transformer", *command, "--out"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([*start, str(whole)], env=environment, capture_output=True, check=True)

    for kill in range(3):
        resume = ["--resume"] if kill else []
        process = subprocess.Popen(
            [*start, str(broken), *resume],
            env=environment,
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
    done = run(*command, "--out", str(broken), "--resume")
    assert done.returncode == 0, done.stderr
    expected, found = (load_file(folder / "model.safetensors") for folder in (whole, broken))
    assert expected.keys() == found.keys()
    for name, tensor in expected.items():
        assert tensor.equal(found[name]), name
