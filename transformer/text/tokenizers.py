"""Between text and token ids: whole words for the toy tasks, byte-pair encoding for real text.

Byte-pair encoding (section 5.1) is the `tokenizers` library's; the book builds it by hand once.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from transformer.support.files import FileError, read_limited, write_atomically
from transformer.text.bpe import SPACE
from transformer.text.normalization import normalize
from transformer.text.sentences import texts_of
from transformer.text.specials import SPECIALS, UNK_ID

LARGEST = 2**22  # bytes: a hundred thousand subwords with their merges
LONGEST_WORD = 2**14
PRE_TOKENIZERS, DECODERS = {"Metaspace", "Punctuation"}, {"Metaspace", "ByteFallback", "Fuse"}


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back. The ids 0 to 3 are padding, start, end and unknown.

    Text is encoded as `normalize` writes it, and that is what decoding gives back.
    """

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones included."""

    def encode(self, text: str) -> list[int]:
        """The text's token ids, without marks for start and end."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids; special tokens are left out."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id's token as it can be shown beside a heatmap."""

    def to_json(self) -> str:
        """All that `load_tokenizer` needs."""


class WordTokenizer:
    """One token for each word of a fixed list; texts are words with spaces between them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = [*SPECIALS, *dict.fromkeys(texts_of(words, "words", "word"))]
        ids = {word: i for i, word in enumerate(self._words)}
        self._ids = {normalize(word): i for word, i in ids.items()} | ids
        if any(not word or word.split() != [word] for word in self._words):
            raise ValueError("the word list holds an empty word or one with a space in it")

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones included."""
        return len(self._words)

    def encode(self, text: str) -> list[int]:
        """The ids of the words; a word that is not in the list becomes <unk>."""
        return [self._ids.get(word, UNK_ID) for word in normalize(text).split()]

    def ids(self, words: Iterable[str]) -> list[int]:
        """The ids of words that stand apart already."""
        return [self._ids.get(word, UNK_ID) for word in texts_of(words, "words", "word")]

    def decode(self, ids: Sequence[int]) -> str:
        """The words with spaces between them; padding and marks are left out."""
        return " ".join(self._words[i] for i in ids if i >= len(SPECIALS) or i == UNK_ID)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The words, special ones too."""
        return [self._words[i] for i in ids]

    def to_json(self) -> str:
        """The word list."""
        return json.dumps({"kind": "words", "words": self._words[len(SPECIALS) :]})

    @classmethod
    def from_json(cls, text: str) -> "WordTokenizer":
        """What `to_json` gave."""
        return cls(json.loads(text)["words"])


def unknown_words(tokenizer: Any, texts: Iterable[str]) -> list[str]:
    """The words that become <unk>, each once; none of a tokenizer that spells what it has not."""
    if not isinstance(tokenizer, WordTokenizer):
        return []
    normal = map(normalize, texts_of(texts, "texts"))
    words = dict.fromkeys(word for text in normal for word in text.split())
    return [word for word in words if tokenizer.ids([word]) == [UNK_ID]]


class BPETokenizer:
    """Byte-pair encoding; a space is written as ▁ at the beginning of the next token.

    Nothing is lost: characters that training has not seen are spelled in bytes, so that `decode`
    gives back exactly what `normalize` made of the text that `encode` was given.
    """

    def __init__(self, json_text: str) -> None:
        from tokenizers import Tokenizer as Backend

        self._backend = Backend.from_str(json_text)
        vocabulary = self._backend.get_vocab()
        self._space_bytes = [vocabulary[_byte_token(byte)] for byte in SPACE.encode()]

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> "BPETokenizer":
        """Learn merges from texts until there are `vocab_size` tokens, and never more.

        Letters take at most half of the places that the special tokens and bytes leave: of a text
        with more of them, such as Chinese, the rarest are spelled in bytes, and the other half is
        for merges.

        Raises:
            ValueError: vocab_size leaves no room beside the special tokens and the 256 bytes, the
                texts are one string, or a text holds half a character.
        """
        from tokenizers import Tokenizer as Backend
        from tokenizers import decoders, models, pre_tokenizers, trainers

        reserved = [*SPECIALS, *map(_byte_token, range(256))]
        if vocab_size <= len(reserved):
            raise ValueError(
                f"vocab_size ({vocab_size}) must exceed the {len(reserved)} special and byte tokens"
            )
        backend = Backend(models.BPE(unk_token=SPECIALS[UNK_ID], byte_fallback=True))
        # Words begin at their space; punctuation stands alone, so that "dog." is not a new word.
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(prepend_scheme="never"), pre_tokenizers.Punctuation()]
        )
        backend.decoder = decoders.Sequence(
            [decoders.Metaspace(prepend_scheme="never"), decoders.ByteFallback(), decoders.Fuse()]
        )
        # A space before the first word: "Hund" is one token wherever it stands.
        known = texts_of(texts, "texts", "text")
        spaced = [f" {normalize(_require_characters(text))}" for text in known]
        letters = _most_frequent_letters(spaced, (vocab_size - len(reserved) + 1) // 2)
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=reserved,
            initial_alphabet=letters,
            limit_alphabet=len(letters),
            show_progress=False,
        )
        backend.train_from_iterator(spaced, trainer)
        return cls(_without_reserved_words(backend.to_str()))

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones and bytes included."""
        return self._backend.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The text's token ids, as `normalize` writes it.

        Raises:
            ValueError: there is half a character in it, as undecoded bytes leave them.
        """
        text = normalize(_require_characters(text))
        # A ▁ of the text itself is spelled in bytes: as a token it stands for a space.
        first, *others = (self._backend.encode(part).ids for part in f" {text}".split(SPACE))
        return [*first, *(i for part in others for i in (*self._space_bytes, *part))]

    def decode(self, ids: Sequence[int]) -> str:
        """The text; padding and marks are left out."""
        ordinary = [i for i in ids if i >= len(SPECIALS)]
        return self._backend.decode(ordinary).removeprefix(" ")

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The tokens with ▁ for a space."""
        return [str(self._backend.id_to_token(i)) for i in ids]

    def spell(self, piece: str) -> list[int]:
        """The ids that spell a token of another vocabulary: one, where this one has the same."""
        same = self._backend.token_to_id(piece)
        return [same] if same is not None else self._backend.encode(piece.replace(SPACE, " ")).ids

    def to_json(self) -> str:
        """Vocabulary and merges, in the library's format."""
        return self._backend.to_str()


def _require_characters(text: str) -> str:
    """The text itself, if UTF-8 has bytes for all of it.

    Raises:
        ValueError: one of its code points is a lone surrogate, which no text has.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start + 1} of {text[:40]!a} is {text[error.start]!a}, half "
            "a character; was the text read as UTF-8?"
        ) from None
    return text


def _most_frequent_letters(texts: Iterable[str], most: int) -> list[str]:
    """So many of them; of equally frequent ones those that come first in Unicode."""
    counts = Counter(chain.from_iterable(text.replace(" ", SPACE) for text in texts))
    return sorted(counts, key=lambda letter: (-counts[letter], letter))[:most]


def _byte_token(byte: int) -> str:
    return f"<0x{byte:02X}>"


def _without_reserved_words(json_text: str) -> str:
    """Make the special and byte tokens unreachable from text.

    The trainer gives them their places only as words that are looked for in the text; a sentence
    about "</s>" would come out without it.
    """
    return json.dumps(json.loads(json_text) | {"added_tokens": []}, ensure_ascii=False)


def _require_ours(content: dict[str, Any]) -> None:
    """Hold a file's parts against those that `BPETokenizer.train` uses.

    The library's format can say much more: patterns that take for ever, texts that replace others
    and are a thousand times as long, sentences filled up to any length.

    Raises:
        ValueError: there is another part in it.
    """
    for part in ("normalizer", "post_processor", "truncation", "padding", "added_tokens"):
        if content.get(part):
            raise ValueError(f"{part} is not of this program")
    for part, steps, kinds in (
        ("pre_tokenizer", content["pre_tokenizer"]["pretokenizers"], PRE_TOKENIZERS),
        ("decoder", content["decoder"]["decoders"], DECODERS),
    ):
        if content[part]["type"] != "Sequence" or not {step["type"] for step in steps} <= kinds:
            raise ValueError(f"{part} is not of this program")
    model = content["model"]
    unused = ("dropout", "continuing_subword_prefix", "end_of_word_suffix")
    if model.get("type", "BPE") != "BPE" or any(model.get(setting) for setting in unused):
        raise ValueError("model is not of this program")
    # Without them the library gives up at the first character that it has never seen.
    if model.get("unk_token") != SPECIALS[UNK_ID] or model.get("byte_fallback") is not True:
        raise ValueError("unk_token or byte_fallback is not of this program")
    if any(model["vocab"].get(special) != i for i, special in enumerate(SPECIALS)):
        raise ValueError(f"the tokens 0 to {len(SPECIALS) - 1} are not {', '.join(SPECIALS)}")


def _require_words(words: Collection[str]) -> None:
    """Refuse a list of words one of which is no word: a model may write it a thousand times.

    Raises:
        ValueError: one is too long, or holds half a character.
    """
    _require_characters(" ".join(words))
    if any(len(word) > LONGEST_WORD for word in words):
        raise ValueError(f"one of its words has more than {LONGEST_WORD:,} letters")


def save_tokenizer(path: Path, tokenizer: Tokenizer) -> None:
    """Write a tokenizer as JSON, atomically."""
    write_atomically(path, tokenizer.to_json().encode())


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer of either kind.

    Raises:
        ValueError: the file is missing or is no tokenizer of this program.
        FileError: it is larger than one can be.
    """
    try:
        text = read_limited(path, LARGEST).decode("utf-8")
        content = json.loads(text)
        _require_words(content["words"] if "words" in content else content["model"]["vocab"])
        if content.get("kind") == "words":
            return WordTokenizer.from_json(text)
        _require_ours(content)
        return BPETokenizer(text)
    except FileError:
        raise
    except FileNotFoundError as error:
        raise ValueError(f"there is no tokenizer at {path}; is this a run folder?") from error
    except Exception as error:  # the library raises bare Exception for what it cannot parse
        what = f"{path} is no tokenizer file ({error}); take it from a copy of the run"
        raise ValueError(what) from error
