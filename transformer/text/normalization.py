"""What text becomes before it is encoded or scored: the same letters for all that looks the same.

Files hold characters that nobody sees and other ways to write the same letter. A model that has
not been trained on them reads nonsense there. So all text goes through `normalize`: in training,
in translation, in scoring, and in the page, whose `normalization.js` says the same in JavaScript.
"""

import re
import unicodedata

# Unicode's white space, ends of lines included, and four letters that are drawn as nothing.
BLANKS = re.compile(
    "[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    "\u2800\u3164\uffa0\u180e]+"
)
# Never seen: control characters, the soft hyphen, U+034F, U+115F and 1160, U+17B4 and 17B5,
# U+200B (a space of no width), U+2060 to 2064 and 206A to 206F, U+FEFF (the byte order mark),
# U+FFF9 to FFFB, and U+E0001.
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u115f\u1160\u17b4\u17b5"
    "\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0001]"
)
# Seen only beside certain characters. Marks of direction put what is written from right to left in
# order, and do nothing where there is none. Joiners shape the letters of Arabic and of the scripts
# of India, and put emoji together. Variation selectors change a character before them, and tags
# make a black flag that of a country.
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FROM_THE_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")
JOINERS = re.compile("(?<![\u0600-\u1dff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]")
SELECTORS = re.compile("(?<![^ ])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
TAGS = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]+")


def normalize(text: str) -> str:
    r"""The text in one form, on one line.

    1. Characters that nobody sees are left out: `INVISIBLE`; and `DIRECTIONS`, `JOINERS`,
       `SELECTORS` and `TAGS` where nothing stands beside them that they would change.
    2. A letter and its marks become one character where there is one (Unicode's form NFC).
    3. Blanks (`BLANKS`: no-break and narrow spaces, tabs, ends of lines LF, CR and CRLF among them)
       become one space, and none at either end. U+2011, the hyphen that does not break, becomes -.

    Applied again, it changes nothing. Text that is in this form already, as almost all is, comes
    back as it was. What looks different stays different: quotation marks, dashes, ligatures.
    """
    # A short cut for most text in Latin letters, below which nothing unseen is printable.
    if text.isprintable() and (text.isascii() or max(text) < "\u0300"):
        return BLANKS.sub(" ", text).strip(" ")
    text = INVISIBLE.sub("", text)
    if not FROM_THE_RIGHT.search(text):
        text = DIRECTIONS.sub("", text)
    text = BLANKS.sub(" ", unicodedata.normalize("NFC", text))
    for unseen in (TAGS, JOINERS, SELECTORS):
        text = unseen.sub("", text)
    # Again, since what was left out may have stood between a letter and its mark, or two spaces.
    text = BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")
    return text.replace("\u2011", "-")
