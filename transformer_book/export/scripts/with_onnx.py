"""Translates sentences, one a line: `python translate.py < sentences.txt`."""

import io
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

BOS, EOS, MOST_TOKENS = 1, 2, 200

sys.stdout = io.TextIOWrapper(sys.stdout.buffer, "utf-8")  # whatever the terminal is
folder = Path(__file__).parent
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
encoder, step = (onnxruntime.InferenceSession(folder / f"{n}.onnx") for n in ("encoder", "step"))
for sentence in sys.stdin.buffer.read().decode().splitlines():
    src = np.array([tokenizer.encode(sentence).ids])
    keys, values, _ = encoder.run(None, {"src": src})
    fed = {"src": src, "source_keys": keys, "source_values": values}
    fed |= {"past_keys": keys[..., :0, :], "past_values": values[..., :0, :]}
    ids = [BOS]
    while len(ids) <= MOST_TOKENS:  # greedy search: the most probable token, again and again
        log_probs, fed["past_keys"], fed["past_values"], *_ = step.run(
            None, {"token": np.array([ids[-1:]]), **fed}
        )
        ids.append(int(log_probs[0, -1].argmax()))
        if ids[-1] == EOS:
            break
    print(tokenizer.decode([i for i in ids if i > 3]))  # 0 to 3 are marks
