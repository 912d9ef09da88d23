"""The paper's Tables 2 and 4 as data: whole, and consistent with themselves where they can be."""

from pathlib import Path

import pytest

from transformer_book.paper import MACHINE_TIMES, PAIRS, SUSTAINED, TABLE_2, TABLE_4, Pair

BIBLIOGRAPHY = Path(__file__).parents[2] / "book/references.bib"


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


def test_table_4_has_the_papers_twelve_parsers_in_its_order() -> None:
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    assert [row.f1 for row in TABLE_4] == [
        *(88.3, 90.4, 90.4, 91.7, 91.3),  # WSJ only
        *(91.3, 91.3, 92.1, 92.1, 92.7, 93.0, 93.3),
    ]
    assert [row.training for row in TABLE_4].count("WSJ only, discriminative") == 5
    assert [i for i, row in enumerate(TABLE_4) if row.name.startswith("Transformer")] == [4, 9]
    for row in TABLE_4:
        assert f"{{{row.cite}," in text, row.name


def test_scores_are_printed_in_the_papers_digits() -> None:
    assert TABLE_2["GNMT + RL Ensemble"].printed("en-de") == "26.30"
    assert TABLE_2["GNMT + RL Ensemble"].printed("en-fr") == "41.16"
    assert TABLE_2["ByteNet"].printed("en-fr") == ""
    for row in TABLE_2.values():
        assert all(float(row.printed(pair)) == bleu for pair, bleu in row.bleu.items())
