"""The settings: the paper's presets and tables, and a sentence for every setting that cannot be."""

import copy
import dataclasses
import json
import pickle
from collections.abc import Iterator
from typing import Any

import jaxtyping
import pytest

from transformer.config import PAPER_VOCAB_SIZE, TABLE_3, TransformerConfig

# Table 3 as printed, empty cells filled from the row "base": N, d_model, d_ff, h, d_k, d_v,
# P_drop, eps_ls, steps (thousands), perplexity, BLEU, parameters (millions).
TABLE_3_AS_PRINTED = """
base 6  512 2048  8  64  64 0.1 0.1 100 4.92 25.8  65
A1   6  512 2048  1 512 512 0.1 0.1 100 5.29 24.9   -
A2   6  512 2048  4 128 128 0.1 0.1 100 5.00 25.5   -
A3   6  512 2048 16  32  32 0.1 0.1 100 4.91 25.8   -
A4   6  512 2048 32  16  16 0.1 0.1 100 5.01 25.4   -
B1   6  512 2048  8  16  64 0.1 0.1 100 5.16 25.1  58
B2   6  512 2048  8  32  64 0.1 0.1 100 5.01 25.4  60
C1   2  512 2048  8  64  64 0.1 0.1 100 6.11 23.7  36
C2   4  512 2048  8  64  64 0.1 0.1 100 5.19 25.3  50
C3   8  512 2048  8  64  64 0.1 0.1 100 4.88 25.5  80
C4   6  256 2048  8  32  32 0.1 0.1 100 5.75 24.5  28
C5   6 1024 2048  8 128 128 0.1 0.1 100 4.66 26.0 168
C6   6  512 1024  8  64  64 0.1 0.1 100 5.12 25.4  53
C7   6  512 4096  8  64  64 0.1 0.1 100 4.75 26.2  90
D1   6  512 2048  8  64  64 0.0 0.1 100 5.77 24.6   -
D2   6  512 2048  8  64  64 0.2 0.1 100 4.95 25.5   -
D3   6  512 2048  8  64  64 0.1 0.0 100 4.67 25.3   -
D4   6  512 2048  8  64  64 0.1 0.2 100 5.47 25.7   -
E    6  512 2048  8  64  64 0.1 0.1 100 4.92 25.7   -
big  6 1024 4096 16  64  64 0.3 0.1 300 4.33 26.4 213
"""
ROWS = {line.split()[0]: line.split()[1:] for line in TABLE_3_AS_PRINTED.strip().splitlines()}


@pytest.mark.parametrize("name", ROWS)
def test_each_row_of_table_3_is_as_the_paper_prints_it(name: str) -> None:
    row, c = TABLE_3[name], TransformerConfig.table3(name)
    numbers = [c.n_layers, c.d_model, c.d_ff, c.n_heads, c.key_width, c.value_width, c.dropout]
    numbers += [row.label_smoothing, row.steps / 1000, row.perplexity, row.bleu]
    assert numbers == [float(cell) for cell in ROWS[name][:-1]]
    assert row.params == (None if ROWS[name][-1] == "-" else int(ROWS[name][-1]))
    assert c.positions == ("learned" if name == "E" else "sinusoidal")
    assert (c.norm, c.tie) == ("post", "all")
    assert c.src_vocab_size == c.tgt_vocab_size == PAPER_VOCAB_SIZE == 37_000


def test_table_3_has_no_other_rows() -> None:
    assert list(TABLE_3) == list(ROWS)


def test_base_is_the_default_and_the_first_row() -> None:
    assert TransformerConfig.base() == TransformerConfig(37_000, 37_000)
    assert TransformerConfig.base() == TransformerConfig.table3("base")
    assert TransformerConfig.big() == TransformerConfig.table3("big")


@pytest.mark.parametrize("name", ["base", "big", "tiny"])
def test_a_preset_takes_vocabularies_and_any_setting(name: str) -> None:
    config = TransformerConfig.preset(name, src_vocab_size=50, n_layers=3, norm="pre")
    assert config == getattr(TransformerConfig, name)(src_vocab_size=50, n_layers=3, norm="pre")
    assert (config.src_vocab_size, config.tgt_vocab_size) == (50, 50)  # the target follows
    assert (config.n_layers, config.norm) == (3, "pre")
    two = TransformerConfig.preset(name, src_vocab_size=50, tgt_vocab_size=60, tie="decoder")
    assert (two.src_vocab_size, two.tgt_vocab_size) == (50, 60)


def test_tiny_is_what_its_docstring_says() -> None:
    c = TransformerConfig.tiny()
    assert (c.n_layers, c.d_model, c.n_heads, c.norm) == (2, 64, 4, "pre")


def test_head_widths_follow_d_model_unless_given() -> None:
    assert TransformerConfig(9, 9, d_model=12, n_heads=3).key_width == 4
    free = TransformerConfig(9, 9, d_model=10, n_heads=3, d_k=5, d_v=7)
    assert (free.key_width, free.value_width) == (5, 7)
    assert TransformerConfig(9, 9, d_model=12, n_heads=3, d_k=5).value_width == 4


def test_a_config_survives_copying_pickle_and_json() -> None:
    config = TransformerConfig.table3("B1", tie="none", positions="learned", max_len=77)
    assert copy.deepcopy(config) == config
    assert pickle.loads(pickle.dumps(config)) == config
    assert TransformerConfig(**json.loads(json.dumps(config.to_dict()))) == config
    assert len({config, copy.copy(config)}) == 1


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        TransformerConfig.base().d_model = 5  # type: ignore[misc]


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"d_model": 500, "n_heads": 8},
        "d_model (500) must be divisible by n_heads (8), or give d_k",
    ),
    (
        {"d_model": 500, "n_heads": 8, "d_k": 64},
        "d_model (500) must be divisible by n_heads (8), or give d_v",
    ),
    ({"d_model": 0}, "d_model (0) must be a whole number of at least 1"),
    ({"d_ff": -1}, "d_ff (-1) must be a whole number of at least 1"),
    ({"n_heads": 0}, "n_heads (0) must be a whole number of at least 1"),
    ({"n_layers": 0}, "n_layers (0) must be a whole number of at least 1"),
    ({"max_len": 0}, "max_len (0) must be a whole number of at least 1"),
    ({"src_vocab_size": 0}, "src_vocab_size (0) must be a whole number of at least 1"),
    ({"tgt_vocab_size": 0}, "tgt_vocab_size (0) must be a whole number of at least 1"),
    ({"d_k": 0}, "d_k (0) must be a whole number of at least 1"),
    ({"d_v": -3}, "d_v (-3) must be a whole number of at least 1"),
    ({"d_model": 64.0}, "d_model (64.0) must be a whole number of at least 1"),
    ({"n_layers": True}, "n_layers (True) must be a whole number of at least 1"),
    ({"dropout": 1.0}, "dropout (1.0) must be at least 0 and below 1"),
    ({"dropout": -0.1}, "dropout (-0.1) must be at least 0 and below 1"),
    ({"dropout": float("nan")}, "dropout (nan) must be at least 0 and below 1"),
    ({"attention_dropout": 1.0}, "attention_dropout (1.0) must be at least 0 and below 1"),
    ({"word_dropout": -0.1}, "word_dropout (-0.1) must be at least 0 and below 1"),
    ({"norm": "middle"}, "norm ('middle') must be one of 'post', 'pre'"),
    ({"positions": "none"}, "positions ('none') must be one of 'sinusoidal', 'learned'"),
    ({"tie": "both"}, "tie ('both') must be one of 'all', 'decoder', 'none'"),
    (
        {"tgt_vocab_size": 50},
        'tie="all" shares one matrix between both languages, so src_vocab_size (40) must equal '
        'tgt_vocab_size (50); use a joint vocabulary, or tie="decoder"',
    ),
    ({"pad_id": 40}, "pad_id (40) must be a token of both vocabularies"),
    ({"pad_id": 0.5}, "pad_id (0.5) must be a whole number"),
    ({"pad_id": True}, "pad_id (True) must be a whole number"),
    ({"pad_id": "0"}, "pad_id ('0') must be a whole number"),
    ({"pad_id": -1}, "pad_id (-1) must be a token of both vocabularies"),
    (
        {"pad_id": 45, "tgt_vocab_size": 50, "tie": "none"},
        "pad_id (45) must be a token of both vocabularies",
    ),
    (
        {"d_model": 9, "n_heads": 3},
        "d_model (9) must be even for sinusoidal positions, which come in pairs of a sine and a "
        'cosine; use an even width, or positions="learned"',
    ),
]


@pytest.fixture
def type_checks_off() -> Iterator[None]:
    """As a user runs it: the hook of these tests would refuse "middle" for `norm` before we do."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.mark.usefixtures("type_checks_off")
@pytest.mark.parametrize(("settings", "sentence"), REFUSED, ids=[str(s) for s, _ in REFUSED])
def test_an_impossible_setting_is_refused_with_a_sentence(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError) as error:
        TransformerConfig(**{"src_vocab_size": 40, "tgt_vocab_size": 40, **settings})
    assert str(error.value) == sentence


def test_an_odd_width_is_fine_with_learned_positions() -> None:
    assert TransformerConfig(9, 9, d_model=9, n_heads=3, positions="learned").d_model == 9


def test_an_unknown_preset_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(ValueError) as error:
        TransformerConfig.preset("huge")
    assert str(error.value) == "unknown preset 'huge'; choose one of base, big, tiny"


def test_an_unknown_row_of_table_3_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(ValueError) as error:
        TransformerConfig.table3("F")
    assert str(error.value) == f"Table 3 has no row 'F'; choose one of {', '.join(ROWS)}"
