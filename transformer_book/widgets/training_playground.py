"""A Transformer that learns in the page, while the reader watches, with parts to take out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from transformer_book.widgets.base import Foretold, Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TASKS = {
    "copy": "copy eight digits",
    "reverse": "write eight digits backwards",
    "sort": "put eight letters in order",
    "longer": "copy three to eight digits, tested on nine too",
    "verb": "another language, its verb at the end",
    "clauses": "English clauses into German",
    "own": "a task of your own",
}
# What differs from the module's "tiny" model is what makes it learn within seconds.
RECIPE = {"batch": 8, "smoothing": 0.1, "warmup": 50, "factor": 0.2}
WIDTHS = {"d_model": 32, "d_ff": 64}
WIDE_KEYS = 128
N_TESTS = 200  # unseen sequences
ENOUGH = 199  # of them right: it has learned
JUDGED_EVERY = 20  # steps
SWITCHES = (
    *("positions", "causal", "cross", "scaled", "wide_keys", "shortcuts", "norm"),
    *("feed_forward", "warm_up", "n_heads", "n_layers"),
)
SIZE = ("wide_keys", "n_layers")
Runs = Sequence[Mapping[str, Any]]


def _named(*settings: Any) -> str:
    """As the front end writes settings."""
    return json.dumps(settings, separators=(",", ":"))


class TrainingPlayground(Widget, Foretold):
    """An encoder-decoder of 21,568 weights that learns a task in front of the reader.

    The page trains it, without a kernel in Jupyter too: forward, backward and Adam are the front
    end's, and equal to the module's. The same seed and settings give the same run.

    Args:
        task: "copy", "reverse", "sort", "longer", "verb", "clauses" or "own".
        tasks: which of them the reader may choose; with one there is no choice.
        switches: the settings that the reader may change, of those below.
        positions: "sinusoidal", "learned" or "none".
        causal: whether the decoder's self-attention is masked.
        cross: whether there is a cross-attention.
        scaled: whether scores are divided by the root of d_k.
        wide_keys: whether a head's queries, keys and values have 128 numbers.
        shortcuts: whether there are shortcuts around the sub-layers.
        norm: "pre", "post" or "none".
        feed_forward: whether there are feed-forward networks.
        warm_up: whether the learning rate rises for 50 steps.
        n_heads, n_layers: 1, 2 or 4 heads; 1 or 3 layers on each side.
        order, becomes: of a task of the reader's own. Which place of the source, from 1 to 8, each
            place of the target gives back, and what becomes of each digit.
        seed: of the weights and of the sequences.
        steps: after so many a run that has not learned stops, and goes on if the reader wants.
        trained: how many steps it has trained; if set, it trains up to there.
        training: whether it trains now, until it has learned.
        question: to be answered before the model trains; with its answers, of which `right` is
            the one that training gives, and the sentence `why` that is shown then.
        marks: the numbers that the answer turns on, drawn into the curve once a guess is judged:
            "loss" or "steps", the number, and its name.
        whole: what the whole model has and this one lacks, such as "with shortcuts".
        outcome: what is said at the end, with {steps}, {right} and {loss} filled in.
        recorded: runs with these settings and others, for paper and for the count of those that
            have learned (`python -m measurements training_playground`).

    Raises:
        traitlets.TraitError: a setting is none that is offered.
        ValueError: a question has fewer than two answers, or no right one.
    """

    description = traitlets.Unicode(
        "A small Transformer that learns in this page: its loss, what it writes, and where its "
        "heads look, while it trains."
    ).tag(sync=True)
    constants = handed_over(
        tasks=TASKS, recipe=RECIPE, widths=WIDTHS, wide_keys=WIDE_KEYS, n_tests=N_TESTS,
        enough=ENOUGH, judged_every=JUDGED_EVERY,
    )  # fmt: skip
    task = traitlets.Enum(list(TASKS), default_value="copy").tag(sync=True)
    tasks = traitlets.List(traitlets.Enum(list(TASKS))).tag(sync=True)
    switches = traitlets.List(traitlets.Enum(SWITCHES)).tag(sync=True)
    positions = traitlets.Enum(["sinusoidal", "learned", "none"], "sinusoidal").tag(sync=True)
    causal = traitlets.Bool(True).tag(sync=True)
    cross = traitlets.Bool(True).tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)
    wide_keys = traitlets.Bool(False).tag(sync=True)
    shortcuts = traitlets.Bool(True).tag(sync=True)
    norm = traitlets.Enum(["pre", "post", "none"], "pre").tag(sync=True)
    feed_forward = traitlets.Bool(True).tag(sync=True)
    warm_up = traitlets.Bool(True).tag(sync=True)
    n_heads = traitlets.Enum([1, 2, 4], 2).tag(sync=True)
    n_layers = traitlets.Enum([1, 3], 1).tag(sync=True)
    order = traitlets.List(traitlets.Int()).tag(sync=True)
    becomes = traitlets.List(traitlets.Int()).tag(sync=True)
    seed = traitlets.Int(1, min=1, max=10).tag(sync=True)
    steps = traitlets.Int(600, min=JUDGED_EVERY, max=3000).tag(sync=True)
    trained = traitlets.Int(0, min=0).tag(sync=True)
    training = traitlets.Bool(False).tag(sync=True)
    fast = traitlets.Bool(False).tag(sync=True)
    attention = traitlets.Enum(["cross", "encoder", "decoder"], "cross").tag(sync=True)
    question = traitlets.Unicode().tag(sync=True)
    marks = traitlets.List(
        traitlets.Tuple(traitlets.Enum(["loss", "steps"]), traitlets.Float(), traitlets.Unicode())
    ).tag(sync=True)
    whole = traitlets.Unicode("with the whole model").tag(sync=True)
    outcome = traitlets.Unicode(
        f"After {{steps}} steps {{right}} of {N_TESTS} unseen sequences come out right."
    ).tag(sync=True)
    known = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        task: str = "copy",
        *,
        question: str = "",
        answers: Sequence[str] = (),
        right: str = "",
        recorded: Runs = (),
        **settings: Any,
    ) -> None:
        self.recorded = recorded
        super().__init__(
            task=task, question=question, **self.judged(question, answers, right), **settings,
        )  # fmt: skip
        self.known = dict(self._counts())

    def _counts(self) -> Iterator[tuple[str, list[int]]]:
        """Of recorded runs that a reader may repeat here: their settings, and how many learned.

        The settings are written as the front end writes them; the numbers are those that have
        learned, all, the steps that they had, and the median of those after which they had learned.
        Runs with all parts also stand under their size, to be compared with. A reader's own task
        is theirs: there is none.
        """
        whole = {name: self.class_traits()[name].default_value for name in SWITCHES}
        fixed = [name for name in SWITCHES if name not in self.switches]
        for run in self.recorded:
            values = whole | run["changes"]
            same = all(values[name] == getattr(self, name) for name in fixed)
            if run["task"] not in self.tasks or run["task"] == "own" or not same:
                continue
            median = round(run["after"]["median"]) if run["learned"] else 0
            counts = [run["learned"], run["runs"], run["steps"], median]
            yield _named(run["task"], *values.values()), counts
            if not (run["changes"].keys() & set(self.switches)) - set(SIZE):
                yield _named(run["task"], *(values[name] for name in SIZE)), counts

    @traitlets.default("tasks")
    def _the_one_task(self) -> list[str]:
        return [self.task]

    @traitlets.default("order")
    def _neighbours_exchanged(self) -> list[int]:
        return [2, 1, 4, 3, 6, 5, 8, 7]

    @traitlets.default("becomes")
    def _one_more(self) -> list[int]:
        return [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]

    @traitlets.validate("order")
    def _each_position_once(self, proposal: dict[str, Any]) -> list[int]:
        order = list(proposal["value"])
        if sorted(order) != list(range(1, 9)):
            raise traitlets.TraitError(f"order {order} must name each place from 1 to 8 once")
        return order

    @traitlets.validate("becomes")
    def _ten_digits(self, proposal: dict[str, Any]) -> list[int]:
        digits = list(proposal["value"])
        if len(digits) != 10 or not set(digits) <= set(range(10)):
            raise traitlets.TraitError(
                f"becomes {digits} must say for each of the ten digits which digit it becomes"
            )
        return digits

    @traitlets.validate("steps")
    def _judged_at_the_end(self, proposal: dict[str, Any]) -> int:
        if proposal["value"] % JUDGED_EVERY:
            raise traitlets.TraitError(
                f"steps ({proposal['value']}) must be a multiple of {JUDGED_EVERY}: a model is "
                "judged that often"
            )
        return int(proposal["value"])

    def changes(self) -> dict[str, Any]:
        """The switches that do not stand as in the whole model."""
        values = {name: getattr(self, name) for name in SWITCHES}
        return {k: v for k, v in values.items() if v != self.class_traits()[k].default_value}

    def recorded_run(self) -> Mapping[str, Any] | None:
        """The recorded run of this task with these settings, if there is one."""
        for run in self.recorded:
            if (run["task"], run["changes"], run["seed"]) == (self.task, self.changes(), self.seed):
                return run
        return None

    def twin(self) -> "Figure":
        """The recorded run on paper: loss, share of right sequences, and where a head looks."""
        from transformer_book.figures.playground import learning_run, nothing_recorded

        run = self.recorded_run()
        if run is None:
            return nothing_recorded(TASKS[self.task])
        return learning_run(
            run["losses"],
            run["right"],
            n_tests=N_TESTS,
            judged_every=JUDGED_EVERY,
            weights=run["weights"],
            source=run["source"],
            written=run["written"],
        )
