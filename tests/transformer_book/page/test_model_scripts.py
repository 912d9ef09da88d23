"""A model as scripts: what is packed is the rounded model, and what cannot be packed says why."""

import base64
import gzip
import json
import re
import zlib

import pytest
import torch

from tests.helpers import bpe_translator, bpe_twice, small_model
from transformer.text import WordTokenizer
from transformer.translation import Translator
from transformer.weights import model_tensors
from transformer.weights.rounding import SCALE, rounded, unrounded

from transformer_book.page.model_scripts import (
    LARGEST,
    holds,
    pack,
    read_scripts,
    rounded_translator,
    unpack,
    write_scripts,
)
from transformer_book.shipped import shipped_model
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.bundle import bundle

WORDS = [f"w{i}" for i in range(9)]  # with the four marks: the small models' vocabulary


def translator(**settings):
    return Translator(small_model(dtype=torch.float32, **settings), WordTokenizer(WORDS))


@pytest.mark.parametrize(
    "settings",
    [{}, {"norm": "post", "positions": "learned"}, {"tie": "none", "d_k": 3, "d_v": 5}],
)
def test_a_pack_holds_the_rounded_model_whole(settings):
    one = translator(**settings)
    config, lists, tensors = unpack(pack(one))
    assert config == one.model.config
    assert lists == {"words": one.tokenizer.pieces(range(13))}
    expected = unrounded(rounded(model_tensors(one.model)))
    assert tensors.keys() == expected.keys()
    assert all(torch.equal(tensors[name], tensor) for name, tensor in expected.items())


@pytest.mark.slow
def test_the_shipped_model_keeps_its_size():
    packed = pack(shipped_model())
    scripts = packed.scripts("everyday")
    assert packed.size < 8 * 10**6 and sum(map(len, scripts)) < 10 * 10**6
    assert max(map(len, scripts)) < 10**6  # none keeps the page for long
    code = bundle(FRONT_ENDS / "live" / "index.js").encode()
    # What computes with them, looks for damage, says when it is unsure, and tells every figure
    # of a packed page what the one field holds, and finds out a language.
    assert len(gzip.compress(code, 9)) < 13_100
    _, lists, _ = unpack(packed)
    assert len(lists["vocab"]) == 8000 and set(map(type, lists["merges"])) == {int}


def test_merges_are_cut_from_the_tokens_that_they_make_or_stand_whole():
    one, other = bpe_twice()
    pairs = [tuple(merge) for merge in json.loads(one.to_json())["model"]["merges"]]
    assert any("\N{GRINNING FACE}" in first for first, _ in pairs)  # two units in UTF-16
    lists = unpack(pack(bpe_translator(one)))[1]
    made = lists["vocab"][-len(pairs) :]
    wide = [token.encode("utf-16-le") for token in made]
    cuts = [2 * cut for cut in lists["merges"]]
    parts = [
        (t[:cut].decode("utf-16-le"), t[cut:].decode("utf-16-le"))
        for t, cut in zip(wide, cuts, strict=True)
    ]
    assert parts == pairs
    lists = unpack(pack(bpe_translator(other)))[1]
    assert lists["merges"][-1] == " ".join(pairs[0])


def test_scripts_hold_the_parts_and_replace_earlier_ones(tmp_path):
    packed, folder = pack(translator()), tmp_path / "models" / "mine"
    write_scripts(packed, folder, "mine")
    (folder / "9.js").write_text("of an earlier pack")
    write_scripts(packed, folder, "mine")
    assert [path.name for path in folder.iterdir()] == ["0.js"]
    (text,) = re.findall(r'"([^"]{20,})"', (folder / "0.js").read_text())
    assert base64.b64decode(text) == packed.parts[0]
    assert json.dumps("mine") in (folder / "0.js").read_text()


def test_rounding_leaves_the_translators_own_weights_alone():
    one = translator()
    before = {name: tensor.clone() for name, tensor in model_tensors(one.model).items()}
    other = rounded_translator(one)
    assert all(torch.equal(before[n], t) for n, t in model_tensors(one.model).items())
    assert not torch.equal(*(x.model.src_embedding.weight for x in (one, other)))


def test_rows_of_like_scale_lie_together():
    one = translator()
    with torch.no_grad():
        one.model.encoder.layers[0].feed_forward.inner.weight[3] *= 1e-3
        one.model.encoder.layers[0].feed_forward.inner.weight[5:8] = 1.0
    packed = pack(one)
    whole = b"".join(map(zlib.decompress, packed.parts))
    expected = rounded(model_tensors(one.model))
    matrices = [name.removesuffix(SCALE) for name in expected if name.endswith(SCALE)]
    last = matrices[-1]
    order = expected[last + SCALE].sort(stable=True).indices
    rows = expected[last][order].numpy().tobytes()
    assert whole.endswith(rows) and not whole.endswith(expected[last].numpy().tobytes())
    assert holds(packed, one)


def test_what_no_page_computes_with_is_refused():
    changed = translator()
    changed.model.encoder.layers[0].feed_forward_residual.norm = torch.nn.RMSNorm(16)
    with pytest.raises(ValueError, match="only; the model has RMSNorm"):
        pack(changed)

    class Letters(WordTokenizer):
        pass

    with pytest.raises(ValueError, match="of the kind Letters"):
        pack(Translator(translator().model, Letters(WORDS)))


def test_numbers_that_are_not_finite_are_refused():
    one = translator()
    with torch.no_grad():
        one.model.decoder.layers[0].feed_forward.inner.weight[2, 3] = float("nan")
    with pytest.raises(ValueError, match=r"feed_forward.inner.weight holds numbers that are not"):
        pack(one)


def test_a_model_too_large_for_a_page_is_refused(monkeypatch):
    monkeypatch.setattr("transformer_book.page.model_scripts.LARGEST", LARGEST // 10_000)
    with pytest.raises(ValueError, match="train a smaller one"):
        pack(translator())


def test_what_is_read_back_is_the_translators_or_is_not(tmp_path):
    one, other = translator(), translator()
    with torch.no_grad():
        other.model.output.weight[5] *= 2
    write_scripts(pack(one), tmp_path / "one", "one")
    found = read_scripts(tmp_path / "one")
    assert found == pack(one)
    assert holds(found, one) and not holds(found, other)
    assert not holds(found, Translator(one.model, WordTokenizer([*WORDS[:-1], "other"])))
    assert not holds(found, translator(norm="pre"))


def test_scripts_that_are_damaged_or_missing_are_not_read(tmp_path):
    with pytest.raises(OSError, match="0.js"):
        read_scripts(tmp_path)
    (tmp_path / "0.js").write_text("something else")
    with pytest.raises(ValueError, match="0.js holds no part of a model"):
        read_scripts(tmp_path)
