"""The picture of a decoder's step: what is drawn where."""

from transformer_book.figures.decoder import candidate_bars, decoder_steps, look_lines

SOURCE, TARGET = ["zwei", "$Hunde$", "</s>"], ["two", "dogs"]
LIKELY = {"dogs": 0.7, "dog": 0.2, "$x$": 0.05}


def step(**changes):
    return {"source": SOURCE, "target": TARGET, "weights": [0.04, 0.9, 0.06],
            "likely": LIKELY, **changes}  # fmt: skip


def test_lines_lead_from_the_last_token_to_those_that_are_looked_at():
    ax = look_lines(SOURCE, TARGET, [0.04, 0.9, 0.06])
    where = {t.get_text(): t.get_position() for t in ax.texts}
    assert where["zwei"][1] > where["two"][1]
    assert [line.get_alpha() for line in ax.lines] == [0.9, 0.06]  # 0.04 would be a haze
    for line, word in zip(ax.lines, [r"\$Hunde\$", "</s>"], strict=True):
        start, end = line.get_xdata()
        assert (start, end) == (where[word][0], where["dogs"][0])
    assert [t.get_text() for t in ax.texts if t.get_fontweight() == "bold"] == ["dogs"]
    ax.figure.canvas.draw()


def test_bars_are_the_probabilities_and_the_written_one_stands_out():
    ax = candidate_bars(LIKELY, "dog")
    assert [bar.get_width() for bar in ax.patches] == list(LIKELY.values())
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[2] != colours[1]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["dogs", "dog (written)", r"\$x\$"]
    assert [t.get_text() for t in ax.texts] == ["0.700", "0.200", "0.050"]
    assert len({bar.get_facecolor() for bar in candidate_bars(LIKELY, "cat").patches}) == 1


def test_sentences_stand_below_each_other_and_long_ones_stay_on_the_page():
    figure = decoder_steps([step(), step(target=["two"])], head="layer 1, head 2")
    assert [ax.get_title() for ax in figure.axes[::2]] == ["cross-attention of layer 1, head 2"] * 2
    assert len(figure.axes) == 4
    words = [f"word{i}" for i in range(120)]
    figure = decoder_steps([step(source=words, weights=[1 / 120] * 120)], head="layer 1, head 1")
    assert figure.get_size_inches()[0] <= 18
