"""In Python the beam explorer has the search's numbers, and refuses what makes no sense."""

import pytest
import torch
from traitlets import TraitError

from tests.helpers import BOS, EOS, MARKS, log_probabilities
from tests.widgets.beam_examples import EXTRA, SENTENCES, explorer, translator
from transformer.decoding import beam_search
from transformer.widgets import BeamExplorer


def test_python_has_the_numbers_of_the_model_and_of_the_search():
    one, model = explorer(beam_size=4, example=1), translator().model
    one.step = one.n_steps
    src = torch.tensor([[*translator().tokenizer.encode(SENTENCES[1]), EOS]])
    found = beam_search(model, src, beam_size=4, n_best=4, max_len=4 + EXTRA, **MARKS)[0]
    texts = [" ".join(translator().tokenizer.pieces(h.tokens)) for h in found]
    assert [end["text"] for end in one.finished()][:4] == texts
    assert [end["score"] for end in one.finished()][:4] == pytest.approx(
        [h.score for h in found], abs=1e-4
    )
    (total,) = log_probabilities(model, src, [found[0].tokens], len(found[0].tokens) < 4 + EXTRA)
    assert one.finished()[0]["total"] == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "error", "named"),
    [
        ({"sentences": []}, ValueError, "sentences are"),
        ({"sentences": "a b"}, ValueError, "give a list"),
        ({"sentences": ["a", " "]}, ValueError, "sentence 2 is empty"),
        (
            {"sentences": ["a " * 40]},
            ValueError,
            r"has 40 tokens, more than the model takes \(31\)",
        ),
        ({"beam_sizes": []}, ValueError, "rising numbers from 1 to 8"),
        ({"beam_sizes": [2, 1]}, ValueError, r"beam_sizes are \[2, 1\]"),
        ({"beam_sizes": [9]}, ValueError, "rising numbers"),
        ({"length_penalty": -1.0}, ValueError, "length_penalty"),
        ({"beam_size": 3}, TraitError, r"beam_size \(3\) must be one of 1, 2"),
        ({"example": 1}, TraitError, r"example \(1\) must be 0 to 0"),
        ({"step": 99}, TraitError, r"step \(99\) must be 0 to"),
        ({"alpha": 2.5}, TraitError, "alpha"),
        ({"alpha": float("nan")}, TraitError, "alpha"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(changes, error, named):
    settings = {"sentences": ["a b"], "beam_sizes": [1, 2], "extra_length": 2, **changes}
    sentences = settings.pop("sentences")
    with pytest.raises(error, match=named):
        BeamExplorer(translator(), sentences, bos_id=BOS, eos_id=EOS, **settings)


def test_the_twin_draws_the_same_tree():
    one = explorer(beam_size=3, step=4)
    (axes,) = one.twin().axes
    seen = [n for n in one.tree.nodes[0] if n.length <= 4]
    assert len(axes.patches) == len(seen)
    assert len(axes.lines) == len(seen) - 1
    written = [text.get_text() for text in axes.texts]
    for candidate in one.candidates():
        total = f"{candidate['total']:.2f}".replace("-", "−")
        assert any(t.startswith(candidate["token"]) and t.endswith(total) for t in written)
