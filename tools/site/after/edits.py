"""Changes to what the theme and the extensions have written, none of which may miss its target."""

import re
from collections.abc import Callable

from sphinx.errors import ExtensionError


def edited(
    name: str,
    pattern: re.Pattern[str],
    change: str | Callable[[re.Match[str]], str],
    text: str,
    where: str,
) -> str:
    """The text with every match of a pattern changed.

    Raises ExtensionError where nothing matches: whoever writes this text writes something else now,
    and the edit would stop without a word.
    """
    changed, matches = pattern.subn(change, text)
    if not matches:
        raise ExtensionError(
            f"{where}: nothing matches {name}, the pattern {pattern.pattern!r}. The theme or an "
            "extension writes this part differently now: adapt the pattern in tools/site."
        )
    return changed
