"""Measurements run, compare only what does the same, and say what they lack."""

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

import measurements.__main__ as command
from measurements import (
    decoding_cache,
    decoding_peers,
    gpu,
    layer_types,
    needs,
    training_peers,
)
from measurements.ctranslate2_peer import ctranslate2_translator, vocabulary
from measurements.parts import Parts
from measurements.products import products_alone
from measurements.timing import limited_threads, ratios, time_in_turn
from measurements.torch_peer import torch_model
from tests.helpers import PAD, sentences, small_config, small_model
from transformer.compared.flops import training_flops
from transformer.decoding import greedy_search
from transformer.text import BOS_ID, EOS_ID

from transformer_book.export.hugging_face import hugging_face_model

QUICK = sorted(
    set(command.SIDE_BY_SIDE) - {"gpu", "live_model", "playground_speed", "widget_frames"}
)
TINY = {"n_layers": 1, "d_model": 16, "d_ff": 24, "n_heads": 2, "dropout": 0.1}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_peers, "PAUSE", 0.0)
    monkeypatch.setattr(training_peers, "PAUSE", 0.0)


# Each of them --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_each_of_them_runs_prints_a_table_and_is_recorded(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for benchmark in (decoding_cache, decoding_peers):
        monkeypatch.setattr(benchmark, "SHAPE", TINY)
    monkeypatch.setattr(decoding_cache, "N_TOKENS", 10)
    out = tmp_path / "out.json"
    threads = torch.get_num_threads()
    assert command.main([name, "--quick", "--out", str(out)]) == 0
    assert torch.get_num_threads() == threads
    printed = capsys.readouterr()
    assert not printed.err
    lines = printed.out.splitlines()
    recorded = json.loads(out.read_text())[name]
    assert recorded["results"]
    assert len(lines) >= 2 + len(recorded["results"])
    facts = recorded["record"]
    assert facts["command"] == f"python -m measurements {name} --quick --out out.json"
    assert {"commit", "cores", "hardware", "python", "seed", "threads", "versions"} <= set(facts)
    if name.endswith("_peers"):
        assert "transformers" in facts["versions"]


class Counted:
    """A measurement that has nothing to measure."""

    run = staticmethod(lambda quick=False: {"seed": 0, "number": 3, "threads": 5, "hardware": "Z"})
    table = staticmethod(lambda result: f"number {result['number']}")


@pytest.fixture
def counted(clean: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements that end at once, beside the true ones."""
    found = command.import_module
    monkeypatch.setattr(command, "SIDE_BY_SIDE", ["gpu", "one", "other"])
    monkeypatch.setattr(command, "KNOWN", ["gpu", "one", "other", "talks"])
    monkeypatch.setattr(
        command, "import_module", lambda name: found(name) if name.endswith("gpu") else Counted
    )


def test_without_a_gpu_a_sentence_says_so_and_the_others_go_on(
    counted: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    out = tmp_path / "out.json"
    assert command.main(["all", "--out", str(out)]) == 1
    printed = capsys.readouterr()
    assert printed.err == "gpu is left out. There is no CUDA GPU here.\n\n"
    assert "number 3\n  on Z, threads: 5" in printed.out
    recorded = json.loads(out.read_text())
    assert list(recorded) == ["one", "other"]
    assert recorded["one"]["record"]["commit"] == "abc1234"
    assert recorded["one"]["record"]["command"] == "python -m measurements one --out out.json"


def test_a_file_keeps_what_it_holds_of_others(counted: None, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text('{"one": {"number": 1}, "other": {"number": 2}}')
    assert command.main(["other", "--out", str(out)]) == 0
    recorded = json.loads(out.read_text())
    assert {name: result["number"] for name, result in recorded.items()} == {"one": 1, "other": 3}


def test_what_was_measured_before_a_failure_is_kept(
    counted: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Failing(Counted):
        @staticmethod
        def run(quick: bool = False) -> None:
            raise RuntimeError

    modules = {"measurements.one": Counted, "measurements.other": Failing}
    monkeypatch.setattr(command, "import_module", modules.__getitem__)
    with pytest.raises(RuntimeError):
        command.main(["one", "other", "--out", str(tmp_path / "out.json")])
    assert list(json.loads((tmp_path / "out.json").read_text())) == ["one"]


@pytest.mark.parametrize("content", ['{"name": "a model"}', "[1, 2]", "no JSON", ""])
def test_a_file_that_holds_something_else_is_left_alone(
    counted: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str,
) -> None:
    monkeypatch.setattr(Counted, "table", None)  # nothing is measured first
    out = tmp_path / "out.json"
    out.write_text(content)
    assert command.main(["one", "--out", str(out)]) == 1
    assert f"{out} holds something else than measurements" in capsys.readouterr().err
    assert out.read_text() == content


@pytest.mark.parametrize("benchmark", [decoding_peers, training_peers])
def test_a_library_that_is_not_installed_is_named(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise needs.PackageNotFoundError(name)

    monkeypatch.setattr(needs, "version", missing)
    with pytest.raises(needs.LeftOutError, match="no transformers here; pip install transformers"):
        benchmark.run(quick=True)


# Before attention ---------------------------------------------------------------------------


def test_what_is_finished_is_not_computed_again(tmp_path: Path) -> None:
    path, settings = tmp_path / "runs" / "parts.json", {"steps": 2, "seeds": (0, 1)}
    computed: list[str] = []

    def compute(name: str) -> Callable[[], dict[int, str]]:
        return lambda: (computed.append(name), {5: name})[1]

    first = Parts(path, settings)
    assert first("one", compute("one")) == first("one", compute("one")) == {"5": "one"}
    again = Parts(path, settings)
    assert again("one", compute("one")) == {"5": "one"}
    assert again("two", compute("two")) == {"5": "two"}
    assert computed == ["one", "two"]
    other = Parts(path, {**settings, "steps": 3})
    other("one", compute("one"))
    assert computed == ["one", "two", "one"]


# Times --------------------------------------------------------------------------------------


def test_competitors_are_timed_in_turn() -> None:
    called: list[str] = []
    seconds = time_in_turn({n: lambda n=n: called.append(n) for n in "abc"}, rounds=2)
    assert called == list("abcabc")
    assert {name: len(times) for name, times in seconds.items()} == {"a": 2, "b": 2, "c": 2}


def test_a_ratio_is_taken_in_each_round_and_the_median_of_them_counts() -> None:
    # Three rounds, of which the second is slow for both: medians of times would say 3 / 2.
    found = ratios({"ours": [1.0, 10.0, 2.0], "other": [3.0, 20.0, 3.0]}, "ours")
    assert found == {"other": {"median": 2.0, "lowest": 1.5, "highest": 3.0}}


def test_the_number_of_threads_is_put_back_even_after_an_error() -> None:
    before = torch.get_num_threads()
    with pytest.raises(KeyError), limited_threads(1) as threads:
        assert threads == torch.get_num_threads() == 1
        raise KeyError
    assert torch.get_num_threads() == before


# The layers of Table 1 ------------------------------------------------------------------------


def test_an_exponent_is_the_power_that_was_put_in() -> None:
    sizes = [8, 16, 64, 128]
    assert layer_types.exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    # A fixed cost beside it makes growth look slower, the more so the smaller the sizes.
    some = layer_types.exponent(sizes, [n + 20.0 for n in sizes])
    assert some < layer_types.exponent([10 * n for n in sizes], [10 * n + 20.0 for n in sizes]) < 1


@pytest.mark.parametrize(("m", "place"), [(1, 0), (5, 0), (6, 0), (9, 1), (15, 3)])
def test_the_interval_of_a_median_is_that_of_the_sign_test(m: int, place: int) -> None:
    values = [float(i * i) for i in range(m)]
    assert layer_types.median_interval(values[::-1]) == (values[place], values[m - 1 - place])


def test_a_summary_has_the_median_times_and_the_fit_of_each_round() -> None:
    rounds = [[1.0, 1.1, 9.0], [2.0, 2.2, 18.0]]  # the third round was slow throughout
    found = layer_types.summary("length", "recurrent", [10, 20], rounds)
    assert found["seconds"] == [1.1, 2.2]
    assert (found["exponent"], found["interval"]) == (1.0, [1.0, 1.0])


def test_short_calls_are_repeated_until_they_can_be_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, layer_types.AT_LEAST / 4.5])
    monkeypatch.setattr(layer_types.time, "perf_counter", lambda: next(clock))
    called: list[int] = []
    assert layer_types.calls_to_time(lambda: called.append(1)) == 5
    layer_types.repeat(lambda: called.append(1), 3)
    assert len(called) == 5


# The same model in other libraries ------------------------------------------------------------


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_ctranslate2_finds_the_tokens_that_we_find(norm: str) -> None:
    model = small_model(dtype=torch.float32, norm=norm, n_heads=4, tie="none")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
        model.output.weight[:4] = 0
    src = torch.randint(4, 13, (40, 6))
    names = vocabulary(model.config)
    translator = ctranslate2_translator(model, threads=1)
    source = [[names[i] for i in row] for row in src.tolist()]
    found = translator.translate_batch(source, beam_size=1, max_decoding_length=8)
    expected = greedy_search(model, src, bos_id=BOS_ID, eos_id=EOS_ID, max_len=8)
    tokens = [[names.index(name) for name in result.hypotheses[0]] for result in found]
    assert tokens == [hypotheses[0].tokens for hypotheses in expected]
    assert len({tuple(row) for row in tokens}) > 1  # so that agreeing means something


def batch() -> training_peers.Batch:
    src, tgt = sentences([5, 2, 4], seed=1), sentences([3, 6, 1], seed=2)
    return training_peers.Batch(src, tgt, tgt, int((tgt != PAD).sum()))


@pytest.mark.slow
def test_marian_and_torch_compute_our_logits_and_other_weights_are_refused() -> None:
    model = small_model(dtype=torch.float32)
    others = {"torch": torch_model(model), "hugging_face": hugging_face_model(model)}
    training_peers.require_agreement(model, others, batch())
    for name, library in (("torch", "torch"), ("hugging_face", "Hugging Face")):
        changed = next(p for n, p in others[name].named_parameters() if "norm" in n)
        with torch.no_grad():
            changed.add_(0.5)
        with pytest.raises(RuntimeError, match=f"{library} computes other logits"):
            training_peers.require_agreement(model, others, batch())
        with torch.no_grad():
            changed.sub_(0.5)


# Decoding -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def competitors() -> Iterator[decoding_peers.Competitors]:
    """Every search in its process, once for all tests: each imports its library."""
    with decoding_peers.opened(decoding_peers.build_model(**TINY), threads=1) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", [1, 3])
def test_searches_of_all_three_libraries_agree(
    competitors: decoding_peers.Competitors, beam_size: int
) -> None:
    model = decoding_peers.build_model(**TINY)
    compared = decoding_peers.times_of_searches(
        model, competitors, 4, beam_size, n_tokens=6, rounds=2
    )
    assert set(compared["threads"].values()) == {1}
    assert compared["same_tokens"] == 4
    assert set(compared["tokens_per_second"]) == set(decoding_peers.NAMES)
    heading, line = decoding_peers.rows([compared])
    assert len(heading) == len(line)
    assert line.split()[:2] == (["greedy", "4"] if beam_size == 1 else ["beam", "3"])


class Products(TorchDispatchMode):
    """Counts the operations of matrix products as torch's `FlopCounterMode` does.

    That one hangs hooks on all modules, and a search then calls the modules, to be heard.
    """

    flops = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func._overloadpacket not in (torch.ops.aten.mm, torch.ops.aten.addmm):
            with self:
                parts = func.decompose(*args, **(kwargs or {}))
            return func(*args, **(kwargs or {})) if parts is NotImplemented else parts
        result = func(*args, **(kwargs or {}))
        self.flops += flop_registry[func._overloadpacket](*args, **(kwargs or {}), out_val=result)
        return result


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_products_are_those_of_our_search(beam_size: int) -> None:
    model, src = decoding_peers.build_model(**TINY), torch.randint(4, 50, (2, 7))

    def products(make_ready: Any) -> int:
        search = make_ready(model, 1, "cpu")(src, beam_size, 5)
        with Products() as counter:
            search()
        return counter.flops

    assert products(products_alone) == products(decoding_peers.our_searches) > 0


def other_output(tokens: list[list[int]]) -> list[list[int]]:
    return [[(token + 1) % 50 for token in row] for row in tokens]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_output, "Hugging Face gives sentence 0 another output"),
        (lambda tokens: [row[:-1] for row in tokens], "an output ended early"),
    ],
)
def test_searches_that_do_not_agree_are_not_timed(
    change: Callable[[list[list[int]]], list[list[int]]],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = decoding_peers.build_model(**TINY)
    src = torch.randint(4, 50, (3, 5))
    ours = [[5, 6, 7, 8]] * 3
    outputs = {"ours": ours, "hugging_face": change(ours), "ctranslate2": ours}
    with pytest.raises(RuntimeError, match=f"{message}.*times cannot be compared"):
        decoding_peers.require_agreement(model, src, outputs, n_tokens=4)


def test_of_equally_good_outputs_any_may_win_but_not_in_most_sentences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = decoding_peers.build_model(**TINY)
    monkeypatch.setattr(decoding_peers, "scores", lambda *_: torch.zeros(20))
    src = torch.randint(4, 50, (20, 5))
    ours = [[5, 6]] * 20
    for n_other, agreed in ((2, True), (3, False)):
        theirs = other_output(ours[:n_other]) + ours[n_other:]
        outputs = {"ours": ours, "hugging_face": theirs, "ctranslate2": ours}
        if agreed:
            assert decoding_peers.require_agreement(model, src, outputs, 2) == 18
        else:
            with pytest.raises(RuntimeError, match="only 17 of 20 outputs agree"):
                decoding_peers.require_agreement(model, src, outputs, 2)


def test_the_score_of_an_output_is_that_of_the_search() -> None:
    model = decoding_peers.build_model(**TINY)
    src = torch.randint(4, 50, (3, 5))
    found = [h[0] for h in greedy_search(model, src, bos_id=BOS_ID, eos_id=EOS_ID, max_len=4)]
    scores = decoding_peers.scores(model, src, [hypothesis.tokens for hypothesis in found])
    assert scores.tolist() == pytest.approx([h.score for h in found], abs=1e-4)


# Training -----------------------------------------------------------------------------------


def test_both_batchings_hold_the_same_sentences_and_random_order_has_more_padding() -> None:
    _, pairs, _ = training_peers.corpus(quick=True)
    both = training_peers.both_batchings(pairs, 5, 256, PAD)
    assert len(both["grouped"]) == len(both["random"]) == 5
    rows = {
        name: sorted(
            tuple(t for t in (*src, *out) if t != PAD)
            for b in batches
            for src, out in zip(b.src.tolist(), b.tgt_out.tolist(), strict=True)
        )
        for name, batches in both.items()
    }
    assert rows["grouped"] == rows["random"]
    counts = {name: training_peers.real_tokens(batches, PAD) for name, batches in both.items()}
    assert counts["grouped"] == counts["random"] == sum(map(len, rows["grouped"]))
    shares = {n: training_peers.padding_share(batches, PAD) for n, batches in both.items()}
    assert shares["grouped"] < shares["random"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "build"),
    [
        (training_peers.our_loss, lambda model: model),
        (training_peers.torch_loss, torch_model),
        (training_peers.hugging_face_loss, hugging_face_model),
    ],
)
def test_each_loss_falls_and_padding_does_not_count(loss: Any, build: Any) -> None:
    model = build(small_model(dtype=torch.float32))
    b = batch()
    wider = training_peers.Batch(
        *(torch.nn.functional.pad(x, (0, 3), value=PAD) for x in (b.src, b.tgt_in, b.tgt_out)),
        b.n_tokens,
    )
    with torch.no_grad():
        assert float(loss(model, b)) == pytest.approx(float(loss(model, wider)), rel=1e-5)
    train = training_peers.epoch(model, loss, [b] * 10, "bf16")
    first = train()
    assert train() < first


# On a GPU -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "tera"),
    [
        ("NVIDIA H100 80GB HBM3", 989.5),
        ("NVIDIA H100 PCIe", 756.5),
        ("NVIDIA H200", 989.5),
        ("NVIDIA A100-SXM4-80GB", 312.0),
        ("Tesla T4", 65.0),
        ("NVIDIA L4", 121.0),
        ("NVIDIA L40S", None),
        ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", None),
        ("Some GPU", None),
    ],
)
def test_the_peak_is_looked_up_by_the_name_of_the_device(name: str, tera: float | None) -> None:
    assert gpu.peak(name) == (tera and tera * 1e12)


@pytest.mark.parametrize(
    ("bf16", "capability", "precision"),
    [(True, (9, 0), "bf16"), (False, (7, 5), "float16"), (False, (6, 1), None)],
)
def test_a_gpu_is_measured_in_the_16_bits_that_it_has_units_for(
    monkeypatch: pytest.MonkeyPatch, bf16: bool, capability: Any, precision: str | None
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    if precision is None:
        with pytest.raises(needs.LeftOutError, match="has no units for 16 bits"):
            gpu.sixteen_bits(torch.device("cuda"))
    else:
        assert gpu.sixteen_bits(torch.device("cuda")) == precision


def test_the_sentences_of_a_measured_run_have_the_lengths_that_they_are_said_to_have() -> None:
    pairs = gpu.random_pairs(3000, 50)
    lengths = [len(side) for pair in pairs for side in pair]
    assert sum(lengths) / len(lengths) == pytest.approx(gpu.LENGTH, rel=0.05)
    assert len(set(lengths)) > 50
    assert gpu.LENGTH % 8 == 0  # of the measured step: rows of a mask are aligned
    assert all(4 <= token < 50 for pair in pairs[:100] for side in pair for token in side)


def test_what_the_driver_says_is_recorded_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu.device_settings(torch.device("cuda")) == {}
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '570.1, 1980 MHz, 1980 MHz, 700.00 W, Disabled'\n")
    program.chmod(0o755)
    said = gpu.device_settings(torch.device("cuda"))
    assert (said["driver_version"], said["power.limit"]) == ("570.1", "700.00 W")
    assert said["mig.mode.current"] == "Disabled"


def test_a_section_that_fails_leaves_the_others_their_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("no such library")

    for name in ("peers", "decode", "as_the_command_line", "peer_versions"):
        monkeypatch.setattr(gpu, name, fail)
    step = {"model": "compiled", "tokens_per_second": 7, "flops_per_second": 1e12}
    monkeypatch.setattr(gpu, "train", lambda *_, **__: [{**step, "utilisation": None}])
    sizes = {"max_tokens": 200, "n_parts": 1, "rounds": 1, "quick": True}
    result = gpu.measure(small_config(), torch.device("cpu"), "Some GPU", "bf16", **sizes)
    assert result["training"][0]["tokens_per_second"] == 7
    assert result["decoding"] == {"left_out": "no such library"}
    text = gpu.table(result)
    assert text.count("left out: no such library") == 3
    assert "compiled           7" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NVIDIA H200", "Some GPU"])
def test_what_a_gpu_measures_runs_in_small_on_the_processor(
    name: str, competitors: decoding_peers.Competitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding_peers, "SHAPE", TINY)
    monkeypatch.setattr(decoding_peers, "opened", lambda *_: nullcontext(competitors))
    # The checks of shapes do not compile; test_compile_and_export.py compiles without them.
    compiled = []
    monkeypatch.setattr(torch, "compile", lambda m, **how: (compiled.append(how), m)[1])
    result = gpu.measure(
        small_config(dropout=0.1, max_len=256),
        torch.device("cpu"),
        name,
        "bf16",
        max_tokens=200,
        n_parts=2,
        rounds=1,
        quick=True,
        n_tokens=3,
        batch_sizes=(2,),
    )
    assert result["tokens"] == 2 * 8 * gpu.LENGTH
    flops = training_flops(small_config(), 8, gpu.LENGTH, gpu.LENGTH)
    for r in result["training"]:
        assert r["flops_per_second"] * r["seconds"] == pytest.approx(flops)
        known = r["utilisation"] is not None
        assert known == (name == "NVIDIA H200")
    # The same program in the benchmark and in the Trainer: one for all shapes.
    assert compiled == [{"dynamic": True}] * 2
    assert [r["model"] for r in result["runs"]] == ["as written", "compiled"]
    assert all(r["target_tokens_per_second"] > 0 for r in result["runs"])
    text = gpu.table(result)
    assert ("of 990 TFLOP/s" in text) == (name == "NVIDIA H200")
    assert ("no peak known" in text) == (name == "Some GPU")
    assert text.count("Hugging Face") == 3
    assert text.count("greedy") == text.count("beam 4") == 1
