"""One merge of byte-pair encoding: what is asked, and what goes wrong."""

from itertools import pairwise

from transformer_book.exercises.exercise import Case, Exercise, Mistake
from transformer_book.exercises.solutions import subwords as solutions

Pair = tuple[str, str]


def no_letter_is_lost(case: Case) -> str | None:
    """The pieces still spell the word."""
    before, after = "".join(case.inputs["pieces"]), "".join(case.answer)
    return None if before == after else f"{before} has become {after}: no letter may get lost."


def the_pair_is_gone(case: Case) -> str | None:
    """No two pieces that stood side by side are the pair."""
    pieces, pair = list(case.answer), tuple(case.inputs["pair"])
    for i, two in enumerate(pairwise(pieces)):
        if two == pair:
            return f"{pair[0]} and {pair[1]} still stand side by side, at {i}: {pieces}."
    return None


def only_the_first(pieces: list[str], pair: Pair) -> list[str]:
    for i in range(len(pieces) - 1):
        if (pieces[i], pieces[i + 1]) == pair:
            return [*pieces[:i], "".join(pair), *pieces[i + 2 :]]
    return list(pieces)


def the_second_piece_again(pieces: list[str], pair: Pair) -> list[str]:
    merged = []
    for i, piece in enumerate(pieces):
        joined = i + 1 < len(pieces) and (piece, pieces[i + 1]) == pair
        merged.append("".join(pair) if joined else piece)
    return merged


def in_either_order(pieces: list[str], pair: Pair) -> list[str]:
    merged: list[str] = []
    for piece in pieces:
        if merged and {merged[-1], piece} == set(pair):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def from_right_to_left(pieces: list[str], pair: Pair) -> list[str]:
    backwards = solutions.merge_pair(pieces[::-1], pair[::-1])
    return ["".join(pair) if piece == "".join(pair[::-1]) else piece for piece in backwards[::-1]]


def the_last_piece_lost(pieces: list[str], pair: Pair) -> list[str]:
    merged, i = [], 0
    while i < len(pieces) - 1:
        joined = (pieces[i], pieces[i + 1]) == pair
        merged.append("".join(pair) if joined else pieces[i])
        i += 2 if joined else 1
    return merged


def what_was_merged_again(pieces: list[str], pair: Pair) -> list[str]:
    merged: list[str] = []
    for piece in pieces:
        if merged and merged[-1].endswith(pair[0]) and piece == pair[1]:
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


MERGE = Exercise(
    solution=solutions.merge_pair,
    chapter="translation/subwords",
    title="Join a pair wherever it occurs",
    difficulty=2,
    minutes=15,
    hints=(
        "Walk through the pieces with an index: where a pair begins it moves by 2, else by 1.",
        "`pieces[i : i + 2]` is shorter than 2 at the end, and then no pair: no special case "
        "needed.",
    ),
    properties=(no_letter_is_lost, the_pair_is_gone),
    values={
        "pieces": lambda draw: list(("abab", "aaaba", "banana")[draw.level]) + ["b"] * draw.seed,
        "pair": lambda draw: (("a", "b"), ("a", "a"), ("a", "n"))[draw.level],
    },
    edges=(
        lambda draw: {"pieces": []},
        lambda draw: {"pieces": ["b"], "pair": ("a", "b")},
        lambda draw: {"pieces": ["b", "a", "a"], "pair": ("a", "b")},
        lambda draw: {"pieces": list("aaaaa"), "pair": ("a", "a")},
        lambda draw: {"pieces": ["un", "do", "n", "do", "un", "do"], "pair": ("un", "do")},
        lambda draw: {"pieces": ["ab", "a", "b", "ba", "b"], "pair": ("a", "b")},
    ),
    differentiable=False,
    mistakes=(
        Mistake(only_the_first, "Only the first occurrence is joined; all should be."),
        Mistake(
            the_second_piece_again,
            "The second piece of a pair is used again: after a merge go two pieces further.",
        ),
        Mistake(
            in_either_order,
            "The pair is joined in either order; (a, b) says nothing of b before a.",
        ),
        Mistake(
            from_right_to_left,
            "The pairs are joined from the right: of three equal pieces the first two go together.",
        ),
        Mistake(
            the_last_piece_lost,
            "The last piece gets lost where it is in no pair: the walk ends one too early.",
        ),
        Mistake(
            what_was_merged_again,
            "A piece that merely ends like the first one of the pair is joined too: whole pieces "
            "are to be compared.",
        ),
    ),
)
