"""Our searches beside those of Hugging Face and CTranslate2: the same weights, the same outputs."""

import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from measurements.ctranslate2_peer import ctranslate2_translator, vocabulary
from measurements.needs import peer_versions
from measurements.products import products_alone
from measurements.timing import THREADS, SeparateProcess, limited_threads, ratios, time_in_turn
from transformer import Transformer, TransformerConfig
from transformer.decoding import beam_search, greedy_search
from transformer.text import BOS_ID, EOS_ID

from transformer_book.export.hugging_face import hugging_face_model

SHAPE: dict[str, Any] = {"n_layers": 3, "d_model": 256, "d_ff": 1024, "n_heads": 4}
VOCAB_SIZE = 8000
N_TOKENS = 60
BATCH_SIZES = (1, 32)
BEAM_SIZES = (1, 4)
ROUNDS = 5
PAUSE = 0.25  # seconds in which threads that still look for work give up
SEED = 0

LIBRARIES = {"ours": "ours", "hugging_face": "Hugging Face", "ctranslate2": "CTranslate2"}
NAMES = {**LIBRARIES, "products": "products alone"}
Search = Callable[[], list[list[int]]]
Competitors = dict[tuple[str, int], SeparateProcess]  # by name and number of threads


def build_model(**settings: Any) -> Transformer:
    """Random weights: the time does not depend on them, if only no sentence ends early."""
    torch.manual_seed(SEED)
    config = TransformerConfig(VOCAB_SIZE, VOCAB_SIZE, **{**SHAPE, "max_len": 128, **settings})
    model = Transformer(config)
    with torch.no_grad():
        # Padding, both marks and the unknown token have logit 0 then; others have larger ones.
        model.output.weight[:4] = 0
    return model.eval()


# Each library's search, as its documentation says that it is called. `build` is called in a
# process of its own and returns what makes a search ready: (src, beam_size, n_tokens) -> search.


def our_searches(model: Transformer, threads: int, device: str) -> Callable[..., Search]:
    torch.set_num_threads(threads)
    model = model.to(device)

    def prepare(src: Tensor, beam_size: int, n_tokens: int) -> Search:
        limits: dict[str, Any] = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": n_tokens}
        src = src.to(device)

        def search() -> list[list[int]]:
            if beam_size == 1:
                found = greedy_search(model, src, **limits)
            else:
                found = beam_search(model, src, beam_size=beam_size, length_penalty=0.0, **limits)
            return [hypotheses[0].tokens for hypotheses in found]

        return search

    return prepare


def hugging_face_searches(model: Transformer, threads: int, device: str) -> Callable[..., Search]:
    from transformers import GenerationConfig

    torch.set_num_threads(threads)
    other = hugging_face_model(model)
    other.to(device)

    def prepare(src: Tensor, beam_size: int, n_tokens: int) -> Search:
        settings = GenerationConfig(
            max_new_tokens=n_tokens,
            num_beams=beam_size,
            length_penalty=0.0 if beam_size > 1 else None,
            use_cache=True,
            do_sample=False,
            decoder_start_token_id=BOS_ID,
            bos_token_id=BOS_ID,
            eos_token_id=EOS_ID,
            pad_token_id=model.config.pad_id,
        )
        src = src.to(device)
        seen = torch.ones_like(src)

        def search() -> list[list[int]]:
            found = other.generate(src, attention_mask=seen, generation_config=settings)
            return found[:, 1:].tolist()

        return search

    return prepare


def ctranslate2_searches(model: Transformer, threads: int, device: str) -> Callable[..., Search]:
    torch.set_num_threads(1)
    translator = ctranslate2_translator(model, threads, device)
    names = vocabulary(model.config)
    number = {name: i for i, name in enumerate(names)}

    def prepare(src: Tensor, beam_size: int, n_tokens: int) -> Search:
        source = [[names[i] for i in row] for row in src.tolist()]

        def search() -> list[list[int]]:
            found = translator.translate_batch(
                source, beam_size=beam_size, length_penalty=0.0, max_decoding_length=n_tokens
            )
            return [[number[name] for name in result.hypotheses[0]] for result in found]

        return search

    return prepare


BUILD = {
    "ours": our_searches,
    "hugging_face": hugging_face_searches,
    "ctranslate2": ctranslate2_searches,
    "products": products_alone,
}


@torch.no_grad()
def scores(model: Transformer, src: Tensor, outputs: list[list[int]]) -> Tensor:
    """The sum of the log-probabilities of each output, by our model in one pass."""
    tokens = torch.tensor(outputs, device=src.device)
    read = torch.cat([torch.full_like(tokens[:, :1], BOS_ID), tokens[:, :-1]], dim=1)
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
        nats = (scores(model, src, found) - value).abs()
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            if a != b:
                alike[i] = False
                if nats[i] > 1e-3:
                    raise RuntimeError(
                        f"{NAMES[name]} gives sentence {i} another output, {nats[i]:.4f} nats "
                        "away; the times cannot be compared"
                    )
    if sum(alike) < 0.9 * len(alike):
        raise RuntimeError(
            f"only {sum(alike)} of {len(alike)} outputs agree; the times cannot be compared"
        )
    return sum(alike)


@contextmanager
def opened(model: Transformer, threads: int, device: str = "cpu") -> Iterator[Competitors]:
    """Every competitor, with one thread and with `threads`, each in a process of its own."""
    with ExitStack() as stack:
        yield {
            (name, n): stack.enter_context(SeparateProcess(build, model, n, device, threads=n))
            for name, build in BUILD.items()
            for n in sorted({1, threads})
        }


def times_of_searches(
    model: Transformer,
    competitors: Competitors,
    batch_size: int,
    beam_size: int,
    n_tokens: int,
    rounds: int,
) -> dict[str, Any]:
    """The competitors in turn, after they have shown that they do the same.

    More threads are not always faster; each counts with the number that suits it best.
    """
    generator = torch.Generator().manual_seed(SEED)
    size = (batch_size, n_tokens)
    src = torch.randint(4, model.config.src_vocab_size, size, generator=generator)
    outputs = {key: one.prepare(src, beam_size, n_tokens) for key, one in competitors.items()}
    by_name = {name: found for (name, _), found in outputs.items() if name in LIBRARIES}
    same = require_agreement(model, src, by_name, n_tokens)
    every = time_in_turn(competitors, rounds, PAUSE)
    threads = {
        name: min((statistics.median(every[key]), key[1]) for key in every if key[0] == name)[1]
        for name in NAMES
    }
    seconds = {name: every[name, n] for name, n in threads.items()}
    rate = batch_size * n_tokens
    return {
        "sentences": batch_size,
        "beam_size": beam_size,
        "same_tokens": same,
        "threads": threads,
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
    with (
        limited_threads(1 if quick else THREADS) as threads,
        opened(model, threads) as competitors,
    ):
        results = [
            times_of_searches(model, competitors, batch_size, beam_size, n_tokens, rounds)
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
    others = "".join(f" {name:>30}" for key, name in NAMES.items() if key != "ours")
    lines = [f"{'search':>8} {'sentences':>9} {'ours':>7}{others}"]
    for r in results:
        kind = "greedy" if r["beam_size"] == 1 else f"beam {r['beam_size']}"
        line = f"{kind:>8} {r['sentences']:>9} {r['tokens_per_second']['ours']:>7,}"
        for name, of in r["times_as_long"].items():
            spread = f"({of['median']:.2f}x, {of['lowest']:.2f} to {of['highest']:.2f})"
            rate = f"{r['tokens_per_second'][name]:,}"
            line += f" {f'{rate} {spread}':>30}"
        lines.append(line)
    return lines
