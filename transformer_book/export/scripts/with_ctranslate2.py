"""Translates sentences, one a line: `python translate.py < sentences.txt`."""

import io
import sys
from pathlib import Path

import ctranslate2
from tokenizers import Tokenizer

sys.stdout = io.TextIOWrapper(sys.stdout.buffer, "utf-8")  # whatever the terminal is
folder = str(Path(__file__).parent)
tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
vocabulary = tokenizer.get_vocab()
translator = ctranslate2.Translator(folder)  # compute_type="int8": smaller and often faster
sentences = sys.stdin.buffer.read().decode().splitlines()
sources = [tokenizer.encode(sentence).tokens for sentence in sentences]
for found in translator.translate_batch(sources, beam_size=1):  # 4: as the paper searches
    ids = [vocabulary[token] for token in found.hypotheses[0]]
    print(tokenizer.decode([i for i in ids if i > 3]))  # 0 to 3 are marks
