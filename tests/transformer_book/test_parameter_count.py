"""The tally of parameters counts each of them once, in the chapter that builds it."""

import re
from pathlib import Path

import pytest
import torch
from torch import nn

from tools.site.chapters import blocks, contents
from transformer import Transformer, TransformerConfig

from transformer_book.parameter_count import NEW, tally, tally_line
from transformer_book.shipped import shipped_model

ROOT = Path(__file__).resolve().parents[2]
(CHAPTERS,) = (part.pages for part in contents(ROOT) if part.caption == "The architecture")


def on_paper(**settings) -> Transformer:
    with torch.device("meta"):
        return Transformer(TransformerConfig.tiny(src_vocab_size=50, **settings))


@pytest.mark.parametrize(
    "settings",
    [{}, {"norm": "post"}, {"positions": "learned"}, {"tie": "none"}, {"n_layers": 5}],
    ids=str,
)
def test_all_parameters_are_counted_and_none_twice(settings):
    model = on_paper(**settings)
    assert sum(tally(model).values()) == model.n_parameters()


def test_a_chapter_adds_what_its_boxes_hold():
    model = shipped_model().model
    c, counts = model.config, tally(model)
    attention, feed_forward = 4 * c.d_model**2, 2 * c.d_model * c.d_ff + c.d_model + c.d_ff
    assert counts["multi_head_attention"] == c.n_layers * attention
    assert counts["embedding"] == c.tgt_vocab_size * c.d_model
    assert counts["layers"] == c.n_layers * (feed_forward + 2 * 2 * c.d_model)
    assert counts["post_or_pre"] == 2 * c.d_model
    assert counts["encoder_decoder"] == sum(p.numel() for p in model.decoder.parameters())
    assert counts["positions"] == counts["masks"] == counts["model"] == 0
    assert tally(on_paper(norm="post"))["post_or_pre"] == 0
    assert tally(on_paper(positions="learned"))["positions"] > 0


def test_the_line_grows_from_chapter_to_chapter_until_the_sum_is_reached():
    model = shipped_model().model
    numbers = [
        [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", tally_line(chapter))]
        for chapter in NEW
    ]
    before = 0
    for total, so_far, *new in numbers:  # a box without parameters is named without a number
        assert total == model.n_parameters() and so_far == before + sum(new)
        before = so_far
    assert before == model.n_parameters()


def test_the_line_draws_no_random_number_that_its_chapter_would_miss():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    tally_line("layers")
    assert torch.equal(torch.rand(3), expected)


def test_a_strange_chapter_and_a_strange_parameter_are_refused():
    with pytest.raises(ValueError, match="no tally for 'attention'"):
        tally_line("attention")
    with pytest.raises(ValueError, match=r"weight belongs to no chapter"):
        tally(nn.Linear(2, 3))


def test_each_chapter_of_the_architecture_prints_its_own_line_before_what_to_keep():
    assert [Path(chapter).name for chapter in CHAPTERS] == list(NEW)
    for chapter in CHAPTERS:
        found = list(blocks((ROOT / f"{chapter}.md").read_text(encoding="utf-8")))
        cells = [
            n for n, block in enumerate(found) if block.is_cell and "tally_line(" in block.text
        ]
        (keep,) = (n for n, block in enumerate(found) if block.options.get("class") == "to-keep")
        (cell,) = cells
        assert f'print(tally_line("{Path(chapter).name}"))' in found[cell].text
        assert not any(block.text.strip() for block in found[cell + 1 : keep])
