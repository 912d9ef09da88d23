"""Searches for the tests of the beam explorer."""

from functools import cache
from types import SimpleNamespace

from tests.helpers import BOS, EOS, decided_model
from transformer.text import WordTokenizer

from transformer_book.widgets import BeamExplorer

WORDS = [chr(ord("a") + i) for i in range(26)]
SENTENCES = ["c d e f", "k l m", "q r s t u v"]
EXTRA = 8


@cache
def translator(words=tuple(WORDS)):
    """A random model with decided distributions, for a vocabulary of one letter a word."""
    return SimpleNamespace(model=decided_model(30, seed=3), tokenizer=WordTokenizer(words))


@cache
def widget(**settings):
    """The explorer, whose searches are made once."""
    return BeamExplorer(
        translator(), SENTENCES, bos_id=BOS, eos_id=EOS, extra_length=EXTRA, **settings
    )


def explorer(**settings):
    """The same explorer, set anew."""
    one = widget()
    for name, value in {"example": 0, "beam_size": 5, "alpha": 0.6, "step": 0, **settings}.items():
        setattr(one, name, value)
    return one
