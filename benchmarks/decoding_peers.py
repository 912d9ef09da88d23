"""Our searches beside those of Hugging Face and CTranslate2: the same weights, the same outputs."""

import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from benchmarks.ctranslate2_peer import ctranslate2_translator, vocabulary
from benchmarks.marian_peer import BOS, EOS, marian
from benchmarks.record import peer_versions
from benchmarks.timing import THREADS, limited_threads, ratios, time_in_turn
from transformer import Transformer, TransformerConfig
from transformer.decoding import beam_search, greedy_search

SHAPE: dict[str, Any] = {"n_layers": 3, "d_model": 256, "d_ff": 1024, "n_heads": 4}
VOCAB_SIZE = 8000
N_TOKENS = 60
BATCH_SIZES = (1, 32)
BEAM_SIZES = (1, 4)
ROUNDS = 5
PAUSE = 0.25  # seconds; threads of OpenMP look for work for up to a fifth of a second
SEED = 0

NAMES = {"ours": "ours", "hugging_face": "Hugging Face", "ctranslate2": "CTranslate2"}
Search = Callable[[], list[list[int]]]


def build_model(**settings: Any) -> Transformer:
    """Random weights: the time does not depend on them, if only no sentence ends early."""
    torch.manual_seed(SEED)
    config = TransformerConfig(VOCAB_SIZE, VOCAB_SIZE, **{**SHAPE, "max_len": 128, **settings})
    model = Transformer(config)
    with torch.no_grad():
        # Padding, both marks and the unknown token have logit 0 then; others have larger ones.
        model.output.weight[:4] = 0
    return model.eval()


def searches(
    model: Transformer, src: Tensor, beam_size: int, n_tokens: int, threads: int
) -> dict[str, Search]:
    """The competitors, each as its documentation says that it is called; ours first."""
    from transformers import GenerationConfig

    limits: dict[str, Any] = {"bos_id": BOS, "eos_id": EOS, "max_len": n_tokens}

    def ours() -> list[list[int]]:
        if beam_size == 1:
            found = greedy_search(model, src, **limits)
        else:
            found = beam_search(model, src, beam_size=beam_size, length_penalty=0.0, **limits)
        return [hypotheses[0].tokens for hypotheses in found]

    other = marian(model).to(src.device)
    settings = GenerationConfig(
        max_new_tokens=n_tokens,
        num_beams=beam_size,
        length_penalty=0.0 if beam_size > 1 else None,
        use_cache=True,
        do_sample=False,
        decoder_start_token_id=BOS,
        bos_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=model.config.pad_id,
    )
    seen = torch.ones_like(src)

    def hugging_face() -> list[list[int]]:
        return other.generate(src, attention_mask=seen, generation_config=settings)[:, 1:].tolist()

    translator = ctranslate2_translator(model, threads, src.device.type)
    names = vocabulary(model.config)
    number = {name: i for i, name in enumerate(names)}
    source = [[names[i] for i in row] for row in src.tolist()]

    def ctranslate2() -> list[list[int]]:
        found = translator.translate_batch(
            source, beam_size=beam_size, length_penalty=0.0, max_decoding_length=n_tokens
        )
        return [[number[name] for name in result.hypotheses[0]] for result in found]

    return {"ours": ours, "hugging_face": hugging_face, "ctranslate2": ctranslate2}


@torch.no_grad()
def scores(model: Transformer, src: Tensor, outputs: list[list[int]]) -> Tensor:
    """The sum of the log-probabilities of each output, by our model in one pass."""
    tokens = torch.tensor(outputs, device=src.device)
    read = torch.cat([torch.full_like(tokens[:, :1], BOS), tokens[:, :-1]], dim=1)
    log_probs = model(src, read).log_softmax(-1)
    return log_probs.gather(-1, tokens[..., None]).sum((1, 2))


def require_agreement(
    model: Transformer, src: Tensor, outputs: dict[str, list[list[int]]], n_tokens: int
) -> int:
    """How many sentences came out with the same tokens everywhere.

    Roundings differ between libraries, so where two outputs are equally good, either may win.

    Raises:
        RuntimeError: the outputs differ by more than that, so times cannot be compared.
    """
    if any(len(tokens) != n_tokens for found in outputs.values() for tokens in found):
        raise RuntimeError("an output ended early; the times cannot be compared")
    expected = outputs["ours"]
    value = scores(model, src, expected)
    alike = [True] * len(expected)
    for name, found in outputs.items():
        apart = (scores(model, src, found) - value).abs()
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            if a != b:
                alike[i] = False
                if apart[i] > 1e-3:
                    raise RuntimeError(
                        f"{NAMES[name]} gives sentence {i} another output, {apart[i]:.4f} nats "
                        "away; the times cannot be compared"
                    )
    if sum(alike) < 0.9 * len(alike):
        raise RuntimeError(
            f"only {sum(alike)} of {len(alike)} outputs agree; the times cannot be compared"
        )
    return sum(alike)


def compare(
    model: Transformer, batch_size: int, beam_size: int, n_tokens: int, rounds: int, threads: int
) -> dict[str, Any]:
    """The competitors in turn, after they have shown that they do the same."""
    generator = torch.Generator().manual_seed(SEED)
    size = (batch_size, n_tokens)
    src = torch.randint(4, model.config.src_vocab_size, size, generator=generator)
    src = src.to(model.output.weight.device)
    competitors = searches(model, src, beam_size, n_tokens, threads)
    outputs = {name: search() for name, search in competitors.items()}  # warms up, too
    same = require_agreement(model, src, outputs, n_tokens)
    seconds = time_in_turn(competitors, rounds, PAUSE)
    rate = batch_size * n_tokens
    return {
        "sentences": batch_size,
        "beam_size": beam_size,
        "same_tokens": same,
        "tokens_per_second": {n: round(rate / statistics.median(t)) for n, t in seconds.items()},
        "times_as_long": ratios(seconds, "ours"),
    }


def run(quick: bool = False) -> dict[str, Any]:
    """Both batch sizes, greedy and with beams; `quick` takes few tokens and one round.

    Raises:
        LeftOutError: one of the other libraries is not installed.
    """
    versions = peer_versions("transformers", "ctranslate2")
    model = build_model()
    n_tokens, rounds = (8, 1) if quick else (N_TOKENS, ROUNDS)
    batch_sizes = (1, 4) if quick else BATCH_SIZES
    with limited_threads(1 if quick else THREADS) as threads:
        results = [
            compare(model, batch_size, beam_size, n_tokens, rounds, threads)
            for beam_size in BEAM_SIZES
            for batch_size in batch_sizes
        ]
    return {
        "seed": SEED,
        "model": {**SHAPE, "vocab_size": VOCAB_SIZE},
        "tokens": n_tokens,
        "rounds": rounds,
        "threads": threads,
        "versions": versions,
        "results": results,
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye: tokens per second, and how many times as long the others take."""
    lines = [
        f"Decoding, {result['tokens']} tokens a sentence, float32: tokens per second",
        "(and the others' time over ours: median of the rounds, lowest and highest)",
        *rows(result["results"]),
    ]
    return "\n".join(lines)


def rows(results: list[dict[str, Any]]) -> list[str]:
    """A heading, and one line for each search and batch size."""
    lines = [f"{'search':>8} {'sentences':>9} {'ours':>7} {'Hugging Face':>30} {'CTranslate2':>30}"]
    for r in results:
        kind = "greedy" if r["beam_size"] == 1 else f"beam {r['beam_size']}"
        line = f"{kind:>8} {r['sentences']:>9} {r['tokens_per_second']['ours']:>7,}"
        for name, of in r["times_as_long"].items():
            spread = f"({of['median']:.2f}x, {of['lowest']:.2f} to {of['highest']:.2f})"
            rate = f"{r['tokens_per_second'][name]:,}"
            line += f" {f'{rate} {spread}':>30}"
        lines.append(line)
    return lines
