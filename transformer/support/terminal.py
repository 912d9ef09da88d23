"""Text of strangers, as it may be shown: no character of it steers a terminal."""

import re
import shlex
from pathlib import Path

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


def command_line(*words: str | Path) -> str:
    r"""The words as a command to be copied: a shell makes the same words of it.

    A path that begins with a dash gets a ./ before it, so that it is no option. What could steer a
    terminal is spelled in octets, as bash, zsh and POSIX's newest shells read them: $'a\x1bb'.
    """
    return " ".join(map(_quoted, words))


def _quoted(word: str | Path) -> str:
    text = f"./{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
    if not STEERING.search(text):
        return shlex.quote(text)
    text = text.replace("\\", r"\\").replace("'", r"\'")
    return f"$'{STEERING.sub(_octets, text)}'"


def _octets(match: re.Match[str]) -> str:
    return "".join(rf"\x{octet:02x}" for octet in match[0].encode(errors="surrogateescape"))
