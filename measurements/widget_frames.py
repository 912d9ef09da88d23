"""How long a widget's script keeps the page from drawing, when the reader moves a control.

A page that moves smoothly draws 60 times a second. Each widget stands on a page of its own, as in
the book, with about as much on it as it takes, on a processor slowed down to a quarter.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Browser

from measurements.needs import chromium
from transformer import Transformer, TransformerConfig
from transformer.text import BOS_ID, EOS_ID, WordTokenizer
from transformer.translation import Translator

from transformer_book.page.widget_pages import WidgetSite, widget_site
from transformer_book.widgets import (
    AttentionHeads,
    AttentionStepper,
    BeamExplorer,
    ComplexityExplorer,
    DecoderAtWork,
    LabelSmoothingExplorer,
    MaskExplorer,
    MergeExplorer,
    PositionExplorer,
    ScheduleExplorer,
    SeedsExplorer,
    ShapesExplorer,
    SoftmaxTemperature,
    TrainingPlayground,
)
from transformer_book.widgets.base import Widget
from transformer_book.widgets.self_check import choices

LIMIT_MS = 16  # of the 1/60 s between two frames
SLOW_DOWN = 4
N_STEPS = 40
SEED = 0

# A control sets a trait, and the front end draws in the next frame, or in the next few. What runs
# in one frame counts together; setting the trait counts to the first one. Of each step the
# slowest frame is returned, and how many frames it took.
SCRIPT = """async (place, [trait, values]) => {
  const real = window.requestAnimationFrame;
  let due = 0;
  let frames = new Map();
  window.requestAnimationFrame = (draw) => {
    due += 1;
    return real((time) => {
      const began = performance.now();
      draw(time);
      frames.set(time, (frames.get(time) ?? 0) + performance.now() - began);
      due -= 1;
    });
  };
  const frame = () => new Promise((done) => real(done));
  const steps = [];
  for (const value of values) {
    await frame();
    frames = new Map();
    const began = performance.now();
    place.model.set(trait, value);
    const setting = performance.now() - began;
    while (due > 0) await frame();
    const [first = 0, ...later] = frames.values();
    steps.push([Math.max(setting + first, ...later), frames.size]);
  }
  window.requestAnimationFrame = real;
  return steps;
}"""


@dataclass(frozen=True)
class Case:
    """A widget, and the values that the steps of one of its controls give a trait in turn."""

    content: str
    build: Callable[[], Widget]
    trait: str
    values: tuple[Any, ...]


def example(seed: int, n_layers: int = 6, n_heads: int = 8, n_tokens: int = 64) -> dict[str, Any]:
    """Weights as far from even as those of a trained model, for sentences of `n_tokens`."""
    scores = 3 * np.random.default_rng(seed).normal(size=(n_layers, n_heads, n_tokens, n_tokens))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    source, target = ([f"{side}{i}" for i in range(n_tokens)] for side in "st")
    layers = {f"decoder.{i}.cross": layer for i, layer in enumerate(weights)}
    return {"source": source, "target": target, "weights": layers}


def masks() -> Widget:
    sentences = [[f"w{i}" for i in range(64)]] * 2
    return MaskExplorer(sentences, sentences)


def stepper() -> Widget:
    return AttentionStepper(tokens=[f"token{i}" for i in range(12)], step=6, d_k=128)


def positions(view: str, size: int) -> Callable[[], Widget]:
    return lambda: PositionExplorer(view=view, d_model=size, length=size)


def heads(view: str) -> Callable[[], Widget]:
    examples = [example(SEED), example(SEED + 1)]
    return lambda: AttentionHeads(examples, kind="cross", view=view)


def smoothing() -> Widget:
    return LabelSmoothingExplorer(vocab_size=20)


def temperature() -> Widget:
    return SoftmaxTemperature(scores=[(f"token{i}", i / 2) for i in range(8)])


def question() -> Widget:
    options = {f"an answer of some words, {i}": "and a reason of some more" for i in range(8)}
    return choices("Which is it?", right={"this one": "so it is"}, wrong=options)


def merges() -> Widget:
    return MergeExplorer({f"Donaudampfschiff{i:04}": i + 1 for i in range(12)}, step=20)


def untrained(n_heads: int, n_layers: int, max_len: int) -> Translator:
    """Random weights: a search fills its beam, and an output ends late or never."""
    torch.manual_seed(SEED)
    tokenizer = WordTokenizer([*"abcdefghijklmnopqrstuvwxyz"])
    size = tokenizer.vocab_size
    config = TransformerConfig(
        size, size, d_model=16, d_ff=24, n_heads=n_heads, n_layers=n_layers, max_len=max_len
    )
    return Translator(Transformer(config).eval(), tokenizer)


def beams() -> Widget:
    translator = untrained(n_heads=2, n_layers=2, max_len=32)
    sentences = ["a b c d e f g h"]
    return BeamExplorer(translator, sentences, bos_id=BOS_ID, eos_id=EOS_ID, beam_sizes=[4, 8])


def decoder(view: str) -> Callable[[], Widget]:
    translator = untrained(n_heads=4, n_layers=3, max_len=64)
    return lambda: DecoderAtWork(translator, ["a b c d " * 7] * 2, beside=True, view=view)


def cases() -> Iterator[Case]:
    """What is measured."""
    lengths = tuple([n, 64] for n in range(60, 20, -1))
    yield Case("64 x 64 cells", masks, "target_lengths", lengths)
    for trait, values in (("d_k", (64, 128)), ("row", (11, 0)), ("step", (5, 6))):
        yield Case("12 tokens", stepper, trait, values)
    yield Case("table, 64 x 64", positions("table", 64), "position", (3, 4))
    yield Case("table, 128 x 128", positions("table", 128), "position", (3, 4))
    yield Case("table, 128 x 128", positions("table", 128), "length", (127, 128))
    yield Case("rotation, width 128", positions("rotation", 128), "offset", (4, 5))
    for view in ("matrix", "lines"):
        for trait in ("head", "example"):
            yield Case(f"48 heads, 64 x 64, {view}", heads(view), trait, (1, 0))
    yield Case("base model", ShapesExplorer, "batch", (3, 4))
    yield Case("3 curves", ScheduleExplorer, "warmup", (3000, 3100))
    yield Case("100 experiments", SeedsExplorer, "effect", (0.2, 0.21))
    yield Case("100 experiments", SeedsExplorer, "n", (49, 50))
    yield Case("20 words", smoothing, "smoothing", (0.2, 0.25))
    yield Case("4 curves", ComplexityExplorer, "d", (256, 320))
    yield Case("8 tokens", temperature, "temperature", (2.0, 2.1))
    yield Case("9 answers", question, "given", ([0], [1]))
    yield Case("12 words of 20 letters", merges, "step", (21, 22))
    steps: dict[str, tuple[float, float]]
    steps = {"step": (6, 5), "alpha": (0.7, 0.6), "beam_size": (4, 8)}
    for trait, two in steps.items():
        yield Case("up to 8 prefixes", beams, trait, two)
    yield Case("2 heads", TrainingPlayground, "attention", ("encoder", "decoder"))
    for view in ("lines", "matrix"):
        yield Case(f"two of 28 tokens, {view}", decoder(view), "step", (30, 31))


def measure(case: Case, site: WidgetSite, browser: Browser, n_steps: int) -> dict[str, Any]:
    """Moves the control step by step."""
    widget = case.build()
    opened = site.open(browser, widget)
    session = opened.page.context.new_cdp_session(opened.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOW_DOWN})
    values = [case.values[i % len(case.values)] for i in range(n_steps)]
    steps = opened.widget.evaluate(SCRIPT, [case.trait, values])
    opened.page.context.close()
    name = type(widget).__mro__[1].__name__  # anywidget derives a class anew for each object
    if opened.complaints:
        raise RuntimeError(f"{name} complained: {'; '.join(opened.complaints)}")
    if not all(frames for _, frames in steps):
        raise RuntimeError(f"{name} draws nothing when {case.trait} changes; there is no time")
    times = [milliseconds for milliseconds, _ in steps]
    return {
        "widget": name,
        "content": case.content,
        "control": case.trait,
        "steps": len(steps),
        "frames_per_step": max(frames for _, frames in steps),
        "median_ms": round(statistics.median(times), 1),
        "quickest_ms": round(min(times), 1),
    }


def measure_all(site: WidgetSite, browser: Browser, n_steps: int) -> dict[str, Any]:
    """Every case in turn, and under which conditions."""
    return {
        "seed": SEED,
        "chromium": browser.version,
        "slow_down": SLOW_DOWN,
        "limit_ms": LIMIT_MS,
        "results": [measure(case, site, browser, n_steps) for case in cases()],
    }


def run(quick: bool = False) -> dict[str, Any]:
    """All widgets; `quick` makes one step of each, to see that it runs."""
    with (
        tempfile.TemporaryDirectory() as folder,
        widget_site(Path(folder)) as site,
        chromium() as browser,
    ):
        return measure_all(site, browser, 1 if quick else N_STEPS)


def table(result: dict[str, Any]) -> str:
    """The results for the eye, with a word where the median is beyond the limit."""
    lines = [
        f"Milliseconds of script in the slowest frame that a control's step causes, "
        f"{result['slow_down']} times slowed down",
        f"(of the 1/60 s between two frames a widget may take {result['limit_ms']} ms)",
        f"{'widget':<22} {'content':<25} {'control':<14} "
        f"{'frames':>6} {'median':>6} {'quickest':>8}",
    ]
    for r in result["results"]:
        over = "  over the limit" if r["median_ms"] > result["limit_ms"] else ""
        lines.append(
            f"{r['widget']:<22} {r['content']:<25} {r['control']:<14} "
            f"{r['frames_per_step']:>6} {r['median_ms']:>6.1f} {r['quickest_ms']:>8.1f}{over}"
        )
    lines.append(f"  Chromium {result['chromium']}")
    return "\n".join(lines)
