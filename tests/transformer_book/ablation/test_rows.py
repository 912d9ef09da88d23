"""The rows: Table 3 in small, and every variant."""

import pytest

from transformer.config import TABLE_3, TransformerConfig
from transformer.variants import VARIANTS

from transformer_book.ablation import ROWS, build_row, chosen_rows
from transformer_book.ablation.rows import BASE, LEFT_OUT, in_small


def test_every_row_of_table_3_and_every_variant_has_a_row() -> None:
    assert {name for name, row in ROWS.items() if row.in_paper} == TABLE_3.keys() - {*LEFT_OUT}
    assert {row.variants for row in ROWS.values()} >= {(name,) for name in VARIANTS}


def test_widths_are_an_eighth_depths_a_third_and_all_else_the_papers_own() -> None:
    paper = TransformerConfig.base()
    same = BASE.keys() - {"max_len"}
    small = in_small({name: getattr(paper, name) for name in same})
    assert small == {name: BASE[name] for name in same}
    assert (paper.d_model, paper.d_ff, paper.n_layers) == (512, 2048, 6)
    assert in_small({"n_heads": 4, "d_k": 128, "d_v": 128}) == {"n_heads": 4, "d_k": 16, "d_v": 16}
    assert in_small({"n_layers": 8}) == {"n_layers": 3}


def test_every_row_but_base_changes_something_and_says_so() -> None:
    for name, row in ROWS.items():
        changed = [key for key, value in row.model.items() if BASE.get(key) != value]
        assert (name == "base") == (not (changed or row.training or row.variants) and row.warm_up)
    assert ROWS["D3"].training == {"label_smoothing": 0.0} and not ROWS["D3"].model
    assert ROWS["A1"].about == "h 1, d_k 64, d_v 64"
    assert len({row.about for row in ROWS.values()}) == len(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_makes_a_model_that_its_seed_draws(name: str) -> None:
    one, same, other = (build_row(ROWS[name], seed) for seed in (1, 1, 2))
    first, second, third = (model.tgt_embedding.weight for model in (one, same, other))
    assert first.equal(second) and not first.equal(third)


def test_heads_change_no_number_of_parameters_and_depth_does() -> None:
    n = {name: build_row(ROWS[name], 1).n_parameters() for name in ("base", "A1", "A4", "B1", "C1")}
    assert n["base"] == n["A1"] == n["A4"] > n["B1"] > n["C1"]


def test_base_is_always_among_the_rows_and_unknown_names_are_refused() -> None:
    assert list(chosen_rows(["D1", "A1"])) == ["base", "A1", "D1"]
    assert list(chosen_rows([])) == list(ROWS)
    with pytest.raises(ValueError, match=r"no row 'A9'; choose from base, A1, .*decoder_only"):
        chosen_rows(["A9"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a1", r"no row 'a1'; did you mean A1\?$"),
        ("Pre-Norm", r"no row 'Pre-Norm'; did you mean pre_norm\?$"),
        ("C2", r"no row 'C2': of Table 3's C2 .* a third of its 4 layers .*; choose from base, A1"),
        ("BIG", r"no row 'BIG': of Table 3's big .* three times as long .*; choose from base, A1"),
    ],
)
def test_a_row_that_is_nearly_one_or_only_the_papers_is_told_so(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        chosen_rows(["base", name])
