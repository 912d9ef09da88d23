"""Lists of texts, as callers give them."""

from collections.abc import Iterable


def texts_of(texts: Iterable[str], name: str, each: str = "sentence") -> list[str]:
    """The texts as a list, also those of a generator, which can be gone through only once.

    Args:
        texts: any iterable of strings but a string, whose letters nobody means.
        name: what the message calls them.
        each: what it calls one of them.

    Raises:
        ValueError: they are one string, or one of them is none.
    """
    if isinstance(texts, str | bytes):
        raise ValueError(f"{name}: this is one string; give a list of {each}s: [{texts[:40]!r}]")
    try:
        listed = texts if isinstance(texts, list) else list(texts)
    except TypeError:
        kind = type(texts).__name__
        raise ValueError(f"{name}: {kind} is no list; give a list of {each}s") from None
    for number, text in enumerate(listed, 1):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise ValueError(f"{name}: {each} {number} is no string but {kind}; give strings only")
    return listed
