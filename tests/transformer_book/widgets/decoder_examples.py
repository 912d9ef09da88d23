"""Sentences and widgets for the tests of the decoder at work."""

from functools import cache

from transformer_book.page.model_scripts import page_model, rounded_translator
from transformer_book.shipped import shipped_model
from transformer_book.widgets import DecoderAtWork

TOY = "der Hund sieht die Katze ."
OTHER = "die Hunde sehen die Katze ."
OWN = "die Frau hat den Mann gesehen ."


@cache
def translator(name="toy_german"):
    """A shipped model as a page has it."""
    return rounded_translator(shipped_model(name))


def decoder(sentences=TOY, *, name="toy_german", live=False, **settings):
    """The widget with a shipped model, on a page with or without it."""
    live = {"live": page_model(name)} if live else {}
    return DecoderAtWork(translator(name), sentences, **live, **settings)
