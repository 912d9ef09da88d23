"""The same Transformer in CTranslate2, with the same weights."""

from tempfile import TemporaryDirectory
from typing import Any

from transformer import Transformer, TransformerConfig
from transformer.text import BOS_ID, EOS_ID, SPECIALS, UNK_ID

from transformer_book.export.ctranslate2 import write_model


def vocabulary(config: TransformerConfig) -> list[str]:
    """A name for each token id: CTranslate2 reads and writes names."""
    names = [f"w{i}" for i in range(config.tgt_vocab_size)]
    for i, name in zip((config.pad_id, BOS_ID, EOS_ID, UNK_ID), SPECIALS, strict=True):
        names[i] = name
    return names


def ctranslate2_translator(model: Transformer, threads: int, device: str = "cpu") -> Any:
    """CTranslate2's translator with our weights, in float32."""
    import ctranslate2

    with TemporaryDirectory() as folder:
        write_model(model, vocabulary(model.config), folder)
        return ctranslate2.Translator(
            folder, device=device, compute_type="float32", intra_threads=threads, inter_threads=1
        )
