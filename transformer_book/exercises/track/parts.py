"""The functions of which a Transformer is put together: the reader's, and ours for the others."""

from collections.abc import Iterator, Mapping
from typing import Any

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.checking import check, find
from transformer_book.exercises.guard import copied
from transformer_book.exercises.track.own import (
    GIVEN,
    Calls,
    FewLines,
    Function,
    calls,
    knowing,
    printing_to,
)
from transformer_book.exercises.verdict import Result

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

CALLER = "multi_head_attention"  # the one that is given something of ours
UNUSED = "That only runs where the weights are looked at."
IMPORT = "Import it by its name above the function, and yours is called in its place."


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
        self.begin()

    def begin(self) -> None:
        """Before something is done with the model: it is made of the functions as they are now."""
        # The function that is called, beside the one of which it was made.
        self._made: dict[str, tuple[Function, Function]] = {}
        self._few = FewLines()

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
        yours = self.yours[name]
        if name not in self._made or self._made[name][0] is not yours:
            self._made[name] = yours, printing_to(self._few, self._knowing(name))
        return self._made[name][1]

    def _knowing(self, name: str) -> Function:
        """A function of the reader's that calls the reader's others."""
        others = {each: self[each] for each in GIVEN if each != name}
        return knowing(self.yours[name], others)

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
        return [*lines, *self.borrowed()]

    def borrowed(self) -> list[str]:
        """Where a function of the reader's calls ours all the same, or not the reader's own."""
        lines = []
        for name in (each for each in STANDS if each in self.yours):
            called = self._calls(name)
            own = [each for each in GIVEN if each in self.yours and each != name]
            # Of what the reader has not written it is said already that ours stands in.
            ours = [
                each
                for each in sorted(called.ours)
                if _last(each) not in GIVEN or _last(each) in own
            ]
            if ours:
                way = f" {IMPORT}" if any(_last(each) in own for each in ours) else ""
                lines.append(f"Your {name} calls {', '.join(ours)}, which is ours.{way}")
            elif name == CALLER:
                codes = {each: getattr(self.yours[each], "__code__", None) for each in own}
                unused = [each for each, code in codes.items() if code and code not in called.codes]
                lines += [f"Your {name} does not call your {each}. {UNUSED}" for each in unused]
        return lines

    def _calls(self, name: str) -> Calls:
        """What runs in a call with the smallest inputs of the check."""
        inputs = EXERCISES[name].prepared[0].inputs
        with self._few.instead():
            return calls(self._knowing(name), [*map(copied, inputs.values())])


def _last(name: str) -> str:
    return name.rpartition(".")[2]
