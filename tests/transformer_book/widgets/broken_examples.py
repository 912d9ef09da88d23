"""Sentences and widgets for the tests of the model that is taken apart."""

from functools import cache

from transformer_book.page.model_scripts import page_model, rounded_translator
from transformer_book.shipped import shipped_model
from transformer_book.widgets import BrokenTranslator

MAN = "der Mann sieht den Hund ."
DOG = "der Hund sieht den Mann ."
OWN = "die Frau hat den Mann gesehen ."


@cache
def translator(name="toy_german"):
    """A shipped model as a page has it."""
    return rounded_translator(shipped_model(name))


def bench(sentences=(MAN, DOG), *, name="toy_german", live=False, **settings):
    """The widget with a shipped model, on a page with or without it."""
    live = {"live": page_model(name)} if live else {}
    return BrokenTranslator(translator(name), list(sentences), **live, **settings)
