"""Our tokenizers as the library `tokenizers` reads them from a file."""

import re
from collections.abc import Iterable
from typing import Any

from transformer.text import EOS, EOS_ID, UNK, Tokenizer, WordTokenizer, normalization


def library_tokenizer(tokenizer: Tokenizer) -> Any:
    """A `tokenizers.Tokenizer`: text becomes our ids and the end mark, ids become our text.

    Three things are left to who uses it. Ids below 4 are to be left out before decoding: as special
    tokens of the library they would be found in texts too. A ▁ of the text is read as a space. And
    marks of direction stay in all texts of a vocabulary with letters that are written from right to
    left, and go from all texts of another.
    """
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

    if isinstance(tokenizer, WordTokenizer):
        words = tokenizer.pieces(range(tokenizer.vocab_size))
        backend = Backend(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token=UNK))
        backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        backend.normalizer = _normalizer(words)
    else:
        backend = Backend.from_str(tokenizer.to_json())
        # The first word has a space before it, as all others.
        normal = _normalizer(backend.get_vocab())
        backend.normalizer = normalizers.Sequence([normal, normalizers.Prepend(" ")])
        backend.decoder = decoders.Sequence([backend.decoder, decoders.Strip(" ", 1, 0)])
    end = (EOS, EOS_ID)
    backend.post_processor = processors.TemplateProcessing(f"$A {EOS}", special_tokens=[end])
    return backend


def _normalizer(vocabulary: Iterable[str]) -> Any:
    """What `normalize` does, step by step, with the library's means."""
    from tokenizers import Regex, normalizers

    def without(pattern: re.Pattern[str], instead: str = "") -> Any:
        return normalizers.Replace(Regex(pattern.pattern), instead)

    n = normalization
    ordered = any(map(n.FROM_THE_RIGHT.search, vocabulary))
    blanks = [normalizers.NFC(), without(n.BLANKS, " ")]
    unseen = [without(n.TAGS), without(n.SELECTORS), without(n.JOINERS)]
    ends = [normalizers.Strip(), without(n.HYPHENS, "-")]
    first = [without(n.INVISIBLE), *([] if ordered else [without(n.DIRECTIONS)])]
    return normalizers.Sequence([*first, *blanks, *unseen, *blanks, *ends])
