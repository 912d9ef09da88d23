"""What is exported translates by itself, and as we do: the same tokens for the same text."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers import PAD, bpe_twice, same, sentences, small_config
from tests.helpers.command_line import run
from transformer import Transformer
from transformer.data.everyday import direction
from transformer.decoding import beam_search, greedy_search
from transformer.support.files import FileError
from transformer.text import BOS_ID, EOS_ID, BPETokenizer, WordTokenizer, normalize
from transformer.translation import Translator
from transformer.variants import VARIANTS

from transformer_book import export
from transformer_book.aligned import aligned_everyday
from transformer_book.export import TARGETS, ExportError, export_model
from transformer_book.export.library_tokenizer import library_tokenizer
from transformer_book.shipped import shipped_folder, shipped_model

MODEL = "everyday"
TEXTS = [
    *("Zwei Hunde spielen im Schnee.", " zwei  Leerzeichen, 3½ \N{GRINNING FACE} Gesichter ", "ab"),
    *("ein </s> im Text, <unk>, <s> und <0x41>", "Zeile\neins\tund zwei", "→de It's 10:30 a.m."),
    *(
        "Ein\xa0Ma\u0308d\xadchen\u200b\u200f la\u200cuft.\r",
        "שלום",
        "👩\u200d🚀 ❤\ufe0f\ufe0f 🏴\U000e0067",
    ),
]


def asked() -> list[str]:
    """Sentences with the direction before them, as whoever runs an export has to write them."""
    return [f"{direction('en')} {pair.source_text}" for pair in aligned_everyday()][:30]


@cache
def ours(beam_size: int) -> list[list[int]]:
    """Our tokens for the sentences; the length penalty is left out, of which each has its own."""
    translator = shipped_model(MODEL)
    found = []
    for text in asked():
        src = torch.tensor([[*translator.tokenizer.encode(text), EOS_ID]])
        limits: dict[str, Any] = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": 100}
        best = beam_search(translator.model, src, beam_size=beam_size, length_penalty=0.0, **limits)
        found.append(best[0][0].tokens)
    return found


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder with the shipped model for an engine, as the command writes it."""
    root = tmp_path_factory.mktemp("exports")

    def folder(target: str) -> Path:
        for name in TARGETS[target]:
            pytest.importorskip(name)
        path = root / target
        if not path.exists():
            arguments = ["export", str(shipped_folder(MODEL)), "--to", target, "--out", str(path)]
            # In a process of its own: torch's exporter cannot follow functions that are checked.
            command = [sys.executable, "-m", "transformer", *arguments]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert f"MB in {path}" in done.stdout
        return path

    return folder


def translated(folder: Path, texts: list[str]) -> list[str]:
    """What the folder's own script makes of texts, somewhere else and without our packages."""
    script = folder / "translate.py"
    assert "transformer." not in script.read_text().replace("transformers", "")
    done = subprocess.run(
        [sys.executable, "-I", script],
        input="".join(f"{text}\n" for text in texts),
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# On real sentences ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_export_translates_text_as_we_do(
    target: str, exported: Callable[[str], Path]
) -> None:
    if target == "onnx":
        pytest.importorskip("onnxruntime")
    expected = shipped_model(MODEL).translate(asked())
    assert translated(exported(target), asked()) == expected
    assert len(set(expected)) == len(asked()) == 30


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", [1, 4])
def test_ctranslate2_finds_our_tokens_with_a_beam_too(
    beam_size: int, exported: Callable[[str], Path]
) -> None:
    folder = exported("ctranslate2")
    import ctranslate2
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    translator = ctranslate2.Translator(str(folder), intra_threads=1, inter_threads=1)
    found = translator.translate_batch(
        [tokenizer.encode(text).tokens for text in asked()],
        beam_size=beam_size,
        length_penalty=1e-9,  # with 0 it goes on until its best prefix ends, and we do not
        max_decoding_length=100,
    )
    tokens = [[tokenizer.token_to_id(token) for token in best.hypotheses[0]] for best in found]
    assert tokens == ours(beam_size)


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", [1, 4])
def test_hugging_face_finds_our_tokens_with_a_beam_too(
    beam_size: int, exported: Callable[[str], Path]
) -> None:
    folder = exported("hugging-face")
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    batch = tokenizer(asked(), return_tensors="pt", padding=True)
    search: dict[str, Any] = {"num_beams": beam_size, "max_new_tokens": 100}
    if beam_size > 1:  # stop as we do, when as many are finished as the beam has prefixes
        search |= {"length_penalty": 0.0, "early_stopping": True}
    found = model.generate(**batch, **search)
    tokens = [[i for i in row if i not in (PAD, BOS_ID, EOS_ID)] for row in found.tolist()]
    assert tokens == ours(beam_size)


@pytest.mark.slow
def test_a_model_of_whole_words_is_exported_too(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    translator = shipped_model("toy_german")
    export_model(translator.model, translator.tokenizer, "ctranslate2", tmp_path / "toy")
    words = translator.tokenizer.decode(range(4, 12))
    texts = [words, f"{words} Unbekanntes"]
    assert translated(tmp_path / "toy", texts) == translator.translate(texts)


# Tokenizers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [MODEL, "toy_german"])
def test_the_tokenizer_of_the_library_gives_our_ids_and_our_text(name: str, tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = shipped_model(name).tokenizer
    library_tokenizer(tokenizer).save(str(tmp_path / "tokenizer.json"))
    library = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in [*TEXTS, *asked()]:
        ids = tokenizer.encode(text)
        assert library.encode(text).ids == [*ids, EOS_ID]
        words = [i for i in ids if i > 3]
        assert library.decode(words) == tokenizer.decode(words)


# Shapes ---------------------------------------------------------------------------------------


def scrambled(tokenizer: Any = None, **settings: Any) -> Translator:
    """A small model with every weight off its initial value."""
    torch.manual_seed(0)
    size = tokenizer.vocab_size if tokenizer else 13
    vocabularies = {"src_vocab_size": size, "tgt_vocab_size": size}
    model = Transformer(small_config(n_heads=4, **vocabularies, **settings)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return Translator(model, tokenizer or WordTokenizer(map(str, range(9))))


@pytest.mark.parametrize(("norm", "kind"), [("post", "MarianMTModel"), ("pre", "Pegasus")])
def test_hugging_face_loads_a_model_of_either_norm_with_our_logits(
    norm: str, kind: str, tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer: BPETokenizer = bpe_twice()[0]
    translator = scrambled(tokenizer, norm=norm)
    export_model(translator.model, tokenizer, "hugging-face", tmp_path / "there")
    other = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "there")
    assert type(other).__name__.startswith(kind)
    src, tgt = sentences([7, 3, 5], seed=1), sentences([4, 6, 2], seed=2)
    seen = {"attention_mask": (src != PAD).long(), "decoder_attention_mask": (tgt != PAD).long()}
    with torch.no_grad():
        logits = other(input_ids=src, decoder_input_ids=tgt, use_cache=False, **seen).logits
        same(logits[tgt != PAD], translator.model(src, tgt)[tgt != PAD], 1e-4)
    assert other.config.vocab_size == tokenizer.vocab_size
    assert other.generation_config.max_length == translator.model.config.max_len
    loaded = AutoTokenizer.from_pretrained(tmp_path / "there")
    for text in TEXTS:
        assert loaded(text)["input_ids"] == [*tokenizer.encode(text), EOS_ID]
        assert loaded.decode(loaded(text)["input_ids"], skip_special_tokens=True) == normalize(text)


@pytest.mark.parametrize(
    ("target", "settings", "sentence"),
    [
        ("hugging-face", {"positions": "learned"}, "positions='learned' and tie='all'; export it"),
        ("hugging-face", {"tie": "decoder"}, "it has positions='sinusoidal' and tie='decoder'"),
        ("hugging-face", {"d_k": 6}, "Hugging Face has heads as wide as d_model / n_heads (4)"),
        ("ctranslate2", {"d_v": 6}, "this model has d_k 4 and d_v 6; export it to onnx"),
    ],
)
def test_what_an_engine_has_not_is_refused_with_a_sentence_and_leaves_nothing(
    target: str, settings: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    pytest.importorskip(TARGETS[target][0])
    translator = scrambled(**settings)
    with pytest.raises(ExportError) as refused:
        export_model(translator.model, translator.tokenizer, target, tmp_path / "there")
    assert sentence in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_variant_is_refused(target: str, tmp_path: Path) -> None:
    """Its weights have the names of the paper's model, and an engine would compute that one."""
    for name in TARGETS[target]:
        pytest.importorskip(name)
    translator = scrambled()
    VARIANTS["rotary"].apply(translator.model)
    with pytest.raises(ExportError, match="has NoPositions, RotaryAttentionOfMultiHeadAttention$"):
        export_model(translator.model, translator.tokenizer, target, tmp_path / "there")


def test_learned_positions_and_matrices_of_their_own_reach_ctranslate2(tmp_path: Path) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    translator = scrambled(norm="post", positions="learned", tie="none")
    export_model(translator.model, translator.tokenizer, "ctranslate2", tmp_path / "there")
    src = torch.randint(4, 13, (20, 6))
    other = ctranslate2.Translator(str(tmp_path / "there"), intra_threads=1)
    sources = [translator.tokenizer.pieces(row) for row in src.tolist()]
    lengths = {"min_decoding_length": 0, "max_decoding_length": 20}
    found = other.translate_batch(sources, beam_size=1, **lengths)
    limits: dict[str, Any] = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": 20}
    expected = [best[0].tokens for best in greedy_search(translator.model, src, **limits)]
    assert [best.hypotheses[0] for best in found] == [*map(translator.tokenizer.pieces, expected)]
    assert len({*map(tuple, expected)}) > 5


# The command ----------------------------------------------------------------------------------


@pytest.fixture
def toy_run(tmp_path: Path) -> Path:
    shutil.copytree(shipped_folder("toy_german"), tmp_path / "run")
    return tmp_path / "run"


def test_the_command_exports_beside_the_run_and_only_once(toy_run: Path) -> None:
    pytest.importorskip("ctranslate2")
    done = run("export", str(toy_run), "--to", "ctranslate2")
    assert done.returncode == 0, done.stderr
    folder = toy_run / "ctranslate2"
    assert f"Try it: python {folder}/translate.py < sentences.txt" in done.stdout
    names = {path.name for path in folder.iterdir()}
    assert names >= {"model.bin", "config.json", "tokenizer.json", "translate.py"}
    again = run("export", str(toy_run), "--to", "ctranslate2")
    assert (again.returncode, "is there already" in again.stderr) == (1, True)
    assert json.loads((folder / "config.json").read_text())["decoder_start_token"] == "<s>"


def test_a_missing_library_is_named_with_the_command_that_brings_it(
    toy_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = export.find_spec
    monkeypatch.setattr(export, "find_spec", lambda n: None if n[:4] == "onnx" else found(n))
    done = run("export", str(toy_run), "--to", "onnx")
    assert done.returncode == 1
    message = "an export to onnx needs onnx and onnxscript: pip install onnx onnxscript"
    assert done.stderr == f"Error: {message}\n"
    assert not (toy_run / "onnx").exists()


def test_an_unknown_engine_is_told_those_that_there_are(toy_run: Path) -> None:
    done = run("export", str(toy_run), "--to", "tensorrt")
    assert done.returncode == 1
    assert "no engine 'tensorrt'; choose one of ctranslate2, onnx, hugging-face" in done.stderr


def test_a_disk_that_is_full_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ctranslate2")
    translator = scrambled()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", full)  # the last of its files
        with pytest.raises(OSError, match="No space left"):
            export_model(translator.model, translator.tokenizer, "ctranslate2", tmp_path / "there")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    with pytest.raises(FileError, match="is there already; name another folder"):
        export_model(translator.model, translator.tokenizer, "ctranslate2", tmp_path / "there")


def test_help_of_an_export_is_the_commands_own() -> None:
    assert "export" in run("--help").stdout
    assert "--to" in run("export", "--help").stdout
