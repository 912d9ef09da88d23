"""Training and decoding on a GPU: tokens per second, and the share of the GPU that is used."""

import gc
import random
import re
import statistics
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from measurements import decoding_peers, training_peers
from measurements.needs import LeftOutError, peer_versions
from measurements.timing import time_in_turn
from transformer import Transformer, TransformerConfig
from transformer.compared.flops import training_flops
from transformer.support.devices import accelerator, use_device
from transformer.text.batching import TokenPair
from transformer.training import Batch, Trainer, TrainingConfig
from transformer.training.hardware import chosen_precision
from transformer.training.loss import ModelWithLoss

SEED = 0
# Tokens of a sentence, about the average of WMT 2014. A multiple of 8, as the command line pads
# batches for a compiled model: a mask's rows of 25 two-byte numbers begin at addresses that 16 does
# not divide, and the fast kernels of attention want them aligned.
LENGTH = 24
MAX_TOKENS = 25_000  # source and target each (section 5.1)
ENOUGH_MEMORY = 36 * 2**30  # bytes of a GPU that holds such a step in one piece, a 40 GB one too
N_PARTS = 8  # on a smaller one
ROUNDS = 20
REPORTS, STEPS_A_REPORT = 6, 10  # of a run as the command line makes it; the first two warm up
# What the driver says of a GPU, by nvidia-smi's names.
QUERY = ("driver_version", "clocks.sm", "clocks.max.sm", "power.limit", "mig.mode.current")

# Dense bfloat16 (Turing: float16) on tensor cores, in 10^12 FLOP/s, from NVIDIA's data sheets:
# "H100 Tensor Core GPU", "H200 Tensor Core GPU", "A100 Tensor Core GPU", "L4 Tensor Core GPU" (all
# but A100's print the number with sparsity, which is twice as much) and "T4 Tensor Core GPU".
PEAKS = {
    r"H[12]00 NVL": 835.5,
    r"H100 PCIe": 756.5,
    r"H[12]00": 989.5,
    r"A100": 312.0,
    r"L4": 121.0,
    r"T4": 65.0,
}


def peak(name: str) -> float | None:
    """FLOP/s that a GPU of this name reaches at most; None for one that we do not know.

    A part of a GPU (MIG) bears the name of the whole, and reaches a part of it.
    """
    if re.search(r"\bMIG\b", name):
        return None
    for pattern, tera in PEAKS.items():
        if re.search(rf"\b{pattern}\b", name):
            return tera * 1e12
    return None


def device_settings(device: torch.device) -> dict[str, str]:
    """The driver, the clocks and the limit of power of a GPU; nothing where nvidia-smi is not."""
    number = str(device.index or 0)
    command = [
        "nvidia-smi",
        "-i",
        number,
        f"--query-gpu={','.join(QUERY)}",
        "--format=csv,noheader",
    ]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(zip(QUERY, map(str.strip, said.split(",")), strict=False))


def random_pairs(n: int, vocab_size: int, longest: int = 200) -> list[TokenPair]:
    """Sentences of random words with lengths as real ones have them, `LENGTH` on average."""
    rng = random.Random(SEED)
    spread = 0.6
    pairs: list[TokenPair] = []
    for _ in range(n):
        length = round(LENGTH * rng.lognormvariate(-(spread**2) / 2, spread))
        lengths = [min(longest, max(1, round(length * rng.uniform(0.85, 1.15)))) for _ in range(2)]
        source, target = ([rng.randrange(4, vocab_size) for _ in range(k)] for k in lengths)
        pairs.append((source, target))
    return pairs


def as_the_command_line(
    config: TransformerConfig,
    device: torch.device,
    *,
    compiled: bool,
    max_tokens: int,
    accumulate: int,
    steps_a_report: int,
) -> dict[str, Any]:
    """A run of the `Trainer`: real lengths, padding, batches made meanwhile, its own metrics."""
    steps = REPORTS * steps_a_report
    n_pairs = 2 * steps * max_tokens * accumulate // LENGTH // 3
    longest = min(200, config.max_len - 1, max_tokens - 1)
    pairs = random_pairs(n_pairs, config.tgt_vocab_size, longest)
    settings = TrainingConfig(
        steps, max_tokens, accumulate, log_every=steps_a_report, compile=compiled
    )
    torch.manual_seed(SEED)
    trainer = Trainer(Transformer(config), pairs, settings, device=device, show_progress=False)
    metrics = trainer.train()
    seconds = [b["seconds"] - a["seconds"] for a, b in pairwise(metrics[1:])]
    return {
        "model": "compiled" if compiled else "as written",
        "precision": trainer.precision,
        "seconds": statistics.median(seconds) / steps_a_report,
        "target_tokens_per_second": statistics.median(m["tokens_per_second"] for m in metrics[2:]),
    }


def full_batch(config: TransformerConfig, sentences: int, length: int) -> Batch:
    """Random sentences of one length: no padding."""
    generator = torch.Generator().manual_seed(SEED)
    size = (sentences, length)
    src, tgt_in, tgt_out = (
        torch.randint(4, config.tgt_vocab_size, size, generator=generator) for _ in range(3)
    )
    return Batch(src, tgt_in, tgt_out, tgt_out.numel())


def our_step_loss(both: Any, batch: Batch) -> Tensor:
    """As the `Trainer` computes it: model and loss in one."""
    return both(batch.src, batch.tgt_in, batch.tgt_out) / batch.n_tokens


def train(
    config: TransformerConfig,
    device: torch.device,
    most: float | None,
    precision: str,
    *,
    sentences: int,
    length: int,
    n_parts: int,
    rounds: int,
) -> list[dict[str, Any]]:
    """Training steps on batches that lie there already, as written and compiled, in turn.

    Args:
        most: the FLOP/s that the device reaches at best, if known.
        n_parts: so many batches hold the sentences, where memory does not hold them at once.
    """
    batches = [full_batch(config, sentences // n_parts, length) for _ in range(n_parts)]
    steps = {}
    for name in ("as written", "compiled"):
        torch.manual_seed(SEED)
        both: Any = ModelWithLoss(Transformer(config).to(device), training_peers.SMOOTHING)
        if name == "compiled":
            both = torch.compile(both, dynamic=True)  # as the Trainer compiles
        steps[name] = training_peers.epoch(both, our_step_loss, batches, precision)
    for step in steps.values():  # compiles, and makes Adam's averages
        step()
    flops = training_flops(config, sentences, length, length)
    tokens = 2 * sum(batch.src.numel() for batch in batches)
    results = []
    for name, times in time_in_turn(steps, rounds).items():
        seconds = statistics.median(times)
        results.append(
            {
                "model": name,
                "seconds": seconds,
                "tokens_per_second": round(tokens / seconds),
                "flops_per_second": flops / seconds,
                "utilisation": round(flops / seconds / most, 4) if most else None,
            }
        )
    return results


def peers(
    config: TransformerConfig,
    device: torch.device,
    precision: str,
    *,
    quick: bool,
    max_tokens: int,
    rounds: int,
) -> dict[str, Any]:
    """The competitors of `training_peers`, on Multi30k or toy German."""
    data, pairs, vocab_size = training_peers.corpus(quick)
    settings = config.to_dict() | {"src_vocab_size": vocab_size, "tgt_vocab_size": vocab_size}
    batchings = training_peers.both_batchings(pairs, 4, max_tokens, config.pad_id)
    shape = TransformerConfig(**settings)
    compared = training_peers.times_of_steps(
        shape, batchings, precision, rounds, str(device), pause=0
    )
    return {"data": data, **compared}


def decode(
    device: str, *, n_tokens: int, rounds: int, batch_sizes: tuple[int, ...]
) -> list[dict[str, Any]]:
    """The competitors of `decoding_peers`, in float32."""
    model = decoding_peers.build_model()
    with decoding_peers.opened(model, 1, device) as competitors:
        return [
            decoding_peers.times_of_searches(model, competitors, size, beam_size, n_tokens, rounds)
            for beam_size in decoding_peers.BEAM_SIZES
            for size in batch_sizes
        ]


def sixteen_bits(device: torch.device) -> str:
    """bf16 where the GPU has units for it, float16 where it only emulates them, as a T4 does.

    Raises:
        LeftOutError: the GPU is fast in neither.
    """
    precision = chosen_precision(TrainingConfig(steps=1), device)
    if precision == "float32":
        raise LeftOutError("This GPU has no units for 16 bits; its peak would mean nothing.")
    return precision


def run(quick: bool = False) -> dict[str, Any]:
    """The base model at the paper's batch size; `quick` takes a tenth of it, and few rounds.

    Raises:
        LeftOutError: there is no GPU, or it is fast in float32 only.
    """
    if not torch.cuda.is_available():
        raise LeftOutError("There is no CUDA GPU here.")
    device = torch.device("cuda", 0)
    memory = torch.cuda.get_device_properties(device).total_memory
    return measure(
        TransformerConfig.base(),
        device,
        torch.cuda.get_device_name(device),
        sixteen_bits(device),
        max_tokens=MAX_TOKENS // 10 if quick else MAX_TOKENS,
        n_parts=1 if memory >= ENOUGH_MEMORY else N_PARTS,
        rounds=2 if quick else ROUNDS,
        quick=quick,
    )


def kept(section: Callable[[], Any]) -> Any:
    """What a section measures, or why it is left out: it must not cost the others their figures."""
    try:
        return section()
    except Exception as error:
        return {"left_out": str(error) or type(error).__name__}


def rows_of(section: Any, rows: Callable[[Any], list[str]]) -> list[str]:
    """The lines of a section, or the one that says why there are none."""
    if isinstance(section, dict) and "left_out" in section:
        return [f"  left out: {section['left_out']}"]
    return rows(section)


@contextmanager
def cudnn_attention(device: torch.device) -> Iterator[None]:
    """Inside, attention may use cuDNN, as torch has it by itself; afterwards it is as before."""
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(before or device.type == "cuda")
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


def measure(
    config: TransformerConfig,
    device: torch.device,
    name: str,
    precision: str,
    *,
    max_tokens: int,
    n_parts: int,
    rounds: int,
    quick: bool,
    n_tokens: int = 60,
    batch_sizes: tuple[int, ...] = (1, 32),
) -> dict[str, Any]:
    """All that `run` measures, on the device of this name."""
    sentences = max_tokens // LENGTH // n_parts * n_parts
    budget, few = max_tokens // n_parts, min(rounds, 5)
    # First the others, with torch's kernels as their users have them; `use_device` changes those.
    how: dict[str, Any] = {"quick": quick, "max_tokens": budget, "rounds": rounds}
    with cudnn_attention(device):
        compared = kept(lambda: peers(config, device, precision, **how))
    use_device(device)
    training = kept(
        lambda: train(
            config,
            device,
            peak(name),
            precision,
            sentences=sentences,
            length=LENGTH,
            n_parts=n_parts,
            rounds=rounds,
        )
    )
    runs = kept(
        lambda: [
            as_the_command_line(
                config,
                device,
                compiled=compiled,
                max_tokens=budget,
                accumulate=n_parts,
                steps_a_report=1 if quick else STEPS_A_REPORT,
            )
            for compiled in (False, True)
        ]
    )
    gc.collect()
    if device.type == "cuda":  # decoding has processes of its own, which need the memory
        torch.cuda.empty_cache()
    return {
        "seed": SEED,
        "hardware": name,
        "device": {**accelerator(device), **device_settings(device)},
        "versions": kept(lambda: peer_versions("transformers", "ctranslate2")),
        "model": config.to_dict(),
        "precision": precision,
        "tokens": 2 * sentences * LENGTH,
        "parts": n_parts,
        "rounds": rounds,
        "peak": peak(name),
        "training": training,
        "runs": runs,
        "peers": compared,
        "decoding": kept(
            lambda: decode(str(device), n_tokens=n_tokens, rounds=few, batch_sizes=batch_sizes)
        ),
    }


def training_rows(results: list[dict[str, Any]]) -> list[str]:
    """One line for the model as written, one compiled."""
    lines = []
    for r in results:
        used = f"{r['utilisation']:.1%}" if r["utilisation"] is not None else "not known"
        tera = r["flops_per_second"] / 1e12
        lines.append(f"{r['model']:>12} {r['tokens_per_second']:>11,} {tera:>8.1f}  {used}")
    return lines


def run_rows(results: list[dict[str, Any]]) -> list[str]:
    """One line for each run."""
    return [
        f"{r['model']:>12} {round(r['target_tokens_per_second']):>11,} a second, "
        f"{1000 * r['seconds']:.1f} ms a step"
        for r in results
    ]


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    most = result["peak"]
    of = f"of {most / 1e12:.0f} TFLOP/s" if most else "no peak known"
    lines = [
        f"Training in {result['precision']}, {result['tokens']:,} tokens a step, source and target "
        "together, batches made beforehand",
        f"{'our model':>12} {'tokens/s':>11} {'TFLOP/s':>8}  used ({of})",
    ]
    lines += rows_of(result["training"], training_rows)
    lines.append("As the command line trains, real lengths, reading included: target tokens")
    lines += rows_of(result["runs"], run_rows)
    data = result["peers"].get("data", "not measured")
    lines.append(f"Beside others, {data}, {result['precision']}: real tokens per second")
    lines += rows_of(result["peers"], training_peers.rows)
    lines.append("Decoding, float32: tokens per second, and the others' time over ours")
    lines += rows_of(result["decoding"], decoding_peers.rows)
    return "\n".join(lines)
