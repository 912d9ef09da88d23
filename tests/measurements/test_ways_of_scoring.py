"""The same translations, counted in several ways."""

import pytest

from measurements.scorers import scored_in_many_ways, split_compounds
from transformer.evaluation import score

OUTPUTS = ["a well-known man walks his dog in the snow .", "The tree is tall and green."]
REFERENCES = [
    "A well-known man is walking his dog in the snow.",
    "the tree is very tall and green.",
]


def test_hyphens_between_letters_become_words() -> None:
    assert split_compounds("a state-of-the-art man - he") == "a state - of - the - art man - he"
    assert split_compounds("-10 to 5-") == "-10 to 5-"


def test_the_first_way_is_the_books_own() -> None:
    ways = scored_in_many_ways(OUTPUTS, REFERENCES)
    own = score(OUTPUTS, REFERENCES).to_dict()
    assert ways["13a"] == {"bleu": own["bleu"], "signature": own["signature"]}


def test_what_is_forgiven_raises_the_score() -> None:
    found = {way: s["bleu"] for way, s in scored_in_many_ways(OUTPUTS, REFERENCES).items()}
    assert found["13a, lower case"] > found["13a"] > found["blanks only"]
    assert found["intl, lower case"] > found["intl"]
    assert found["13a, compounds apart"] != found["13a"]


def test_the_signature_knows_of_case_and_tokenisation_only() -> None:
    ways = scored_in_many_ways(OUTPUTS, REFERENCES)
    assert "case:lc" in ways["13a, lower case"]["signature"]
    assert "tok:intl" in ways["intl"]["signature"]
    assert ways["13a, compounds apart"]["signature"] == ways["blanks only"]["signature"]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 2)])
def test_each_translation_needs_a_reference(n: int, m: int) -> None:
    with pytest.raises(ValueError, match=f"{n} translations for {m} references"):
        scored_in_many_ways(["a"] * n, ["a"] * m)
