"""Our tokenizers as the library `tokenizers` reads them from a file."""

from typing import Any

from transformer.text import EOS, EOS_ID, UNK, Tokenizer, WordTokenizer


def library_tokenizer(tokenizer: Tokenizer) -> Any:
    """A `tokenizers.Tokenizer`: text becomes our ids and the end mark, ids become our text.

    Two things are left to who uses it. Ids below 4 are to be left out before decoding: as special
    tokens of the library they would be found in texts too. And a ▁ of the text is read as a space.
    """
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

    if isinstance(tokenizer, WordTokenizer):
        words = tokenizer.pieces(range(tokenizer.vocab_size))
        backend = Backend(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token=UNK))
        backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        backend = Backend.from_str(tokenizer.to_json())
        # The first word has a space before it, as all others.
        backend.normalizer = normalizers.Prepend(" ")
        backend.decoder = decoders.Sequence([backend.decoder, decoders.Strip(" ", 1, 0)])
    end = (EOS, EOS_ID)
    backend.post_processor = processors.TemplateProcessing(f"$A {EOS}", special_tokens=[end])
    return backend
