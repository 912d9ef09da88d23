"""The position explorer in Python: its settings, its figures, the chapter's questions."""

import math

import pytest
import torch
from traitlets import TraitError

from transformer.embedding import sinusoidal_positions
from transformer.widgets.position_explorer import PositionExplorer


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"view": "clock"}, "view"),
        ({"d_model": 21}, r"d_model \(21\) must be even"),
        ({"d_model": 130}, "d_model"),
        ({"length": 9}, "length"),
        ({"dimensions": []}, "0 entries; give 1 to 6"),
        ({"dimensions": [1, 1]}, "names one twice"),
        ({"dimensions": [20]}, "dimension 20 does not exist at d_model 20"),
        ({"position": 100}, "position 100 is beyond the last one, 99"),
        ({"offset": 65}, "offset"),
        ({"pair": 10}, "pair 10 does not exist at d_model 20; give 0 to 9"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        PositionExplorer(**settings)


def test_a_smaller_table_takes_the_rest_with_it():
    widget = PositionExplorer(position=99, pair=9)
    widget.length, widget.d_model = 12, 4
    assert (widget.position, widget.pair, widget.dimensions) == (11, 1, [0, 1])
    before = widget.codes([-3])[0]
    assert torch.equal(before, widget.table()[3] * torch.tensor([-1.0, 1.0, -1.0, 1.0]))


def test_the_twins_draw_the_same_state():
    widget = PositionExplorer(position=9, offset=-20, pair=1)
    table = widget.table()
    lines = widget.twin().axes[0].lines
    for i, line in zip((4, 5, 6, 7), lines, strict=False):
        assert line.get_ydata() == pytest.approx(table[:, i].numpy())
    widget.view = "similarity"
    axes = widget.twin().axes[0]
    at = dict(zip(*axes.lines[0].get_data(), strict=True))
    assert at[-20] == pytest.approx(widget.similarity(), abs=1e-4)
    for view in ("table", "binary", "rotation"):
        widget.view = view
        assert widget.twin().axes


def test_the_chapters_questions_have_these_answers():
    table = sinusoidal_positions(100, 20)
    gap = (table[:, :, None] - table[:, None]).abs().amax(0) + 9 * torch.eye(20)
    assert divmod(int(gap.argmin()), 20) == (17, 19)
    missing = {k: abs(math.remainder(k, 2 * math.pi)) for k in range(1, 65)}
    assert min(missing, key=lambda k: missing[k]) == 44
    assert round(44 / (2 * math.pi), 2) == 7.0
    turns = [PositionExplorer(pair=2, offset=k).turns()[2] for k in range(1, 65)]
    assert 1 + min(range(64), key=lambda i: abs(turns[i] - 2 * math.pi)) == 40
