"""A small model of two directions that has learned a few sentences by heart, in seconds."""

from functools import cache

import torch

from transformer.config import TransformerConfig
from transformer.data.everyday import ask_both
from transformer.data.own_sentences import own_sentences
from transformer.model import Transformer
from transformer.text import BOS_ID, EOS_ID, PAD_ID, BPETokenizer
from transformer.text.batching import pad

from transformer_book.both_ways import BothWays, TwoWayTranslator, leaning
from transformer_book.page.model_scripts import rounded_translator

GERMAN = [sentence.german for sentence in own_sentences()]
ENGLISH = [sentence.english for sentence in own_sentences()]
N_KNOWN = 4  # pairs that it has learned
STEPS = 120
UNSURE_BELOW = -0.02  # what it knows, it writes with -0.005


@cache
def two_ways() -> TwoWayTranslator:
    """It translates the first pairs in both directions; the leaning is that of every other pair."""
    texts = ask_both([*zip(GERMAN, ENGLISH, strict=True)]).values()
    tokenizer = BPETokenizer.train([line for text in texts for line in text.source], 1000)
    known = [
        (s, t)
        for text in texts
        for s, t in list(zip(text.source, text.target, strict=True))[:N_KNOWN]
    ]
    torch.manual_seed(0)
    model = Transformer(
        TransformerConfig(
            src_vocab_size=tokenizer.vocab_size, tgt_vocab_size=tokenizer.vocab_size, d_model=32,
            d_ff=64, n_heads=2, n_layers=1, dropout=0.0, norm="pre", tie="all", max_len=200,
        )
    )  # fmt: skip
    src = pad([[*tokenizer.encode(source), EOS_ID] for source, _ in known], PAD_ID)
    tgt = pad([[BOS_ID, *tokenizer.encode(target), EOS_ID] for _, target in known], PAD_ID)
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(STEPS):
        adam.zero_grad()
        logits = model(src, tgt[:, :-1]).flatten(0, 1)
        torch.nn.functional.cross_entropy(
            logits, tgt[:, 1:].flatten(), ignore_index=PAD_ID
        ).backward()
        adam.step()
    ways = BothWays(leaning(tokenizer, GERMAN[::2], ENGLISH[::2]), UNSURE_BELOW)
    found = rounded_translator(TwoWayTranslator(model.eval(), tokenizer, ways))
    assert isinstance(found, TwoWayTranslator)
    return found
