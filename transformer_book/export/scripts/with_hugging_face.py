"""Translates sentences, one a line: `python translate.py < sentences.txt`."""

import sys
from pathlib import Path

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder = Path(__file__).parent
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForSeq2SeqLM.from_pretrained(folder)
sentences = sys.stdin.read().splitlines()
batch = tokenizer(sentences, return_tensors="pt", padding=True)
for ids in model.generate(**batch, num_beams=1):  # 4: as the paper searches
    print(tokenizer.decode(ids, skip_special_tokens=True))
