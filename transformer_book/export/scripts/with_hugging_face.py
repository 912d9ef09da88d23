"""Translates sentences, one a line: `python translate.py < sentences.txt`."""

import io
import sys
from pathlib import Path

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

sys.stdout = io.TextIOWrapper(sys.stdout.buffer, "utf-8")  # whatever the terminal is
folder = Path(__file__).parent
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForSeq2SeqLM.from_pretrained(folder)
sentences = sys.stdin.buffer.read().decode().splitlines()
batch = tokenizer(sentences, return_tensors="pt", padding=True)
for ids in model.generate(**batch, num_beams=1):  # 4: as the paper searches
    print(tokenizer.decode(ids, skip_special_tokens=True))
