"""How a model is trained: the settings of section 5."""

import math
from dataclasses import dataclass
from typing import Literal

MOST_SEEDS = 2**63  # torch's generators take 64 bits, and each process and restart adds to the seed
# They decide what a run says and keeps, and how a step is computed: the weights of a step stay what
# they are, but for a rounding where a compiler computes them.
MAY_CHANGE = (
    *("log_every", "evaluate_every", "checkpoint_every", "checkpoint_minutes", "keep", "patience"),
    "compile",
)


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained; the defaults are the paper's where the paper gives them.

    Args:
        steps: updates of the weights.
        max_tokens: the budget of a batch, source and target each (section 5.1: 25,000); several
            processes share it.
        accumulate: batches whose gradients make one step.
        warmup: steps in which the rate climbs (section 5.3).
        factor: of the learning rate (section 5.3; the paper's is 1).
        cooldown: the last share of the steps, in which the rate falls to 0 (the paper: none).
        betas: Adam's beta_1 and beta_2 (section 5.3).
        eps: Adam's epsilon (section 5.3).
        label_smoothing: epsilon_ls, the share spread over all tokens (section 5.4).
        clip: the largest norm of the gradient; None leaves it as it is, as the paper does.
        precision: "bf16" computes in bfloat16 by autocast, weights stay float32; "float16" also
            scales the loss; "auto" takes on a GPU what it is fast in.
        compile: let torch.compile fuse the model's forward and backward pass; by default in long
            runs on a CUDA GPU.
        seed: of the data's order, of dropout, and of a task's first weights.
        log_every: steps between two lines of the metrics; 0 means only at the end.
        evaluate_every: steps between two evaluations; 0 means only at the end.
        checkpoint_every: steps between two checkpoints; 0 means only at the end.
        checkpoint_minutes: minutes between two checkpoints, in place of steps (section 6.1: 10);
            looked at when the run reports; 0 means by steps.
        keep: of so many of the last checkpoints the weights stay, to be averaged (section 6.1).
        patience: stop after so many evaluations without a better one; 0 means never.
        stop_on: what "better" means: "bleu" (of equals chrF decides, and then the loss; chrF at
            once where BLEU counts characters), or the "loss" on the sentences evaluated.
    """

    steps: int
    max_tokens: int = 25_000
    accumulate: int = 1
    warmup: int = 4000
    factor: float = 1.0
    cooldown: float = 0.0
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-9
    label_smoothing: float = 0.1
    clip: float | None = None
    precision: Literal["auto", "float32", "bf16", "float16"] = "auto"
    compile: bool | None = None
    seed: int = 0
    log_every: int = 50
    evaluate_every: int = 0
    checkpoint_every: int = 500
    checkpoint_minutes: float = 0.0
    keep: int = 0
    patience: int = 0
    stop_on: Literal["bleu", "loss"] = "bleu"

    def __post_init__(self) -> None:
        for name in ("steps", "max_tokens", "accumulate", "warmup"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 1")
        for name in ("keep", "patience"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} ({getattr(self, name)}) must be 0 or more")
        for name in ("factor", "eps", "clip"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} ({value}) must be a finite number above 0")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas ({self.betas}) must be at least 0 and below 1")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(
                f"label_smoothing ({self.label_smoothing}) must be at least 0 and below 1"
            )
        if not 0 <= self.cooldown <= 1:
            raise ValueError(f"cooldown ({self.cooldown}) is a share of the steps, 0 to 1")
        if not 0 <= self.seed < MOST_SEEDS:
            raise ValueError(f"seed ({self.seed}) must be at least 0 and below 2^63")
        if self.patience and not self.evaluate_every:
            raise ValueError(
                f"patience ({self.patience}) counts evaluations, and there are none before the "
                "end; set evaluate_every too"
            )
        if self.stop_on not in ("bleu", "loss"):
            raise ValueError(f"stop_on ({self.stop_on!r}) must be bleu or loss")
        if not 0 <= self.checkpoint_minutes < math.inf:
            raise ValueError(
                f"checkpoint_minutes ({self.checkpoint_minutes}) must be a finite number from 0 up"
            )
        if self.checkpoint_minutes and not self.log_every:
            raise ValueError(
                f"checkpoint_minutes ({self.checkpoint_minutes}) are looked at when the run "
                "reports, and it does so only at the end; set log_every too"
            )
        if self.precision not in ("auto", "float32", "bf16", "float16"):
            raise ValueError(
                f"precision ({self.precision!r}) must be auto, float32, bf16 or float16"
            )
