"""Takes out of parallel text what teaches a model nothing, and says what and why."""

from collections import Counter

from transformer.data.parallel import ParallelText


def clean(
    text: ParallelText, *, max_words: int = 250, max_ratio: float = 4.0, slack: int = 5
) -> tuple[ParallelText, dict[str, int]]:
    """Drop pairs that are empty, too long, or too unequal to be translations of each other.

    Args:
        text: the pairs; words are what spaces separate.
        max_words: the most words of a sentence.
        max_ratio: how many times as many words the longer side may have.
        slack: so many words of difference are allowed at any ratio ("Ja ." may be a sentence).

    Returns:
        The pairs that stay, in their order, and how many were dropped for which reason.

    Raises:
        ValueError: a limit leaves nothing.
    """
    if max_words < 1 or max_ratio < 1 or slack < 0:
        raise ValueError(
            f"max_words ({max_words}) and max_ratio ({max_ratio}) must be at least 1, "
            f"slack ({slack}) at least 0"
        )
    dropped: Counter[str] = Counter()
    kept: list[tuple[str, str]] = []
    for pair in zip(text.source, text.target, strict=True):
        shorter, longer = sorted(len(side.split()) for side in pair)
        if not shorter:
            dropped["a side is empty"] += 1
        elif longer > max_words:
            dropped[f"more than {max_words} words"] += 1
        elif longer > max_ratio * shorter and longer - shorter > slack:
            dropped[f"one side more than {max_ratio:g} times as long"] += 1
        else:
            kept.append(pair)
    sources, targets = ([pair[side] for pair in kept] for side in (0, 1))
    return ParallelText(sources, targets), dict(dropped)
