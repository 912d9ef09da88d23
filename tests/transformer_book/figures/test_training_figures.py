"""Figures of training show what they are given."""

from transformer_book.figures.training import (
    shared_steps,
    symbol_rows,
)


def test_what_differs_from_the_first_sequence_is_framed() -> None:
    ax = symbol_rows({"asked for": ["1", "2"], "written": ["1", "<unk>", "2"]}, n_symbols=3)
    assert [text.get_text() for text in ax.texts] == ["1", "2", "1", "<unk>", "2"]
    assert {patch.get_xy() for patch in ax.patches} == {(1, 1), (2, 1)}
    ax = symbol_rows({"asked for": ["1", "2"], "written": []}, n_symbols=3)
    assert {patch.get_xy() for patch in ax.patches} == {(0, 1), (1, 1)}


def test_a_step_has_as_many_parts_on_few_devices_as_on_many() -> None:
    figure = shared_steps({"eight": (8, 1), "one": (1, 8), "two": (2, 4)})
    assert [len(ax.patches) for ax in figure.axes] == [8, 8, 8]
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["eight", "one", "two"]
