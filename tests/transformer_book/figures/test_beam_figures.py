"""The tree of a search has a box for each node and a line for each parent."""

import pytest
from matplotlib.colors import to_hex

from transformer_book.figures.beam import LOOKS, search_tree

PARENTS = [-1, 0, 0, 1, 2, 1]
TOKENS = ["<s>", "a", "$b$", "</s>", "c", "d"]
TOTALS = [0.0, -0.5, -1.0, -0.75, -1.5, -9.0]
FATES = ["lives", "lives", "lives", "finished", "lives", "dropped"]


def test_nodes_stand_in_the_column_of_their_step_in_the_given_order() -> None:
    ax = search_tree(PARENTS, TOKENS, TOTALS, FATES)
    places = {t.get_text(): t.get_position() for t in ax.texts}
    assert places["<s>"] == (0, 0)
    assert places["a\n−0.50"] == (1, 0)
    assert places[r"\$b\$" + "\n−1.00"] == (1, -1)
    assert places["</s> ✓\n−0.75"] == (2, 0)
    assert places["c\n−1.50"] == (2, -1)
    assert places["d ✗\n−9.00"] == (2, -2)
    assert [places[name][0] for name in ("start", "step 1", "step 2")] == [0, 1, 2]


def test_lines_join_parents_and_children_and_looks_tell_the_fate() -> None:
    ax = search_tree(PARENTS, TOKENS, TOTALS, FATES)
    lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines]
    assert lines[2] == ([1.4, 1.6], [0, 0])
    assert lines[4] == ([1.4, 1.6], [0, -2])
    for fate, patch in zip(FATES, ax.patches, strict=True):
        style, colour, _ = LOOKS[fate]
        assert patch.get_linestyle() == style
        assert to_hex(patch.get_edgecolor()) == to_hex(colour)


def test_the_best_way_is_thick() -> None:
    ax = search_tree(PARENTS, TOKENS, TOTALS, FATES, best=3)
    thick = [i for i, line in enumerate(ax.lines, 1) if line.get_linewidth() > 4]
    assert thick == [1, 3]
    strong = [i for i, patch in enumerate(ax.patches) if patch.get_linewidth() > 2]
    assert strong == [0, 1, 3]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"tokens": TOKENS[1:]}, "there are 6 parents, 5 tokens"),
        ({"parents": [-1, 0, 0, 4, 2, 1]}, "node 3 has the parent 4"),
        ({"parents": [0, 0, 0, 1, 2, 1]}, "node 0 has the parent 0"),
        ({"fates": ["lives"] * 5 + ["gone"]}, "node 5 has the fate 'gone'"),
    ],
)
def test_what_is_no_tree_is_refused(changes, named) -> None:
    tree = {"parents": PARENTS, "tokens": TOKENS, "totals": TOTALS, "fates": FATES, **changes}
    with pytest.raises(ValueError, match=named):
        search_tree(**tree)
