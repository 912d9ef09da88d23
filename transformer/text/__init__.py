"""Between text and token ids: the special tokens, tokenizers, and byte-pair encoding by hand."""

from transformer.text.bpe import SPACE
from transformer.text.normalization import normalize
from transformer.text.specials import (
    BOS,
    BOS_ID,
    EOS,
    EOS_ID,
    PAD,
    PAD_ID,
    SPECIALS,
    UNK,
    UNK_ID,
)
from transformer.text.tokenizers import (
    BPETokenizer,
    Tokenizer,
    WordTokenizer,
    load_tokenizer,
    save_tokenizer,
    unknown_words,
)

__all__ = [
    "BOS",
    "BOS_ID",
    "EOS",
    "EOS_ID",
    "PAD",
    "PAD_ID",
    "SPACE",
    "SPECIALS",
    "UNK",
    "UNK_ID",
    "BPETokenizer",
    "Tokenizer",
    "WordTokenizer",
    "load_tokenizer",
    "normalize",
    "save_tokenizer",
    "unknown_words",
]
