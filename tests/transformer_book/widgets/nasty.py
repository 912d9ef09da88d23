"""What readers and their keyboards leave in a field for a sentence."""

import random

ODD = ["👩‍👩‍👧‍👦", "שלום עולם", "مرحبا", "\u202eabc", "<b>x</b>", "</script><script>", "&amp;"]
ODD += [
    "ﬀ",
    "e\u0301",
    "\u0000",
    "\x07",
    "▁",
    "<s> </s>",
    "<0xE2>",
    "\ufeffHund",
    "日本語",
    "½ ² ™",
]


def nasty() -> list[str]:
    """200 texts."""
    rng = random.Random(0)
    texts = [*ODD, "a" * 5000, "Hund " * 1000, "", " \u3000", "."]
    while len(texts) < 200:
        texts.append("".join(rng.choice([*ODD, " Hund", " "]) for _ in range(3)))
    return texts
