"""Toy German: sentence pairs from a small grammar of our own, with the true alignment of words.

The book's embedded data. It shows what makes German to English a problem of attention (verbs at
the end, separable prefixes, cases instead of places) in about 500 word forms, and since the
grammar writes both sentences, it knows which word translates which.

- A sentence is a tuple of words; marks (. , ?) are words, and only nouns and I have a capital.
- The English is a function of the German. Present becomes simple present, the perfect (of sein,
  haben and modal verbs: the preterite) simple past, werden will.
- `lexicon` holds the words, `syntax` the structure of sentences, `german` and `english` spell it
  out, `sampling` draws sentences, `corpus` makes the splits. The English is written as a tree, and
  `treebank` makes splits for parsing.
"""

from transformer.data.toy_german.corpus import (
    SentencePair,
    ToyGerman,
    generate,
    is_held_out,
    spell_out,
    toy_german,
)
from transformer.data.toy_german.english import LABELS
from transformer.data.toy_german.syntax import FEATURES
from transformer.data.toy_german.treebank import Treebank, about_subject, toy_treebank
from transformer.data.toy_german.vocabulary import vocabulary

__all__ = [
    "FEATURES",
    "LABELS",
    "SentencePair",
    "ToyGerman",
    "Treebank",
    "about_subject",
    "generate",
    "is_held_out",
    "spell_out",
    "toy_german",
    "toy_treebank",
    "vocabulary",
]
