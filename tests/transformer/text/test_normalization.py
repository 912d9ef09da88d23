"""What looks the same becomes the same text, and clean text stays as it is."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer.data.multi30k import load_multi30k
from transformer.text import BPETokenizer, WordTokenizer, normalize
from transformer.text.bpe import word_counts

from transformer_book.shipped import shipped_model

SHIPPED = shipped_model()
BLANKS = [" ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\x85", "\xa0", "\u2003", "\u2009", "\u202f"]
BLANKS += ["\u2028", "\u3000", "  ", " \u200b ", "\u2800"]
UNSEEN = ["\xad", "\u200b", "\u2060", "\ufeff", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a"]
UNSEEN += ["\u202c", "\u2066", "\u2069", "\u034f", "\x00", "\x1b", "\b"]
SENTENCE = "Ein Mädchen läuft über die Straße, und café-au-lait fällt hinunter."

characters = st.one_of(
    st.characters(),
    st.sampled_from([chr(c) for c in (*range(0x21), *range(0x7F, 0xB0), *range(0x2000, 0x2070))]),
    st.sampled_from(
        [chr(c) for c in (*range(0x300, 0x310), *range(0x600, 0x620), 0xFE0F, 0x1F3F4)]
    ),
    st.sampled_from("ae \u05d0\u2adc\u1680\u2126\u0958\U000e0067\U000e0100"),
)


@st.composite
def disguised(draw: st.DrawFn, text: str = SENTENCE) -> str:
    """A text that looks like the given one."""
    form = draw(st.sampled_from(["NFC", "NFD"]))
    parts = [draw(st.sampled_from(["", *BLANKS]))]
    for letter in unicodedata.normalize(form, text):
        parts.append(draw(st.sampled_from(BLANKS)) if letter == " " else letter)
        parts.append(draw(st.sampled_from([""] * 9 + UNSEEN)))
    return "".join([*parts, draw(st.sampled_from(["", *BLANKS]))])


@given(text=disguised())
@example(
    "\ufeffEin Mädchen la\u0308uft über die Straße, und café\u2011au\u2011lait fällt hinunter.\r"
)
def test_what_looks_the_same_is_the_same_text(text: str) -> None:
    assert normalize(text) == SENTENCE


@pytest.mark.parametrize("unseen", UNSEEN)
def test_one_character_that_nobody_sees_is_left_out(unseen: str) -> None:
    assert normalize(f"Ein Hu{unseen}nd") == "Ein Hund"


@pytest.mark.parametrize("blank", BLANKS)
def test_one_blank_becomes_a_space(blank: str) -> None:
    assert normalize(f"{blank}Ein{blank}Hund{blank}") == "Ein Hund"


@pytest.mark.parametrize(
    "text", ["T\u2010Shirt", "T\u2011Shirt", "T-Shi\ufe0frt", "T-Shir\u180bt\U000e0100"]
)
def test_hyphens_are_one_and_letters_of_europe_have_no_variants(text: str) -> None:
    assert normalize(text) == "T-Shirt"


@given(text=disguised())
def test_what_looks_the_same_has_the_same_tokens(text: str) -> None:
    for tokenizer in (SHIPPED.tokenizer, WordTokenizer(SENTENCE.split())):
        assert tokenizer.encode(text) == tokenizer.encode(SENTENCE)
    assert word_counts(text) == word_counts(SENTENCE)


@given(text=st.text(characters))
@example("x \ufe0f")
@example("\ufe0f\u200da")
@example("a \u200c\ufe0f")
@example("\u1680\u200c")
@example("\u2adc\u200c")
def test_normal_text_stays_as_it_is(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert once.split() == [word for word in once.split(" ") if word]


@pytest.mark.parametrize(
    "text",
    [
        "Der Hund sagte: „Nein“ – ‘no’ … 5 €!",
        "שלום, world.\u200f",  # the mark puts the full stop to the left
        "می\u200cخواهم",
        "क्\u200dष ꦏ꧀\u200cꦏ ᠠ\u180eᠠ",
        "ירושל\u05b7\u034f\u05b4ם",
        "👨\u200d👩\u200d👧 ❤\ufe0f 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "▁ </s> <0x41>",
        "",
    ],
)
def test_what_can_be_seen_stays(text: str) -> None:
    assert normalize(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "\u200b",
        "\u2800\xa0",
        "\ufeff\r",
        "\u200f\u2069",
        "\u200d",
        "\ufe0f",
        "\u2065",
        "\u180b",
        "\U0001d173",
    ],
)
def test_what_looks_empty_is_empty(text: str) -> None:
    assert normalize(text) == ""
    assert SHIPPED.translate([text]) == [""]


def test_subwords_are_learned_from_normal_text() -> None:
    text = "ein  Hund\xa0läuft"
    messy = [text, unicodedata.normalize("NFD", text), f"\ufeff{text}\r"]
    clean = ["ein Hund läuft"] * 3
    assert BPETokenizer.train(messy, 300).to_json() == BPETokenizer.train(clean, 300).to_json()


def test_real_captions_differ_from_their_normal_form_in_blanks_alone(real_data) -> None:
    captions = load_multi30k(real_data / "multi30k").train
    changed = [text for text in (*captions.source, *captions.target) if normalize(text) != text]
    assert len(changed) < 0.01 * len(captions)
    assert all(normalize(text) == " ".join(text.split()) for text in changed)
