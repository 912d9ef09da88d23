"""Each rule says what it says, and nothing about a good translation."""

import pytest

from transformer.text import BPETokenizer, WordTokenizer

from transformer_book.translation_errors import RULES, error_features, repetitions

SOURCE = "zwei Hunde laufen über eine grüne Wiese"
REFERENCE = "Two dogs run across a green meadow."
ENGLISH = {"two", "dogs", "run", "across", "a", "green", "meadow", "orange"}
KNOWN = WordTokenizer(SOURCE.split())


def signs(translation: str, source: str = SOURCE, reference: str = REFERENCE) -> list[str]:
    return error_features(source, translation, reference, KNOWN, ENGLISH)


def test_the_reference_itself_has_no_sign() -> None:
    assert signs(REFERENCE) == []


@pytest.mark.parametrize(
    ("translation", "expected"),
    [
        ("Two dogs run.", ["too short"]),
        ("", ["too short", "number"]),
        ("Two dogs run across a green meadow and over there too", ["too long"]),
        ("Two dogs run across across a meadow", ["repetition"]),
        ("Two green dogs, two green dogs run", ["repetition", "number"]),
        ("Two dogs run across a grüne meadow", ["copied word"]),
        ("Three dogs run across a green meadow", ["number"]),
        ("2 dogs run across a green meadow", []),
        ("Some dogs run across a green meadow", ["number"]),
    ],
)
def test_each_fault_has_its_sign(translation: str, expected: list[str]) -> None:
    assert signs(translation) == expected


def test_the_limits_of_length_are_two_thirds_and_one_and_a_half() -> None:
    reference = " ".join(["word"] * 6).replace("word word", "one other")
    for n, expected in ((4, ["too short"]), (5, []), (8, []), (9, ["too long"])):
        translation = " ".join("abcdefghi"[:n])
        assert signs(translation, reference=reference) == expected


def test_words_that_are_english_too_are_not_copied() -> None:
    assert signs("Two orange dogs run across meadow a", source="zwei orange Hunde") == [
        "unseen character"
    ]


def test_a_repetition_of_the_reference_is_none() -> None:
    reference = "a man in a hat and a man in a cap"
    assert signs(reference, reference=reference) == []
    assert repetitions(["a", "man", "in", "a", "hat"]) == set()
    assert repetitions(["a", "a", "b"]) == {("a", "a")}
    assert repetitions(list("abcdabc")) == {("a", "b", "c")}


def test_rare_words_and_unseen_characters_are_the_tokenizers_affair() -> None:
    tokenizer = BPETokenizer.train(["ein Hund ein Hund läuft"] * 5, 290)
    for source, expected in (
        ("ein Hund", []),
        ("ein Elefant", ["rare word", "unseen character"]),
        ("ein Hund läuft", []),
        ("ein Hund ☃", ["unseen character"]),
        ("ein Hundleinund", ["rare word"]),
    ):
        assert error_features(source, "a dog", "a dog", tokenizer, ENGLISH) == expected


def test_all_rules_are_described() -> None:
    assert all(RULES.values())
    assert set(signs("2 2 two grüne")) <= RULES.keys()
