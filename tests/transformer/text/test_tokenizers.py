"""Text and token ids: nothing is lost on the way there and back."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer.text import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    SPECIALS,
    UNK_ID,
    BPETokenizer,
    WordTokenizer,
    load_tokenizer,
    normalize,
    save_tokenizer,
)

TEXTS = [
    "Der alte Mann sah einen kleinen Hund.",
    "Ein Hund läuft über die Wiese!",
    "The old man saw a small dog.",
    "A dog runs across the meadow.",
]


@pytest.fixture(scope="module")
def bpe() -> BPETokenizer:
    return BPETokenizer.train(TEXTS * 3, vocab_size=340)


@given(text=st.text())
@example("two  spaces, and one at the end ")
@example(" one at the start")
@example("▁ is a character too ▁▁")
@example("</s> <pad> <0x41> <unk>")
@example("漢字 ☃️ e\u0301 \x00 \t \r\n")
@example("")
def test_bpe_gives_back_any_text_in_its_normal_form(bpe: BPETokenizer, text: str) -> None:
    assert bpe.decode(bpe.encode(text)) == normalize(text)


@given(text=st.text())
def test_text_never_becomes_a_special_token(bpe: BPETokenizer, text: str) -> None:
    assert all(i >= len(SPECIALS) for i in bpe.encode(text))


def test_bpe_merges_frequent_words_and_splits_rare_ones(bpe: BPETokenizer) -> None:
    assert bpe.pieces(bpe.encode("Hund")) == ["▁Hund"]
    assert len(bpe.encode("Hundewetter")) > 1


def test_punctuation_is_no_part_of_a_word(bpe: BPETokenizer) -> None:
    assert bpe.pieces(bpe.encode("Hund."))[-1] == "."


def test_bpe_spells_the_tokens_of_another_vocabulary(bpe: BPETokenizer) -> None:
    other = BPETokenizer.train(["Hundewetter und Hunde"] * 3, vocab_size=300)
    for i, piece in enumerate(other.pieces(range(other.vocab_size))):
        ids = bpe.spell(piece)
        assert ids and all(0 <= j < bpe.vocab_size for j in ids)
        if piece in bpe.pieces(range(bpe.vocab_size)):
            assert bpe.pieces(ids) == [piece]
        elif i >= 260:  # a merged one: no mark, no byte
            assert "".join(bpe.pieces(ids)) == piece
    assert [bpe.spell(mark) for mark in SPECIALS] == [[i] for i in range(len(SPECIALS))]


def test_bpe_is_the_same_for_the_same_text() -> None:
    first, second = (BPETokenizer.train(TEXTS, 320).to_json() for _ in range(2))
    assert first == second


def test_bpe_leaves_padding_and_marks_out_of_the_text(bpe: BPETokenizer) -> None:
    assert bpe.decode([BOS_ID, *bpe.encode("Hund"), EOS_ID, PAD_ID]) == "Hund"


def test_bpe_needs_room_for_bytes() -> None:
    with pytest.raises(ValueError, match=r"vocab_size \(260\) must exceed the 260"):
        BPETokenizer.train(TEXTS, vocab_size=260)


@pytest.mark.slow
@given(letters=st.sets(st.characters(min_codepoint=0x4E00, max_codepoint=0x4FFF), min_size=60))
def test_letters_leave_half_of_the_places_to_merges(letters: set[str]) -> None:
    texts = ["the man walks", "the man sees the man"] * 9 + sorted(letters)
    bpe = BPETokenizer.train(texts, 300)
    assert 280 < bpe.vocab_size <= 300
    assert len(bpe.encode("the man")) == 2
    assert all(bpe.decode(bpe.encode(letter)) == letter for letter in letters)


def test_words_round_trip_and_unknown_words_show_as_unknown() -> None:
    words = WordTokenizer(["der", "Hund", "der"])
    assert words.vocab_size == len(SPECIALS) + 2
    assert words.decode(words.encode("der Hund")) == "der Hund"
    assert words.encode("die") == [UNK_ID]
    assert words.decode([BOS_ID, UNK_ID, 5, EOS_ID, PAD_ID]) == "<unk> Hund"
    assert words.pieces([BOS_ID, 4]) == ["<s>", "der"]


@pytest.mark.parametrize("word", ["", "zwei Wörter"])
def test_words_with_spaces_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="empty word or one with a space"):
        WordTokenizer(["der", word])


@pytest.mark.parametrize("use", ["encode", "train"])
def test_half_a_character_is_shown(use: str, bpe: BPETokenizer) -> None:
    text = b"Stra\xdfe".decode(errors="surrogateescape")  # latin-1, taken for UTF-8
    message = r"character 5 of 'Stra\\udcdfe' is '\\udcdf', half a character"
    with pytest.raises(ValueError, match=message):
        bpe.encode(text) if use == "encode" else BPETokenizer.train(["ab", text], 300)


@pytest.mark.parametrize("kind", ["words", "bpe"])
def test_tokenizers_come_back_from_disk(kind: str, bpe: BPETokenizer, tmp_path) -> None:
    tokenizer = bpe if kind == "bpe" else WordTokenizer(["ein", "Hund"])
    save_tokenizer(tmp_path / "tokenizer.json", tokenizer)
    again = load_tokenizer(tmp_path / "tokenizer.json")
    assert type(again) is type(tokenizer)
    assert again.to_json() == tokenizer.to_json()
    assert again.encode("ein Hund") == tokenizer.encode("ein Hund")


@pytest.mark.parametrize("content", ["", "<html>", json.dumps({"model": 1}), "[]"])
def test_a_file_that_is_no_tokenizer_is_named(content: str, tmp_path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="tokenizer.json is no tokenizer file"):
        load_tokenizer(path)


def test_words_that_are_half_a_character_are_refused_by_their_file(tmp_path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"kind": "words", "words": ["ein", "\ud800"]}))
    with pytest.raises(ValueError, match=r"tokenizer\.json is no .*half a character"):
        load_tokenizer(path)


def test_a_missing_tokenizer_is_named(tmp_path) -> None:
    with pytest.raises(ValueError, match="there is no tokenizer at"):
        load_tokenizer(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("padding", {"strategy": {"Fixed": 9}}),
        ("truncation", {"max_length": 3}),
        ("normalizer", {"type": "Lowercase"}),
        ("post_processor", {"type": "ByteLevel"}),
        ("added_tokens", [{"id": 5, "content": "Hund"}]),
        ("pre_tokenizer", {"type": "Sequence", "pretokenizers": [{"type": "Split"}]}),
        ("pre_tokenizer", {"type": "Whitespace", "pretokenizers": []}),
        ("decoder", {"type": "Sequence", "decoders": [{"type": "Sequence"}]}),
        ("model", {"type": "WordPiece", "vocab": {}}),
        ("model", {"type": "BPE", "vocab": {}, "end_of_word_suffix": "x"}),
        ("model", {"type": "BPE", "vocab": {"a" * 20_000: 1}}),
    ],
)
def test_what_training_never_writes_into_a_tokenizer_is_refused(
    part: str, value: object, bpe: BPETokenizer, tmp_path
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(json.loads(bpe.to_json()) | {part: value}))
    message = rf"tokenizer file \(({part} is not of this program|one of its words has more than)"
    with pytest.raises(ValueError, match=message):
        load_tokenizer(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"unk_token": None}, "unk_token or byte_fallback"),
        ({"unk_token": "\x1b[2J"}, "unk_token or byte_fallback"),
        ({"byte_fallback": False}, "unk_token or byte_fallback"),
        ({"vocab": ("</s>", 7)}, "the tokens 0 to 3 are not <pad>, <s>, </s>, <unk>"),
    ],
    ids=["no unknown", "another unknown", "no bytes", "another end"],
)
def test_a_tokenizer_has_the_special_tokens_of_this_program(
    change: dict[str, object], sentence: str, bpe: BPETokenizer, tmp_path
) -> None:
    made = json.loads(bpe.to_json())
    if "vocab" in change:
        token, number = change["vocab"]
        ids = made["model"]["vocab"]
        other = next(name for name, i in ids.items() if i == number)
        change = {"vocab": ids | {token: number, other: ids[token]}}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(made | {"model": made["model"] | change}))
    with pytest.raises(ValueError, match=sentence):
        load_tokenizer(path)
