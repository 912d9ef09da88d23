"""A model of the task everyday, trained further on processors, in half the time of `train`.

Where a core multiplies matrices of bfloat16 by itself (AMX), `train --precision bf16` spends three
quarters of its time on what lies between them. Here a step has half as much to move: weights and
vectors are bfloat16 throughout (Adam's are float32), what dropout keeps is cut from a pool that
was drawn beforehand, and the loss brings its gradient along. Attention weights are not dropped.
Each process learns from batches of its own, and every `TOGETHER` steps all go on from the mean of
their weights (local SGD: Stich 2019).
"""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.multiprocessing import spawn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from measurements.everyday_model import WAYS, some
from transformer.data.everyday import everyday_corpus
from transformer.model import Transformer
from transformer.runs import check_run_folder
from transformer.support.files import write_atomically
from transformer.support.provenance import provenance, require_commit
from transformer.tasks import Task
from transformer.tasks.start import Start
from transformer.tasks.task import Recipe, build_task, encode
from transformer.text import BOS_ID, EOS_ID, PAD_ID, save_tokenizer
from transformer.training import TrainingConfig, validation_loss
from transformer.training.distributed import Workers
from transformer.training.loader import BatchLoader
from transformer.training.schedule import linear_cooldown, noam_rate
from transformer.weights import keep_weights, save_model

RECIPE = Recipe(
    vocab_size=0,  # the start's tokens
    model={"dropout": 0.15, "attention_dropout": 0.0},
    # The rate climbs to 1e-3.
    training={"steps": 5400, "max_tokens": 4096, "warmup": 300, "factor": 0.277, "cooldown": 0.6}
    | {"seed": 1, "log_every": 100, "checkpoint_every": 250, "keep": 5},
)
TOGETHER = 20  # steps
POOL = 2**24  # decisions of dropout
BLOCK = 512  # tokens, whose logits fit into a processor's cache
MARKS = {"bos_id": BOS_ID, "eos_id": EOS_ID, "pad_id": PAD_ID}
JUDGED = 600  # validation pairs in each direction


class PooledDropout(nn.Module):
    """Dropout that cuts its decisions from a pool, at random; they are too dear to draw each time.

    Args:
        pool: 0 where a number is dropped, 1 / (1 - dropout) elsewhere.
        rng: where to cut.
    """

    def __init__(self, pool: Tensor, rng: random.Random) -> None:
        super().__init__()
        self.pool, self.rng = pool, rng

    def forward(self, x: Tensor) -> Tensor:
        """Zeros among the numbers of x."""
        begin = self.rng.randrange(len(self.pool) - x.numel())
        return x * self.pool[begin : begin + x.numel()].view_as(x)


class SmoothedLoss(torch.autograd.Function):
    """`label_smoothing_loss` of vectors, summed, with both of its gradients."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, target: Tensor, share: float) -> Tensor:
        """Of hidden (tokens, d_model), weight (vocab, d_model), target (tokens,)."""
        of_hidden, of_weight = torch.empty_like(hidden), torch.zeros(weight.shape)
        total = torch.zeros(())
        for begin in range(0, len(hidden), BLOCK):
            vectors = hidden[begin : begin + BLOCK]
            true = target[begin : begin + BLOCK, None]
            logits = (vectors @ weight.T).float()
            log_sum = logits.logsumexp(-1, keepdim=True)
            wanted = (1 - share) * logits.gather(1, true) + share * logits.mean(-1, keepdim=True)
            total += (log_sum - wanted).sum()
            slope = logits.sub_(log_sum).exp_().sub_(share / len(weight))
            slope.scatter_add_(1, true, torch.full_like(log_sum, share - 1))
            half = slope.to(hidden.dtype)
            of_hidden[begin : begin + BLOCK] = half @ weight
            of_weight += half.T @ vectors
        ctx.save_for_backward(of_hidden, of_weight.to(weight.dtype))
        return total

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> Any:
        """For vectors and weight; the loss itself is what is differentiated."""
        return *ctx.saved_tensors, None, None


class HalfModel:
    """A model's numbers in bfloat16, and its steps; the model itself stays in float32.

    Args:
        model: trained in place.
        config: how to train.
        rank: of this process, whose dropout is its own.
    """

    def __init__(self, model: Transformer, config: TrainingConfig, rank: int) -> None:
        self.model, self.config = model, config
        self.half = Transformer(model.config).to(torch.bfloat16)
        self.rng = random.Random(1000 * config.seed + rank)
        self.generator = torch.Generator().manual_seed(1000 * config.seed + rank)
        self.pool = self._drawn(POOL)
        for module in self.half.modules():
            if isinstance(getattr(module, "dropout", None), nn.Dropout):
                module.dropout = PooledDropout(self.pool, self.rng)
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=config.betas, eps=config.eps, fused=True
        )
        self.read()

    def _drawn(self, n: int) -> Tensor:
        share = self.model.config.dropout
        kept = torch.rand(n, generator=self.generator) >= share
        return kept.to(torch.bfloat16) / (1 - share)

    @torch.no_grad()
    def read(self) -> None:
        """Take the float32 numbers over."""
        torch._foreach_copy_(list(self.half.parameters()), list(self.model.parameters()))

    def step(self, number: int, src: Tensor, tgt_in: Tensor, tgt_out: Tensor) -> tuple[float, int]:
        """One update; returns the loss, summed, and its tokens."""
        config, pad_id = self.config, self.model.config.pad_id
        with sdpa_kernel(SDPBackend.MATH):  # the fused kernel's backward pass is slow in bfloat16
            memory = self.half.encode(src)
            hidden = self.half.decode(tgt_in, memory, src)
            chosen = tgt_out != pad_id
            target = tgt_out[chosen]
            weight = self.half.output.weight
            loss = SmoothedLoss.apply(hidden[chosen], weight, target, config.label_smoothing)
            loss.backward()
        for own, half in zip(self.model.parameters(), self.half.parameters(), strict=True):
            assert half.grad is not None
            own.grad = half.grad.float().div_(len(target))
            half.grad = None
        rate = noam_rate(number, self.model.config.d_model, config.warmup, config.factor)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * linear_cooldown(number, config.steps, config.cooldown)
        self.optimizer.step()
        self.read()
        begin = self.rng.randrange(POOL - POOL // 50)  # no decision stays for long
        self.pool[begin : begin + POOL // 50] = self._drawn(POOL // 50)
        return float(loss.detach()), len(target)


def learn(rank: int, task: Task, out: Path, shared: Sequence[Tensor], all_here: Barrier) -> None:
    """Train in this process, one of as many as there are vectors in `shared`; the first writes."""
    torch.set_num_threads(1)
    config = task.training
    model = task.build_model()
    learner = HalfModel(model, config, rank)
    own = replace(config, seed=len(shared) * config.seed + rank)
    loader = BatchLoader(task.pairs, own, MARKS, Workers(), torch.device("cpu"))
    valid = [pair for text in task.splits.values() for pair in encode(task.tokenizer, text)]
    loss, n_tokens, began = 0.0, 0, time.monotonic()
    for number, (batch,) in enumerate(islice(loader, config.steps), 1):
        of_step, tokens = learner.step(number, batch.src, batch.tgt_in, batch.tgt_out)
        loss, n_tokens = loss + of_step, n_tokens + tokens
        last = number == config.steps
        if number % TOGETHER == 0 or last:
            shared[rank].copy_(parameters_to_vector(model.parameters()).detach())
            all_here.wait()
            vector_to_parameters(torch.stack(list(shared)).mean(0), model.parameters())
            learner.read()
            all_here.wait()  # nobody writes before all have read
        if rank == 0 and (number % config.log_every == 0 or last):
            said = {"step": number, "epoch": len(shared) * loader.epoch, "loss": loss / n_tokens}
            said |= {"tokens_per_second": len(shared) * n_tokens / (time.monotonic() - began)}
            if number % config.checkpoint_every == 0 or last:
                said |= validation_loss(model.eval(), valid, smoothing=config.label_smoothing)
                keep_weights(out, number, model, config.keep)
            print(json.dumps(said), flush=True)
            with (out / "metrics.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(said) + "\n")
            loss, n_tokens, began = 0.0, 0, time.monotonic()
    if rank == 0:
        save_model(out / "model.safetensors", model)


def make(
    model: Path,
    out: Path,
    *,
    data: Path | None = None,
    steps: int = RECIPE.training["steps"],
    factor: float = RECIPE.training["factor"],
    cooldown: float = RECIPE.training["cooldown"],
    seed: int = RECIPE.training["seed"],
    processes: int = 2,
) -> int:
    """Train and leave a run's folder; returns the exit status.

    Args:
        model: where to begin.
        out: the folder to make.
        data: of the task everyday.
        steps: of each process.
        factor: of the learning rate's schedule.
        cooldown: the share of the steps in which the rate falls to 0.
        seed: of batches and dropout.
        processes: how many there are, with a core each.
    """
    check_run_folder(out, resume=False)
    start, corpus = Start.load(model), everyday_corpus(data)
    training = {"steps": steps, "factor": factor, "cooldown": cooldown, "seed": seed}
    recipe = RECIPE.overridden({**start.sizes, **RECIPE.model}, training)
    splits = {f"valid.{way}": some(corpus.splits[f"valid.{way}"], JUDGED) for way in WAYS}
    task = build_task(
        "everyday", start.tokenizer, corpus.train, splits, recipe, metadata=corpus.metadata
    ).starting_from(start)
    about = provenance(torch.device("cpu"))
    require_commit(about["commit"], str(out), "then train")
    out.mkdir(parents=True, exist_ok=True)
    save_tokenizer(out / "tokenizer.json", task.tokenizer)
    settings = {
        "task": task.name,
        "data": task.metadata,
        "start": start.name,
        "example": task.example,
        "config": task.config.to_dict(),
        "training": asdict(task.training),
        "processes": processes,
        "precision": "bf16",
        **about,
    }
    write_atomically(out / "config.json", json.dumps(settings, indent=2).encode())
    n_parameters = start.model.n_parameters()
    shared = [torch.empty(n_parameters).share_memory_() for _ in range(processes)]
    context = get_context("spawn")
    given = (task, out, shared, context.Barrier(processes))
    spawn(learn, given, nprocs=processes)
    return 0
