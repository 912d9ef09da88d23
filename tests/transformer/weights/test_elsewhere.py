"""A setting that only the modules know: nobody computes such a model without them."""

from dataclasses import dataclass

import pytest

from tests.helpers import bpe_translator, bpe_twice, small_model
from transformer import TransformerConfig
from transformer.decoding.fused import is_plain
from transformer.weights import new_settings, only_in_modules

from transformer_book.exercises.track.model import OwnTransformer
from transformer_book.exercises.track.parts import Parts
from transformer_book.export import ExportError, export_model
from transformer_book.page.model_scripts import pack


@dataclass(frozen=True)
class Capped(TransformerConfig):
    """What a change inside a layer begins with: one more setting, off unless it is given."""

    score_cap: float | None = None


def capped(config: TransformerConfig, score_cap: float | None) -> Capped:
    return Capped(**config.to_dict(), score_cap=score_cap)


def test_a_new_setting_at_its_default_is_the_papers_model() -> None:
    model = small_model()
    model.config = capped(model.config, None)
    assert new_settings(model.config) == []
    assert only_in_modules(model) == ""
    assert is_plain(model)


def test_a_new_setting_leaves_a_model_to_its_modules(tmp_path) -> None:
    translator = bpe_translator(bpe_twice()[0])
    model = translator.model
    model.config = capped(model.config, 5.0)
    assert not is_plain(model)
    assert only_in_modules(model) == "score_cap=5.0"
    with pytest.raises(ValueError, match="the model has score_cap=5.0"):
        pack(translator)
    with pytest.raises(ExportError, match="the model has score_cap=5.0"):
        export_model(model, translator.tokenizer, "onnx", tmp_path / "onnx")
    config = capped(TransformerConfig.tiny(src_vocab_size=20, norm="post"), 5.0)
    with pytest.raises(ValueError, match="the exercises build the paper's model"):
        OwnTransformer(config, Parts())
