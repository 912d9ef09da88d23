"""What a dataclass of settings says about its fields: written once, in its docstring."""

import inspect
import re


def help_of(settings: type) -> dict[str, str]:
    """The text about each field, by name, from the `Args:` of a dataclass's docstring.

    A text that runs over several lines comes on one.
    """
    _, _, section = (inspect.getdoc(settings) or "").partition("\nArgs:\n")
    args, _, _ = section.partition("\n\n")
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", args, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}
