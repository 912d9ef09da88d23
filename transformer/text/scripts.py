"""Which scripts set no spaces between words, and whether a text is written in one."""

import math
import re
from collections.abc import Iterable

# Han, kana and bopomofo: a Chinese or Japanese character is about a word; of Thai, Lao, Tibetan,
# Burmese and Khmer letters it takes about four.
KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
CHARACTER = re.compile(
    "[\u3005\u3007\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
LETTER = re.compile("[\u0e00-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f]")
LETTERS_A_WORD = 4
WORD = re.compile(r"[^\W\d_]+")
LEAST_KANA = 0.1  # a headline has few of them, Chinese text next to none


def without_spaces(texts: Iterable[str]) -> str:
    """The script of texts whose words are not cut by spaces: most of their words are of that kind.

    Words are counted, not letters: a few long names in Latin letters, or numbers, leave a Chinese
    text Chinese.

    Returns:
        "Chinese", "Japanese" or "other" (Thai, Lao, Tibetan, Burmese, Khmer); "" where spaces cut
        most words, or where there are none.
    """
    kana = characters = letters = spaced = 0
    for text in texts:
        if text.isascii():
            spaced += len(WORD.findall(text))
            continue
        kana += len(KANA.findall(text))
        characters += len(CHARACTER.findall(text))
        letters += len(LETTER.findall(text))
        spaced += len(WORD.findall(LETTER.sub(" ", CHARACTER.sub(" ", text))))
    others = math.ceil(letters / LETTERS_A_WORD)
    if characters + others <= spaced:
        return ""
    if others > characters:
        return "other"
    return "Japanese" if kana >= LEAST_KANA * characters else "Chinese"
