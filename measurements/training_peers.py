"""A training step of ours beside torch.nn.Transformer's and Hugging Face's: tokens per second.

Real tokens: what a sentence has, not what fills up its row. So two things show, how quickly a
model computes, and how much of what it computes is padding. The others are therefore trained
twice: on the batches that most loops make, so many sentences in random order, and on ours.
"""

import os
import random
import statistics
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from measurements.needs import peer_versions
from measurements.timing import THREADS, limited_threads, ratios, time_in_turn
from measurements.torch_peer import torch_model
from transformer import Transformer, TransformerConfig
from transformer.data.copy_task import CopyTask
from transformer.text import BOS_ID, EOS_ID
from transformer.text.batching import TokenPair
from transformer.training import (
    Batch,
    label_smoothing_loss,
    make_batch,
    padding_share,
    token_batches,
)
from transformer.training.hardware import DTYPES

from transformer_book.export.hugging_face import hugging_face_model

SHAPE: dict[str, Any] = {"n_layers": 3, "d_model": 256, "d_ff": 1024, "n_heads": 4, "dropout": 0.1}
SMOOTHING = 0.1
MAX_TOKENS = 1024
N_STEPS, ROUNDS = 6, 7
PAUSE = 0.05
PRECISIONS = ("float32", "bf16")
SEED = 0

NAMES = {
    "ours": "ours",
    "torch_random": "torch, random",
    "torch_grouped": "torch, grouped",
    "hugging_face_random": "Hugging Face, random",
    "hugging_face_grouped": "Hugging Face, grouped",
}
Loss = Callable[[Any, Batch], Tensor]  # of one of three kinds of models


def corpus(quick: bool) -> tuple[str, Sequence[TokenPair], int]:
    """Sentence pairs as token ids, with the size of their vocabulary.

    Multi30k where the environment variable TRANSFORMER_TEST_DATA names a folder that holds it,
    else toy German; `quick` copies symbols, which are there at once.
    """
    from transformer.tasks import multi30k_task, toy_german_task

    if quick:
        copies = CopyTask(10, 1, 20)
        return "copy", [*copies.pairs(1000, SEED)], copies.vocab_size
    folder = Path(os.environ.get("TRANSFORMER_TEST_DATA", ""), "multi30k")
    there = folder.is_absolute() and folder.is_dir()
    task = multi30k_task(folder) if there else toy_german_task()
    return task.name, task.pairs, task.config.tgt_vocab_size


def both_batchings(
    pairs: Sequence[TokenPair], n_steps: int, max_tokens: int, pad_id: int
) -> dict[str, list[Batch]]:
    """The same sentences in as many batches: grouped by length as ours, and at random."""
    marks = {"bos_id": BOS_ID, "eos_id": EOS_ID, "pad_id": pad_id}
    grouped = list(islice(token_batches(pairs, max_tokens, seed=SEED), n_steps))
    order = [i for indices in grouped for i in indices]
    random.Random(SEED).shuffle(order)
    n = -(-len(order) // len(grouped))
    shuffled = [order[start : start + n] for start in range(0, len(order), n)]
    return {
        name: [make_batch((pairs[i] for i in indices), **marks) for indices in batches]
        for name, batches in (("grouped", grouped), ("random", shuffled))
    }


# Each competitor's loss, as its users compute it -----------------------------------------------


def our_loss(model: Any, batch: Batch) -> Tensor:
    logits = model(batch.src, batch.tgt_in)
    with torch.autocast(logits.device.type, enabled=False):
        loss, _ = label_smoothing_loss(logits, batch.tgt_out, SMOOTHING, model.config.pad_id)
    return loss / batch.n_tokens


def torch_loss(model: Any, batch: Batch) -> Tensor:
    logits = model(batch.src, batch.tgt_in)
    with torch.autocast(logits.device.type, enabled=False):
        return F.cross_entropy(
            logits.flatten(0, 1).float(),
            batch.tgt_out.flatten(),
            ignore_index=model.config.pad_id,
            label_smoothing=SMOOTHING,
        )


def hugging_face_loss(model: Any, batch: Batch) -> Tensor:
    """Marian's own loss, which knows no label smoothing and so has a little less to do."""
    pad_id = model.config.pad_token_id
    return model(
        input_ids=batch.src,
        attention_mask=(batch.src != pad_id).long(),
        decoder_input_ids=batch.tgt_in,
        decoder_attention_mask=(batch.tgt_in != pad_id).long(),
        labels=batch.tgt_out.masked_fill(batch.tgt_out == pad_id, -100),
        use_cache=False,
    ).loss


def epoch(
    model: nn.Module, loss: Loss, batches: Sequence[Batch], precision: str
) -> Callable[[], float]:
    """Trains on the batches once when called: forward, loss, backward, Adam. The last loss."""
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    batches = [batch.to(device) for batch in batches]
    model.train()

    def train() -> float:
        for batch in batches:
            with torch.autocast(device.type, DTYPES[precision], enabled=precision != "float32"):
                value = loss(model, batch)
            value.backward()
            optimizer.step()
            optimizer.zero_grad()
        return float(value.detach())  # waits for a GPU

    return train


def require_agreement(ours: Transformer, others: dict[str, nn.Module], batch: Batch) -> None:
    """The models compute the same, padding or not, before they are trained.

    Raises:
        RuntimeError: one does not, so times cannot be compared.
    """
    device = ours.output.weight.device
    batch = batch.to(device)
    words = batch.tgt_in != ours.config.pad_id
    with torch.no_grad():
        expected = ours.eval()(batch.src, batch.tgt_in)[words]
        found = {"torch": others["torch"](batch.src, batch.tgt_in)[words]}
        found["hugging_face"] = others["hugging_face"](
            input_ids=batch.src,
            attention_mask=(batch.src != ours.config.pad_id).long(),
            decoder_input_ids=batch.tgt_in,
            decoder_attention_mask=words.long(),
            use_cache=False,
        ).logits[words]
    for name, logits in found.items():
        difference = float((logits - expected).abs().max())
        if not difference < 1e-3:
            raise RuntimeError(
                f"{NAMES[f'{name}_random'].split(',')[0]} computes other logits, {difference:.4f} "
                "away; the times cannot be compared"
            )


def times_of_steps(
    config: TransformerConfig,
    batchings: dict[str, list[Batch]],
    precision: str,
    rounds: int,
    device: str = "cpu",
    pause: float = PAUSE,
) -> dict[str, Any]:
    """All competitors in turn, with a model of their own each, all of the same weights."""
    torch.manual_seed(SEED)
    model = Transformer(config).to(device)
    build = {"torch": torch_model, "hugging_face": hugging_face_model}
    others = {name: make(model).to(device) for name, make in build.items()}
    require_agreement(model, others, batchings["random"][0])
    losses: dict[str, Loss] = {"torch": torch_loss, "hugging_face": hugging_face_loss}
    trained = {
        f"{name}_{order}": epoch(
            build[name](model).to(device), losses[name], batchings[order], precision
        )
        for name in losses
        for order in ("random", "grouped")
    }
    competitors = {"ours": epoch(model, our_loss, batchings["grouped"], precision), **trained}
    for train in competitors.values():  # warms up, and makes Adam's averages
        train()
    seconds = time_in_turn(competitors, rounds, pause)
    n_tokens = real_tokens(batchings["grouped"], config.pad_id)
    return {
        "precision": precision,
        "tokens_per_second": {
            name: round(n_tokens / statistics.median(times)) for name, times in seconds.items()
        },
        "times_as_long": ratios(seconds, "ours"),
    }


def real_tokens(batches: Sequence[Batch], pad_id: int) -> int:
    """Source and target tokens, each with its one mark; padding is none."""
    return sum(int((side != pad_id).sum()) for b in batches for side in (b.src, b.tgt_in))


def run(quick: bool = False) -> dict[str, Any]:
    """Both precisions; `quick` trains a tiny model for two steps, to see that it runs."""
    versions = peer_versions("transformers")
    data, pairs, vocab_size = corpus(quick)
    tiny = {"n_layers": 1, "d_model": 32, "d_ff": 64, "n_heads": 2, "dropout": 0.1}
    shape: dict[str, Any] = tiny if quick else SHAPE
    longest = 1 + max(max(map(len, pair)) for pair in pairs)
    config = TransformerConfig(vocab_size, vocab_size, **shape, max_len=longest)
    n_steps, rounds = (2, 1) if quick else (N_STEPS, ROUNDS)
    batchings = both_batchings(pairs, n_steps, MAX_TOKENS, config.pad_id)
    with limited_threads(1 if quick else THREADS) as threads:
        results = [times_of_steps(config, batchings, precision, rounds) for precision in PRECISIONS]
    return {
        "seed": SEED,
        "data": data,
        "model": {**shape, "vocab_size": vocab_size},
        "max_tokens": MAX_TOKENS,
        "steps": n_steps,
        "rounds": rounds,
        "threads": threads,
        "versions": versions,
        "real_tokens": real_tokens(batchings["grouped"], config.pad_id),
        "padding": {
            name: round(padding_share(batches, config.pad_id), 4)
            for name, batches in batchings.items()
        },
        "results": results,
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye: tokens per second, and how many times as long the others take."""
    padding = result["padding"]
    lines = [
        f"Training, {result['data']}: real tokens per second, source and target",
        f"(padding: {padding['grouped']:.0%} where sentences of like length share a batch, as "
        f"ours do; {padding['random']:.0%} in random order)",
        f"{'precision':>9}  {'model, batches':<22} {'tokens/s':>9} {'time over ours':>14} "
        f"{'lowest to highest':>18}",
    ]
    for r in result["results"]:
        lines += rows(r)
    return "\n".join(lines)


def rows(compared: dict[str, Any]) -> list[str]:
    """One line for each competitor."""
    lines = []
    for name, rate in compared["tokens_per_second"].items():
        line = f"{compared['precision']:>9}  {NAMES[name]:<22} {rate:>9,}"
        if name != "ours":
            of = compared["times_as_long"][name]
            spread = f"{of['lowest']:.2f} to {of['highest']:.2f}"
            line += f" {of['median']:>13.2f}x {spread:>18}"
        lines.append(line)
    return lines
