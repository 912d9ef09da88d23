"""A page of one's own: written whole or not at all, and what it shows is the run's model."""

import errno
import os
from pathlib import Path
from unittest.mock import patch

import pytest
import torch

from tests.helpers import small_model
from transformer.support.files import FileError
from transformer.text import WordTokenizer
from transformer.translation import Translator
from transformer.variants import VARIANTS

from transformer_book.page.own_page import write_page

WORDS = [f"w{i}" for i in range(9)]


@pytest.fixture
def translator() -> Translator:
    model = small_model(dtype=torch.float32, max_len=24)
    return Translator(model.eval(), WordTokenizer(WORDS))


@pytest.mark.parametrize("settings", [{"norm": "pre"}, {"tie": "none", "positions": "learned"}])
def test_the_page_holds_the_model_and_says_what_it_translates(settings, tmp_path: Path) -> None:
    model = small_model(dtype=torch.float32, max_len=24, **settings)
    own = Translator(model.eval(), WordTokenizer(WORDS))
    folder = tmp_path / "runs" / "page"
    page = write_page(own, folder, ["w1 w2", "w3"], "<mine>")
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {
        *("index.html", "theme.js", "widgets.js", "widgets.css", "0.js"),
        *("attention_heads.js", "beam_explorer.js", "decoder_at_work.js", "live.js"),
    }
    assert page.n_bytes == sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    assert [exact for _, exact in page.translations] == own.translate(["w1 w2", "w3"])
    text = (folder / "index.html").read_text()
    assert "<h1>&lt;mine&gt;</h1>" in text and f"{model.n_parameters():,} weights" in text
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["page"]


@pytest.mark.slow
def test_what_cannot_be_written_is_said_and_leaves_nothing(translator, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(FileError, match="there is there already; name another folder"):
        write_page(translator, tmp_path / "there", ["w1"], "t")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="could not write .*file/page: .*; .* name another folder"):
        write_page(translator, tmp_path / "file" / "page", ["w1"], "t")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with (
        patch("transformer.support.files.os.fsync", side_effect=full),
        pytest.raises(FileError, match=r"^could not write \S*/page: No space left .*; free some"),
    ):
        write_page(translator, tmp_path / "page", ["w1"], "t")
    with (
        patch("transformer_book.page.own_page.holds", return_value=False),
        pytest.raises(FileError, match="does not hold what was written; is the disk damaged"),
    ):
        write_page(translator, tmp_path / "page", ["w1"], "t")
    assert {path.name for path in tmp_path.iterdir()} == {"there", "file"}


def test_what_no_page_computes_with_is_refused_before_anything_is_written(
    translator, tmp_path: Path
) -> None:
    for sentence, complaint in (
        ("w1 " * 30, "30 tokens, more than the model takes"),
        (" ", "empty"),
    ):
        with pytest.raises(ValueError, match=complaint):
            write_page(translator, tmp_path / "page", [sentence], "t")
    VARIANTS["rotary"].apply(translator.model)
    with pytest.raises(ValueError, match="a page computes with the paper's parts only"):
        write_page(translator, tmp_path / "page", ["w1"], "t")
    assert list(tmp_path.iterdir()) == []
