"""The paper's Table 2 as data: whole, and consistent with itself where it can be."""

from pathlib import Path

import pytest

from transformer.paper import MACHINE_TIMES, PAIRS, SUSTAINED, TABLE_2, Pair

BIBLIOGRAPHY = Path(__file__).parents[1] / "book/references.bib"


def test_the_table_has_as_many_cells_as_the_papers() -> None:
    assert len(TABLE_2) == 10
    for pair, bleu, flops in (("en-de", 8, 7), ("en-fr", 9, 9)):
        assert sum(pair in row.bleu for row in TABLE_2.values()) == bleu
        assert sum(pair in row.flops for row in TABLE_2.values()) == flops


def test_a_cost_stands_beside_a_score_and_every_work_is_in_the_bibliography() -> None:
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    for name, row in TABLE_2.items():
        assert set(row.flops) <= set(row.bleu) <= set(PAIRS), name
        assert f"{{{row.cite}," in text, name


def test_an_ensemble_beats_its_single_model_and_costs_more() -> None:
    ensembles = {name: row for name, row in TABLE_2.items() if row.single}
    assert len(ensembles) == 3
    for row in ensembles.values():
        single = TABLE_2[row.single or ""]
        for pair in row.bleu:
            assert row.bleu[pair] > single.bleu[pair]
            assert row.flops[pair] > single.flops[pair]


@pytest.mark.parametrize(("name", "pair"), MACHINE_TIMES)
def test_the_machine_times_give_the_printed_costs(name: str, pair: Pair) -> None:
    time = MACHINE_TIMES[name, pair]
    flops = time.days * 24 * 3600 * time.n_gpus * SUSTAINED[time.gpu]
    assert f"{flops:.1e}" == f"{TABLE_2[name].flops[pair]:.1e}"
