"""Text of strangers, as it may be shown: no character of it steers a terminal."""

import re

# The two sets of control characters (a terminal takes a title, a colour, the clearing of the screen
# from either), other ends of lines, what turns the direction of writing around or
# marks it unseen, and the halves of characters that a file's name may hold. The tab stays.
STEERING = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text on one line; what could steer a terminal is written out, as in ascii(text)."""
    return STEERING.sub(lambda match: ascii(match[0])[1:-1], text)


def printable_lines(text: str) -> str:
    """The same for text of several lines, which it keeps."""
    return "\n".join(map(printable, text.split("\n")))
