"""The functions of which a Transformer is put together: the reader's, and ours for the others."""

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

from transformer.exercises.catalogue import EXERCISES
from transformer.exercises.checking import check, find
from transformer.exercises.result import Result

Function = Callable[..., Any]

# What each exercise's function does in the model, its training and its search. The exercises that
# are not here belong to no Transformer of 2017.
STANDS: dict[str, str] = {
    "softmax": "makes the probabilities at the top of Figure 1, which the beam search reads",
    "scaled_dot_product_attention": "is what your multi_head_attention calls by this name",
    "split_heads": "cuts out the heads wherever their weights are looked at",
    "join_heads": "joins the heads wherever their weights are looked at",
    "multi_head_attention": "is the encoder's and the decoder's attention",
    "token_embedding": "embeds source and target",
    "sinusoidal_positions": "makes the table of positions",
    "layer_norm": "norms after every sub-layer",
    "feed_forward": "is the second sub-layer of every layer",
    "residual": "goes around every sub-layer",
    "encoder_layer": "is the left half of Figure 1",
    "decoder_layer": "is the right half of Figure 1",
    "causal_mask": "hides the future from the decoder",
    "padding_mask": "hides the padding",
    "label_smoothing_loss": "is the loss",
    "noam_rate": "sets the learning rate",
    "merge_pair": "cuts the words of toy German into subwords",
    "greedy_search": "writes sequences, one at a time",
    "beam_step": "makes the steps of a beam search",
}
# What a function's file is given of ours, under the name of another exercise.
GIVEN = ("scaled_dot_product_attention",)


class Parts(Mapping[str, Function]):
    """The functions by the names of their exercises: the reader's where they pass, else ours.

    In a notebook: `mine = Parts()`, and `mine.check(softmax)` below each function.

    Args:
        yours: functions of the reader's, which are taken as they are.
    """

    def __init__(self, yours: Mapping[str, Function] | None = None) -> None:
        self.yours: dict[str, Function] = {}
        for name, function in (yours or {}).items():
            self.yours[find(name).name] = function

    def check(self, function: Any, name: str | None = None) -> Result:
        """What `check` says; a function that passes is kept, in the place of ours."""
        result = check(function, name)
        if result.passed:
            self.yours[result.exercise] = function
        else:
            self.yours.pop(result.exercise, None)
        return result

    def __getitem__(self, name: str) -> Function:
        """The reader's function, or our solution.

        Raises:
            KeyError: there is no such exercise.
        """
        if name not in self.yours:
            return EXERCISES[name].solution
        return _knowing(self.yours[name], {each: self[each] for each in GIVEN if each != name})

    def __iter__(self) -> Iterator[str]:
        """The names, in the book's order."""
        return iter(EXERCISES)

    def __len__(self) -> int:
        """How many exercises there are."""
        return len(EXERCISES)

    def about(self) -> list[str]:
        """Whose functions the model consists of, a line each."""
        yours = [name for name in STANDS if name in self.yours]
        ours = [name for name in STANDS if name not in self.yours]
        lines = [f"{len(yours)} of {len(STANDS)} parts are yours."]
        if ours and yours:
            lines.append(f"Ours stand in for {', '.join(ours)}.")
        elif ours:
            lines.append("Ours stand in for all of them.")
        return lines


def _knowing(function: Function, others: Mapping[str, Function]) -> Function:
    """The same function, for which a name that it was given of ours means the reader's function."""
    if not isinstance(function, FunctionType):
        return function
    known = {name: other for name, other in others.items() if name in function.__globals__}
    if not known:
        return function
    names = {**function.__globals__, **known}
    made = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
