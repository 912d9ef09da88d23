"""The loss and the learning rate: what is asked, and what goes wrong."""

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Inputs, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import training as solutions


def padding_costs_nothing(case: Case) -> str | None:
    """Logits at padding change nothing."""
    padding = (case.inputs["target"] == case.inputs["pad_id"])[..., None]
    logits = case.inputs["logits"]
    moved = case.call(logits=torch.where(padding, logits.flip(-1) * 2, logits)) - case.answer
    if moved.abs() < 1e-3:
        return None
    return (
        f"Other logits at padded positions change the loss by {number(moved.item())}: padding "
        "must not be counted."
    )


def without_smoothing_plain(case: Case) -> str | None:
    """With smoothing 0 it is plain cross-entropy."""
    i = case.inputs
    plain = F.cross_entropy(
        i["logits"].flatten(0, 1), i["target"].flatten(), ignore_index=i["pad_id"], reduction="sum"
    )
    answer = case.call(smoothing=0.0)
    if torch.allclose(answer, plain, rtol=1e-3, atol=1e-3):
        return None
    return (
        f"With smoothing 0 the loss is {number(answer.item())}, and the sum of -log p of the true "
        f"tokens is {number(plain.item())}."
    )


def _weighed(
    logits: Tensor, target: Tensor, true: float, others: float, pad_id: int | None
) -> Tensor:
    """The loss against so much for the true token, and so much for each of all others."""
    log_probs = logits.log_softmax(-1)
    weights = torch.full_like(log_probs, others).scatter(-1, target[..., None], true)
    loss = -(weights * log_probs).sum(-1)
    return loss.sum() if pad_id is None else loss[target != pad_id].sum()


def no_smoothing(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return solutions.label_smoothing_loss(logits, target, 0.0, pad_id)


def padding_counted(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return solutions.label_smoothing_loss(logits, target, smoothing, -1)


def spread_over_the_others(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    others = smoothing / (logits.size(-1) - 1)
    return _weighed(logits, target, 1 - smoothing, others, pad_id)


def spread_over_all_but_two(
    logits: Tensor, target: Tensor, smoothing: float, pad_id: int
) -> Tensor:
    log_probs = logits.log_softmax(-1)
    weights = torch.full_like(log_probs, smoothing / (logits.size(-1) - 2))
    weights = weights.scatter(-1, target[..., None], 1 - smoothing)
    weights[..., pad_id] = 0.0
    return -(weights * log_probs).sum(-1)[target != pad_id].sum()


def the_mean(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    loss = solutions.label_smoothing_loss(logits, target, smoothing, pad_id)
    return loss / (target != pad_id).sum()


def shares_exchanged(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return solutions.label_smoothing_loss(logits, target, 1 - smoothing, pad_id)


def the_sum_of_all(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return _weighed(logits, target, 1.0, smoothing, pad_id)


def probabilities_as_logits(
    logits: Tensor, target: Tensor, smoothing: float, pad_id: int
) -> Tensor:
    return solutions.label_smoothing_loss(logits.softmax(-1), target, smoothing, pad_id)


def the_sign_forgotten(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return -solutions.label_smoothing_loss(logits, target, smoothing, pad_id)


def shares_below_1(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    others = smoothing / logits.size(-1)
    return _weighed(logits, target, 1 - smoothing, others, pad_id)


def _target(draw: Draw) -> Tensor:
    target = draw.integers("batch len", 0, draw.size("vocab"))
    target[-1, -1] = _pad_id(draw)
    target[0, 0] = _pad_id(draw) + 1
    return target


def _pad_id(draw: Draw) -> int:
    return (0, 2, 1)[draw.level]


def _all_padding(draw: Draw) -> Inputs:
    return {"target": torch.zeros(draw.shape("batch len"), dtype=torch.long)}


LABEL_SMOOTHING = Exercise(
    solution=solutions.label_smoothing_loss,
    chapter="training/training",
    title="Cross-entropy against smoothed targets",
    difficulty=2,
    minutes=20,
    hints=(
        "The target is a mixture, and cross-entropy is linear in it: so is the loss, "
        "(1 - smoothing) times that of the true token and smoothing times that of the uniform one.",
        "Against the uniform distribution the loss is minus the mean of all log-probabilities.",
        "`log_probs.gather(-1, target[..., None])` takes the true token's; "
        "`loss[target != pad_id].sum()` leaves padding out.",
    ),
    properties=(padding_costs_nothing, without_smoothing_plain),
    sizes={"batch": (1, 2, 3), "len": (2, 4, 5), "vocab": (3, 5, 7)},
    values={
        "logits": lambda draw: draw.normal("batch len vocab", 2.0),
        "target": _target,
        "smoothing": lambda draw: (0.1, 0.3, 0.2)[draw.level],
        "pad_id": _pad_id,
    },
    edges=(_all_padding, lambda draw: {"logits": 200 * draw.normal("batch len vocab")}),
    mistakes=(
        Mistake(no_smoothing, "smoothing changes nothing: this is plain cross-entropy."),
        Mistake(padding_counted, "Padding is counted: leave out where target is pad_id."),
        Mistake(
            spread_over_the_others,
            "The smoothing is spread over the other tokens only (vocab - 1); the uniform "
            "distribution covers the true token too.",
        ),
        Mistake(
            spread_over_all_but_two,
            "The smoothing is spread over vocab - 2 tokens, all but the true one and padding; the "
            "uniform distribution covers the whole vocabulary.",
            erratum=15,
        ),
        Mistake(
            shares_below_1,
            "The shares do not sum to 1: with smoothing / vocab for every token the true one has "
            "1 - smoothing + smoothing / vocab.",
        ),
        Mistake(
            the_mean,
            "This is the mean over the tokens, and the sum is wanted: batches have different "
            "numbers of tokens, and means of means count short ones more.",
            erratum=16,
        ),
        Mistake(
            shares_exchanged,
            "The shares are swapped: the true token gets smoothing, the uniform distribution "
            "1 - smoothing.",
        ),
        Mistake(
            the_sum_of_all,
            "Each token of the vocabulary gets the whole of smoothing, so that the targets sum to "
            "more than 1: the uniform distribution gives each smoothing / vocab.",
        ),
        Mistake(
            probabilities_as_logits,
            "There are two softmaxes: log_softmax takes the logits, not their softmax.",
        ),
        Mistake(the_sign_forgotten, "The sign is wrong: the loss is minus the log-probability."),
    ),
)


# The rate ------------------------------------------------------------------------------------


def climbs_and_falls(case: Case) -> str | None:
    """The rate climbs until warmup and falls after it."""
    width, warmup = case.inputs["d_model"], case.inputs["warmup"]
    rates = [case.call(step=step) for step in (max(1, warmup // 2), warmup, 2 * warmup)]
    if warmup < 2 or rates[0] < rates[1] > rates[2]:
        return None
    numbers = ", ".join(number(rate) for rate in rates)
    return (
        f"For d_model {width} and warmup {warmup} the rates at half of warmup, at warmup and at "
        f"twice warmup are {numbers}: the second one should be the highest."
    )


def the_larger_of_the_two(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


def counted_from_0(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)


def one_step_late(step: int, d_model: int, warmup: int) -> float:
    before = max(step - 1, 1e-9)
    return d_model**-0.5 * min(before**-0.5, (step - 1) * warmup**-1.5)


def without_the_width(step: int, d_model: int, warmup: int) -> float:
    return min(step**-0.5, step * warmup**-1.5)


def times_the_root_of_the_width(step: int, d_model: int, warmup: int) -> float:
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


def no_warm_up(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * step**-0.5


def warm_up_alone(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * step * warmup**-1.5


def a_wrong_power(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


NOAM = Exercise(
    solution=solutions.noam_rate,
    chapter="training/training",
    title="Equation 3",
    difficulty=1,
    minutes=5,
    hints=(
        "`x**-0.5` is one over the root of x. The formula has two such powers, and one of -1.5.",
        "Where do the two arguments of min cross? At step = warmup both are warmup^-0.5.",
    ),
    properties=(climbs_and_falls,),
    values={
        "step": lambda draw: ((1, 3), (10, 400), (4000, 100_000))[draw.level][draw.seed % 2],
        "d_model": lambda draw: (4, 64, 512)[draw.level],
        "warmup": lambda draw: (2, 40, 4000)[draw.level],
    },
    edges=(lambda draw: {"warmup": 1, "step": 1}, lambda draw: {"warmup": 10, "step": 9}),
    differentiable=False,
    mistakes=(
        Mistake(
            the_larger_of_the_two,
            "The larger of the two is taken: the first steps would be enormous. It is min.",
        ),
        Mistake(
            counted_from_0,
            "Steps are counted from 0 here, one too many is added: the first update is step 1.",
            erratum=17,
        ),
        Mistake(
            one_step_late,
            "The rate is that of the step before: the first update would have rate 0, and be lost.",
        ),
        Mistake(without_the_width, "The factor d_model^-0.5 is missing."),
        Mistake(
            times_the_root_of_the_width,
            "The rate is multiplied by the root of d_model, and should be divided by it.",
        ),
        Mistake(no_warm_up, "There is no warm-up: the second argument of min is missing."),
        Mistake(warm_up_alone, "The rate climbs for ever: the first argument of min is missing."),
        Mistake(
            a_wrong_power,
            "warmup has the power -0.5, and should have -1.5: the two lines should cross at "
            "warmup.",
        ),
    ),
)
