"""The training loop (section 5): batches, Adam, the paper's schedule, exact resuming."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.model import EncoderDecoder, Transformer
from transformer.support.devices import (
    enough_memory,
    memory_for_model,
    pick_device,
    rng_restored,
    use_device,
)
from transformer.text import BOS_ID, EOS_ID
from transformer.text.batching import Batch, TokenPair
from transformer.training import stopping
from transformer.training.distributed import Workers, own_device
from transformer.training.hardware import DTYPES, chosen_compile, chosen_precision, warning_of
from transformer.training.loader import BatchLoader
from transformer.training.loss import ModelWithLoss
from transformer.training.progress import progress
from transformer.training.recorder import Metrics, Recorder, require_finite
from transformer.training.schedule import linear_cooldown, noam_rate
from transformer.training.settings import MAY_CHANGE, TrainingConfig
from transformer.training.state import State, load_state, moments_of, require_same, save_state
from transformer.weights import (
    CheckpointError,
    keep_weights,
    load_model_tensors,
    model_tensors,
    save_model,
)

CHECKPOINT = "checkpoint.safetensors"


class Trainer:
    """Trains a model on pairs of token ids, alone or together with other processes.

    Args:
        model: trained in place, moved to `device`.
        pairs: (source, target) token ids without marks.
        config: how to train.
        device: the best one here if None; under torchrun each process has a GPU of its own.
        run_dir: folder for metrics, checkpoints and the final weights; None keeps all in memory.
        evaluate: called every `evaluate_every` steps with the model in evaluation mode; the
            numbers that it returns join the metrics.
        show_progress: draw a progress line.

    Attributes:
        precision: "float32", "bf16" or "float16": what the setting has become on the device.
        compiled: whether torch.compile is used, likewise.

    Raises:
        ValueError: a token id of the pairs is none of the model's, or a sentence is too long for
            the model or for a batch.
        NotEnoughMemoryError: the device's memory does not hold the model, or a batch.
        TrainingError: the loss is not finite any more.
        FileError: a checkpoint cannot be written.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        pairs: Sequence[TokenPair],
        config: TrainingConfig,
        *,
        bos_id: int = BOS_ID,
        eos_id: int = EOS_ID,
        device: torch.device | str | None = None,
        run_dir: Path | str | None = None,
        evaluate: Callable[[Any], Metrics] | None = None,
        show_progress: bool = True,
    ) -> None:
        if not pairs:
            raise ValueError("there is nothing to train on: the list of sentence pairs is empty")
        if config.patience and evaluate is None:
            raise ValueError(f"patience ({config.patience}) needs scores; give evaluate too")
        if run_dir is not None and not isinstance(model, Transformer):
            raise ValueError("a run folder is for a Transformer; train other models without one")
        self.config = config
        self.workers = Workers()
        chosen = device if isinstance(device, torch.device) else pick_device(device)
        self.device = own_device(chosen)
        use_device(self.device)
        self.precision = chosen_precision(config, self.device)
        self.compiled = chosen_compile(config, self.device)
        self.marks = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": model.config.pad_id}
        self.loader = BatchLoader(
            pairs, config, self.marks, self.workers, self.device, compiled=self.compiled
        )
        self.loader.require_vocabulary(model.config.src_vocab_size, model.config.tgt_vocab_size)
        self.loader.require_lengths(model.config.max_len)
        with memory_for_model(self.device):
            self.model = model.to(self.device)
        self.run_dir = Path(run_dir) if run_dir is not None else None
        self.evaluate = evaluate
        self.show_progress = show_progress and self.workers.first
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=config.betas, eps=config.eps, fused=True
        )
        # Small gradients are 0 in float16, so the loss is multiplied before and the gradient
        # divided after; the other precisions have float32's range, and it does nothing.
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == "float16")
        self.step = 0
        self.recorder = Recorder(self.run_dir if self.workers.first else None)
        self._shared = self.workers.wrap(ModelWithLoss(model, config.label_smoothing))
        self._loss = self._compiled(self._shared) if self.compiled else self._shared

    def _compiled(self, shared: torch.nn.Module) -> Any:
        """Model and loss in few kernels, which serve batches of all shapes."""
        if self.config.compile is None:
            # Nobody has asked for it: what cannot be compiled runs as it is, with a warning.
            torch._dynamo.config.suppress_errors = True
        return torch.compile(shared, dynamic=True)

    @property
    def metrics(self) -> list[Metrics]:
        """One dictionary per report."""
        return self.recorder.entries

    def train(self) -> list[Metrics]:
        """Run until all steps are done, or no evaluation is better any more; return the metrics.

        Each entry holds step, epoch, loss (nats per target token since the last log), rate,
        tokens_per_second (target tokens, padding not counted) and seconds (of training alone).
        """
        bar = progress(self.config.steps, self.step, self.show_progress)
        if not self.step:  # a resumed run has its random numbers from the checkpoint
            self.workers.seed(self.config.seed)
        if self.workers.first and (warning := warning_of(self.precision, self.device)):
            print(warning, flush=True)
        self.model.train()
        self.recorder.start()
        self._last_kept = time.monotonic()
        try:
            with closing(iter(self.loader)) as batches, enough_memory(self._memory_message()):
                while not self._finished:
                    self._advance(next(batches))
                    bar.update(self.recorder.line(), self.recorder.entries)
        finally:
            bar.close()
            self.recorder.close()
        self.model.eval()
        if self.run_dir and self.workers.first:
            save_model(self.run_dir / "model.safetensors", self.model)
        self.workers.barrier()  # for the files
        return self.metrics

    @property
    def _finished(self) -> bool:
        return self.step >= self.config.steps or stopping.out_of_patience(self.metrics, self.config)

    def _memory_message(self) -> str:
        """What to do where a step does not fit into the memory."""
        n, parts = self.config.max_tokens, self.config.accumulate
        return (
            f"the memory of {self.device} does not hold the model and a batch of {n:,} tokens. "
            "Halve the batch and put a step together from twice as many, which leaves the step as "
            f"it is: --max-tokens {max(1, n // 2)} --accumulate {2 * parts}, in a new folder if "
            "there is a checkpoint, because --resume allows no such change; or train a smaller "
            "model"
        )

    def _advance(self, batches: list[Batch]) -> None:
        """A step of training, then logging, evaluation and a checkpoint where one is due."""
        config, recorder = self.config, self.recorder
        recorder.add(*self._update(batches))
        evaluating = self._due(config.evaluate_every)
        keeping = self._due(0 if config.checkpoint_minutes else config.checkpoint_every)
        if not (evaluating or keeping or self._due(config.log_every)):
            return
        self._log()
        if evaluating and self.evaluate:
            self._evaluate(self.evaluate)
        if (keeping or self._finished or self._long_since_kept()) and self.run_dir:
            self._keep(self.run_dir)
        recorder.start()

    def _long_since_kept(self) -> bool:
        """Whether `checkpoint_minutes` are over, by the first process's clock."""
        minutes = self.config.checkpoint_minutes
        if not minutes:
            return False
        return self.workers.broadcast(time.monotonic() - self._last_kept) >= 60 * minutes

    def _keep(self, run_dir: Path) -> None:
        # The weights first: a run that is killed between the two writes them again.
        if self.config.keep and self.workers.first:
            keep_weights(run_dir, self.step, self.model, self.config.keep)
        self.save(run_dir / CHECKPOINT)
        self._last_kept = time.monotonic()

    def _update(self, batches: list[Batch]) -> tuple[Tensor, int]:
        """One step: gradients of all batches, divided by their tokens together, and Adam.

        Returns the loss summed over this process's tokens of the step, and the number of all.
        """
        # Dividing each batch by its own count would give the words of short batches more weight.
        n_tokens = sum(batch.n_tokens for batch in batches)
        total = torch.zeros((), device=self.device)
        for i, batch in enumerate(batches, 1):
            batch = batch.to(self.device)
            last = i == len(batches)  # with it, several processes add up their gradients
            with nullcontext() if last else self.workers.no_sync(self._shared):
                with self._autocast():
                    loss = self._loss(batch.src, batch.tgt_in, batch.tgt_out)
                # Times their number, because several processes take the mean of their gradients.
                self.scaler.scale(loss / n_tokens * self.workers.size).backward()
            total += loss.detach()
        if self.config.clip is not None:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.step += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
        self.scaler.step(self.optimizer)  # in float16 the weights stay where a gradient overflowed
        self.scaler.update()
        self.optimizer.zero_grad()
        return total, n_tokens

    def _autocast(self) -> AbstractContextManager[Any]:
        if self.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, DTYPES[self.precision])

    @property
    def rate(self) -> float:
        """The learning rate of the current step."""
        c = self.config
        rate = noam_rate(self.step, self.model.config.d_model, c.warmup, c.factor)
        return rate * linear_cooldown(self.step, c.steps, c.cooldown)

    def _due(self, every: int) -> bool:
        return self.step == self.config.steps or (every > 0 and self.step % every == 0)

    def _log(self) -> None:
        loss = self.recorder.per_token(self.workers.all_reduce(self.recorder.loss_sum()))
        first = self.step - self.recorder.n_steps + 1
        saved = self.run_dir and self.run_dir / CHECKPOINT
        between, half = f"steps {first} and {self.step}", self.precision == "float16"
        require_finite(self.model, loss, between, self.config, saved, half)
        self.recorder.report(self.step, self.loader.epoch, loss, self.rate)

    def _evaluate(self, evaluate: Callable[[Any], Metrics]) -> None:
        """The first process scores the model; the others learn what decides when to stop."""
        scores: Metrics = {}
        if self.workers.first:
            self.model.eval()
            with rng_restored(self.device):
                scores = evaluate(self.model)
            self.model.train()
        scores = stopping.scores_for_all(scores, self.config, self.workers)
        self.recorder.extend(scores)
        if self.recorder.run_dir and stopping.last_is_best(self.metrics, self.config):
            stopping.keep_best(self.recorder.run_dir, self.model)

    def state_dict(self) -> State:
        """All that an exact continuation needs; all processes call it, each has random numbers."""
        moments = self.optimizer.state_dict()["state"]
        return {
            "step": self.step,
            "config": self.model.config.to_dict(),
            "training": asdict(self.config),
            "model": model_tensors(self.model),
            "adam": {f"{i}.{key}": t for i in moments for key, t in moments[i].items()},
            "rng": self.workers.rng_state(self.device),
            "scaler": self.scaler.state_dict(),
            **self.loader.state_dict(),
            **self.recorder.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Go on from there, as if training had never stopped.

        Raises:
            CheckpointError: the state belongs to another model or training set-up.
        """
        self._require_same_settings(state)
        moments = moments_of(state["adam"], list(self.model.parameters()))
        self.loader.load_state_dict(state)
        load_model_tensors(self.model, state["model"])
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        if self.scaler.is_enabled() and state.get("scaler"):  # else it finds its factor anew
            self.scaler.load_state_dict(state["scaler"])
        self.recorder.load_state_dict(state)
        self.step = state["step"]
        if not self.workers.set_rng_state(state["rng"], self.device):
            # Other words are dropped now, which is as good.
            self.workers.seed(self.config.seed, self.step)

    def _require_same_settings(self, state: State) -> None:
        require_same(TransformerConfig(**state["config"]).to_dict(), self.model.config.to_dict())
        # A state from before a setting existed was made with its default.
        before = {**asdict(TrainingConfig(steps=1)), **state["training"]}
        # A cooling run that is to go on for longer cooled too early.
        may_change = MAY_CHANGE if self.config.cooldown else (*MAY_CHANGE, "steps")
        require_same(before, asdict(self.config), may_change)

    def save(self, path: Path | str) -> None:
        """Write the state into a file, whole or not at all; all processes call it.

        Raises:
            FileError: it could not be written; an earlier one is untouched.
        """
        state = self.state_dict()
        if self.workers.first:
            save_state(Path(path), state)

    def resume(self, path: Path | str) -> None:
        """Go on from a file that `save` wrote.

        Raises:
            CheckpointError: it is damaged, or belongs to another model or training set-up.
        """
        state = load_state(Path(path))
        try:
            self.load_state_dict(state)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from error
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"{path} is damaged ({error}); take another checkpoint, or train again"
            ) from error
