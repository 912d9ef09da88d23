"""What text becomes before it is encoded or scored: the same letters for all that looks the same.

Files hold characters that nobody sees and other ways to write the same letter. A model that has
not been trained on them reads nonsense there. So all text goes through `normalize`: in training,
in translation, in scoring, and in the page, whose `normalization.js` says the same in JavaScript.
"""

import re
import unicodedata

# Unicode's white space, ends of lines included, and three letters that are drawn as nothing.
BLANKS = re.compile(
    "[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u2800\u3164\uffa0]+"
)
HYPHENS = re.compile("[\u2010\u2011]")  # the second is one at which no line breaks
# Never seen: control characters, the soft hyphen, U+115F and 1160, U+17B4 and 17B5, U+200B (a space
# of no width), U+2060 to 2065 and 206A to 206F, U+FEFF (the byte order mark), U+FFF0 to FFFB, the
# controls of shorthand and of music, and what the last plane keeps free beside `TAGS`.
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u115f\u1160\u17b4\u17b5"
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
# Of Latin letters and signs those that are all seen; the one blank among them is the space.
LATIN = re.compile("[ -~\xa1-\xac\xae-\u02ff]*")
# Seen by what they do to certain characters, and left out beside others. Marks of direction put
# in order what is written from right to left. Tags make a black flag that of a country. Variation
# selectors change the character before them, but no letter of Europe. Joiners shape the letters of
# Arabic, of Mongolian and of the scripts of India, keep the points of Hebrew apart, and put emoji
# together.
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FROM_THE_RIGHT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
TAGS = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]+")
SELECTORS = re.compile(
    "(?<![^ A-Za-z\u00c0-\u052f\u1e00-\u1fff])"
    "[\u034f\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)
JOINERS = re.compile(
    "(?<![\u0591-\u05c7\u0600-\u180a\u1810-\u1dff\u2190-\u2bff\ua800-\uabff\ufe0f"
    "\U00010a00-\U00011fff\U0001f000-\U0001faff])[\u034f\u180b-\u180f\u200c\u200d]"
)


def normalize(text: str) -> str:
    r"""The text in one form, on one line.

    1. Characters that nobody sees are left out: `INVISIBLE`; and `DIRECTIONS`, `TAGS`, `SELECTORS`
       and `JOINERS` where nothing stands beside them that they are made for.
    2. A letter and its marks get Unicode's form NFC: mostly one character for them all.
    3. Blanks (`BLANKS`: no-break and narrow spaces, tabs, ends of lines LF, CR and CRLF among them)
       become one space, and none at either end. U+2010 and 2011, the hyphens, become -.

    Applied again, it changes nothing. Text that is in this form already, as almost all is, comes
    back as it was. What looks different stays different: quotation marks, dashes, ligatures.
    """
    if "  " not in text and LATIN.fullmatch(text):  # a short cut, for most text
        return text.strip(" ")
    while (once := _rewritten(text)) != text:  # what goes may have kept something from going
        text = once
    return text


def _rewritten(text: str) -> str:
    text = INVISIBLE.sub("", text)
    if not FROM_THE_RIGHT.search(text):
        text = DIRECTIONS.sub("", text)
    text = BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")
    for unseen in (TAGS, SELECTORS, JOINERS):
        text = unseen.sub("", text)
    return HYPHENS.sub("-", text)
