"""Before attention: one vector for a sentence, a look back at every word, and the Transformer.

Three models with equally many parameters. How long a sequence can each give back, how long does a
step of training take, and where do the two that look back look?
"""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.timing import limited_threads, time_in_turn
from transformer import Transformer, TransformerConfig
from transformer.batching import TokenPair, make_batch, pad, token_batches
from transformer.data.copy_task import CopyTask
from transformer.data.toy_german import SentencePair, ToyGerman, toy_german, vocabulary
from transformer.decoding import greedy_search
from transformer.files import write_atomically
from transformer.head_measures import cut_padding, diagonal_links
from transformer.introspect import mass_on, record_attention
from transformer.results import compact_json
from transformer.seq2seq import EncoderDecoder, Seq2Seq, width_for
from transformer.text import BOS, BOS_ID, EOS, EOS_ID, PAD_ID, WordTokenizer
from transformer.training import Trainer, TrainingConfig, label_smoothing_loss

SEEDS = (0, 1, 2)
MODELS = ("fixed vector", "attention", "transformer")
MARKS = {"bos_id": BOS_ID, "eos_id": EOS_ID, "pad_id": PAD_ID}
PARTS = Path("runs", "before_attention.json")  # what is finished, for a run that was interrupted

COPYING = CopyTask(n_symbols=10, min_length=1, max_length=40)
COPYING_LENGTHS = tuple(range(5, 41, 5))
N_SEQUENCES = 200  # of each length
MAX_TOKENS = 1024  # of a step
RECIPE = {"max_tokens": MAX_TOKENS, "warmup": 200, "cooldown": 0.5, "clip": 1.0}
STEPS = 1500
# Each architecture has the learning rate that serves it best: the same search for all, with a seed
# that is not used again. No sequence comes twice, so that the last loss is that of unseen ones.
FACTORS = (0.25, 0.5, 1.0)
SEARCH_STEPS, SEARCH_SEED = 500, 100

TIMED_LENGTHS = (4, 8, 16, 32, 64, 128, 256)
TIMED_TOKENS = 1024  # of a step, cut into sequences of each length
ROUNDS = 15

TOY_PAIRS, TOY_STEPS, TOY_SENTENCES = 90_000, 1000, 200
LOOKING = MODELS[1:]


# The models ---------------------------------------------------------------------------------


def build(name: str, vocab_size: int, seed: int) -> EncoderDecoder:
    """A fresh model; the recurrent ones have as many parameters as the Transformer."""
    sizes = {"src_vocab_size": vocab_size, "tgt_vocab_size": vocab_size, "dropout": 0.0}
    torch.manual_seed(seed)
    transformer = Transformer(TransformerConfig.tiny(**sizes))
    if name == "transformer":
        return transformer
    config = width_for(transformer.n_parameters(), attention=name == "attention", **sizes)
    torch.manual_seed(seed)
    return Seq2Seq(config)


def trained(
    name: str, pairs: Sequence[TokenPair], vocab_size: int, seed: int, **settings: Any
) -> tuple[EncoderDecoder, dict[str, Any]]:
    """A model after its training, with its last loss and the seconds that it took."""
    model = build(name, vocab_size, seed)
    training = TrainingConfig(**{**RECIPE, "seed": seed, **settings})
    trainer = Trainer(model, pairs, training, device="cpu", show_progress=False)
    last = trainer.train()[-1]
    return model, {"loss": round(last["loss"], 4), "seconds": round(last["seconds"], 1)}


def n_exact(model: EncoderDecoder, pairs: Sequence[TokenPair], extra: int = 1) -> int:
    """How many of the targets greedy search writes whole, and then stops.

    Args:
        extra: how many tokens more than the longest target has the search may write.
    """
    count = 0
    for group in token_batches(pairs, max_tokens=8192):
        src = pad([[*pairs[i][0], EOS_ID] for i in group], PAD_ID)
        longest = max(len(pairs[i][1]) for i in group)
        found = greedy_search(model, src, bos_id=BOS_ID, eos_id=EOS_ID, max_len=longest + extra)
        count += sum(h[0].tokens == list(pairs[i][1]) for i, h in zip(group, found, strict=True))
    return count


# Copying ------------------------------------------------------------------------------------


def n_pairs(steps: int) -> int:
    """More than are read in so many steps: no sequence of training comes twice."""
    return 3 * steps * MAX_TOKENS // COPYING.max_length


def search(name: str, factor: float, steps: int) -> dict[str, Any]:
    """A short training with one learning rate."""
    pairs = COPYING.pairs(n_pairs(steps), SEARCH_SEED)
    settings = {"steps": steps, "factor": factor}
    _, report = trained(name, pairs, COPYING.vocab_size, SEARCH_SEED, **settings)
    return {"model": name, "factor": factor, **report}


def copying(name: str, seed: int, factor: float, steps: int, n: int) -> dict[str, Any]:
    """Train, and count for each length how many of n unseen sequences are copied whole."""
    pairs = COPYING.pairs(n_pairs(steps), seed)
    model, report = trained(name, pairs, COPYING.vocab_size, seed, steps=steps, factor=factor)
    exact = {
        length: n_exact(model, CopyTask(COPYING.n_symbols, length, length).pairs(n, -1 - seed))
        for length in COPYING_LENGTHS
    }
    return {"model": name, "seed": seed, "factor": factor, "exact": exact, **report}


# Seconds ------------------------------------------------------------------------------------


def seconds(lengths: Sequence[int], rounds: int) -> dict[str, dict[str, Any]]:
    """Forward and backward pass over equally many tokens, in sequences of each length.

    All models and lengths take turns. The ratio to the shortest length is taken in each round.
    """
    with limited_threads(1):
        steps = {
            (name, length): _step(build(name, COPYING.vocab_size, 0), length)
            for name in MODELS
            for length in lengths
        }
        time_in_turn(steps, 1)  # the first call of each is slower
        times = time_in_turn(steps, rounds)
    found: dict[str, dict[str, Any]] = {}
    for name in MODELS:
        first = times[name, lengths[0]]
        ratios = {
            length: sorted(a / b for a, b in zip(times[name, length], first, strict=True))
            for length in lengths
        }
        found[name] = {
            "milliseconds": {
                length: round(1e3 * statistics.median(times[name, length]), 2) for length in lengths
            },
            "ratio": {n: round(statistics.median(r), 3) for n, r in ratios.items()},
            "lowest": {n: round(r[0], 3) for n, r in ratios.items()},
            "highest": {n: round(r[-1], 3) for n, r in ratios.items()},
        }
    return found


def _step(model: EncoderDecoder, length: int) -> Callable[[], None]:
    # The marks are tokens too: they make the last place of each sequence.
    task = CopyTask(COPYING.n_symbols, length - 1, length - 1)
    batch = make_batch(task.pairs(TIMED_TOKENS // length, 0), **MARKS)

    def step() -> None:
        model.zero_grad()
        loss, n = label_smoothing_loss(model(batch.src, batch.tgt_in), batch.tgt_out, 0.1, PAD_ID)
        (loss / n).backward()

    return step


# Alignments ---------------------------------------------------------------------------------

Weights = dict[str, torch.Tensor]  # name of an attention -> (heads, query, key)


def looks(model: EncoderDecoder, pair: TokenPair) -> Weights:
    """The weights on the source when the model reads the target; row t predicts word t."""
    batch = make_batch([pair], **MARKS)
    if isinstance(model, Seq2Seq):
        return {"additive": model.alignment(batch.src, batch.tgt_in)}
    with torch.no_grad(), record_attention(model) as recorded:
        model(batch.src, batch.tgt_in)
    lengths = [batch.tgt_in.size(1)], [batch.src.size(1)]
    return {
        name: cut_padding(weights, *lengths)[0]
        for name, weights in recorded.items()
        if name.endswith(".cross")
    }


def links_of(pair: SentencePair) -> set[tuple[int, int]]:
    """The true (target, source) links."""
    return {(t, s) for s, t in pair.alignment}


def agreement(weights: torch.Tensor, links: set[tuple[int, int]]) -> list[list[float]]:
    """For each head: the weight on the true links, and the share of words whose favourite is true.

    Only words that have a link count; the favourite may be the end mark, which is never true.
    """
    linked = sorted({t for t, _ in links})
    favourites = weights.argmax(-1)
    hits = [sum((t, row[t]) in links for t in linked) / len(linked) for row in favourites.tolist()]
    return [mass_on(weights, links).tolist(), hits]


def mean(rows: Sequence[Sequence[float]]) -> list[float]:
    """The mean of each column, to four digits."""
    return [round(statistics.fmean(column), 4) for column in zip(*rows, strict=True)]


def judge(
    found: Sequence[Mapping[str, torch.Tensor]], pairs: Sequence[SentencePair]
) -> dict[str, dict[str, list[float]]]:
    """Weight on the true links and share of true favourites, the mean over sentences.

    Per attention a list with a number for each head.
    """
    result = {}
    for name in found[0]:
        each = [agreement(w[name], links_of(p)) for w, p in zip(found, pairs, strict=True)]
        weight, hits = (mean([part[k] for part in each]) for k in (0, 1))
        result[name] = {"weight": weight, "hits": hits}
    return result


def baselines(pairs: Sequence[SentencePair]) -> dict[str, float]:
    """Weight of one who looks everywhere alike, hits of one who looks along the diagonal."""
    even, hits = [], []
    for pair in pairs:
        links, n, m = links_of(pair), len(pair.target), len(pair.source)
        even.append(mass_on(torch.full((1, n + 1, m + 1), 1 / (m + 1)), links).item())
        linked = {t for t, _ in links}
        hits.append(len(diagonal_links(n, m) & links) / len(linked))
    return {
        "uniform weight": round(statistics.fmean(even), 4),
        "diagonal hits": round(statistics.fmean(hits), 4),
    }


def example_of(corpus: ToyGerman) -> SentencePair:
    """By rule: the first test sentence of at most nine words with a perfect and an adjective."""
    return next(
        pair
        for pair in corpus.test_combinations
        if {"perfect", "adjective"} <= pair.features and len(pair.source) <= 9
    )


def aligned(
    name: str, seed: int, factor: float, steps: int, corpus: ToyGerman, n: int
) -> dict[str, Any]:
    """Train on toy German, and hold where the model looks against the true links."""
    german, english = vocabulary()
    tokenizer = WordTokenizer([*german, *english])

    def ids(pair: SentencePair) -> TokenPair:
        return tokenizer.ids(pair.source), tokenizer.ids(pair.target)

    pairs, size = [ids(pair) for pair in corpus.train], tokenizer.vocab_size
    model, report = trained(name, pairs, size, seed, steps=steps, factor=factor)
    splits = {"valid": corpus.valid[:n], "test": corpus.test_combinations[:n]}
    judged = {
        split: judge([looks(model, ids(pair)) for pair in chosen], chosen)
        for split, chosen in splits.items()
    }
    example = example_of(corpus)
    weights = {
        attention: [[[round(x, 3) for x in row] for row in head] for head in w.tolist()]
        for attention, w in looks(model, ids(example)).items()
    }
    return {
        "model": name,
        "seed": seed,
        "parameters": model.n_parameters(),
        **report,
        "exact": n_exact(model, [ids(pair) for pair in corpus.test_combinations], extra=5),
        **judged,
        **({"example": weights} if seed == SEEDS[0] else {}),
    }


# All of it ----------------------------------------------------------------------------------


class Parts:
    """Finished parts of the benchmark, each written at once, so that a long run can go on."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self.path, self.settings = path, json.loads(json.dumps(settings))
        self.done: dict[str, Any] = {}
        if path is not None and path.exists():
            before = json.loads(path.read_text())
            # Parts of another recipe are of no use.
            self.done = before["parts"] if before["settings"] == self.settings else {}

    def __call__(self, name: str, compute: Callable[[], Any]) -> Any:
        """What was computed under this name, now or before."""
        if name not in self.done:
            self.done[name] = json.loads(json.dumps(compute()))
            if self.path is not None:
                self.path.parent.mkdir(exist_ok=True)
                text = compact_json({"settings": self.settings, "parts": self.done})
                write_atomically(self.path, text.encode())
                print(f"{name} is done", flush=True)
        return self.done[name]


def settings_of(quick: bool) -> dict[str, Any]:
    """The sizes of everything."""
    if quick:
        sizes = {"steps": 2, "search_steps": 2, "toy_steps": 2, "toy_pairs": 3000, "sequences": 2}
        return {**sizes, "toy_sentences": 3, "rounds": 1, "seeds": SEEDS[:1], "recipe": RECIPE}
    sizes = {"steps": STEPS, "search_steps": SEARCH_STEPS, "toy_steps": TOY_STEPS}
    sizes |= {"toy_pairs": TOY_PAIRS, "sequences": N_SEQUENCES, "toy_sentences": TOY_SENTENCES}
    return {**sizes, "rounds": ROUNDS, "seeds": SEEDS, "recipe": RECIPE}


def run(quick: bool = False, path: Path | None = PARTS) -> dict[str, Any]:
    """All three measurements; `quick` only sees that they run.

    Args:
        path: where finished parts are kept; a run that was interrupted goes on from there.
    """
    sizes = settings_of(quick)
    part = Parts(None if quick else path, sizes)
    with limited_threads(1) as threads:
        searched = [
            part(f"search {name} {f}", partial(search, name, f, sizes["search_steps"]))
            for name in MODELS
            for f in (FACTORS[:1] if quick else FACTORS)
        ]
        best = {
            name: min((s for s in searched if s["model"] == name), key=lambda s: s["loss"])
            for name in MODELS
        }
        factors = {name: found["factor"] for name, found in best.items()}
        copied = [
            part(
                f"copying {name} {seed}",
                partial(copying, name, seed, factors[name], sizes["steps"], sizes["sequences"]),
            )
            for seed in sizes["seeds"]
            for name in MODELS
        ]
        n = sizes["toy_sentences"]
        corpus = toy_german(sizes["toy_pairs"], max(n, 20), 5 * max(n, 20))
        alignments = [
            part(
                f"alignment {name} {seed}",
                partial(aligned, name, seed, factors[name], sizes["toy_steps"], corpus, n),
            )
            for seed in sizes["seeds"]
            for name in LOOKING
        ]
        lengths = TIMED_LENGTHS[:2] if quick else TIMED_LENGTHS
        timed = part("seconds", lambda: seconds(lengths, sizes["rounds"]))
    example, tests = example_of(corpus), corpus.test_combinations
    models = {name: build(name, COPYING.vocab_size, 0) for name in MODELS}
    return {
        "seed": SEEDS[0],
        "threads": threads,
        "parameters": {name: model.n_parameters() for name, model in models.items()},
        "models": {name: model.config.to_dict() for name, model in models.items()},
        "task": asdict(COPYING),
        "sequences": sizes["sequences"],
        "recipe": RECIPE,
        "steps": sizes["steps"],
        "tokens": sizes["steps"] * RECIPE["max_tokens"],
        "search": searched,
        "results": copied,
        "seconds": {"tokens": TIMED_TOKENS, "rounds": sizes["rounds"], **timed},
        "toy_german": {
            "steps": sizes["toy_steps"],
            "sentences": n,
            "test": len(tests),
            **baselines(tests[:n]),
            "source": [*example.source, EOS],
            "target": [BOS, *example.target],
            "links": sorted(links_of(example)),
            "runs": alignments,
        },
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    lines = [
        f"Copied whole, of {result['sequences']} unseen sequences of each length",
        f"{'model':>13} {'seed':>5} "
        + " ".join(f"{n:>5}" for n in COPYING_LENGTHS)
        + "   training",
    ]
    for r in result["results"]:
        counts = " ".join(f"{count:>5}" for count in r["exact"].values())
        lines.append(f"{r['model']:>13} {r['seed']:>5} {counts} {r['seconds']:>8.0f} s")
    for name in MODELS:
        ratios = result["seconds"][name]["ratio"].items()
        lines.append(f"{name:>13}, seconds: " + ", ".join(f"{n}: {r:.2f}" for n, r in ratios))
    for r in result["toy_german"]["runs"]:
        hits = max(max(attention["hits"]) for attention in r["test"].values())
        lines.append(f"{r['model']:>13} {r['seed']:>5} best aligned: {hits:.1%}")
    return "\n".join(lines)
