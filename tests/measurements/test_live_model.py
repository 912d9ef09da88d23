"""The race of the page's model: its parts measure what they say."""

from pathlib import Path

import pytest

from measurements import live_model, onnx_peer
from measurements.needs import LeftOutError

from transformer_book.page.model_scripts import rounded_translator
from transformer_book.shipped import shipped_model

TEXTS = ["Zwei Hunde spielen im Schnee.", "Ein Kind lacht."]


@pytest.fixture(scope="module")
def translator():
    return rounded_translator(shipped_model(live_model.MODEL))


def test_ours_translates_as_pytorch_does_and_is_timed(browser, site, translator) -> None:
    live_model.add_page(site)
    found = live_model.race(browser, site, translator, TEXTS, [*live_model.ENGINES], rounds=1)
    assert found["same_sentences"] == {"simd": 2, "plain": 2}
    expected = translator.translate(TEXTS)
    assert found["tokens"] == sum(len(translator.tokenizer.encode(t)) + 1 for t in expected)
    assert [r["slow_down"] for r in found["results"]] == [1, 4]
    for r in found["results"]:
        for times in r["ms_per_token"].values():
            assert 0 < times["simd"] < times["plain"]
        assert r["ours_over_fastest"] == {}
    loads = live_model.loading(browser, site, translator, TEXTS[0], ["simd"], 1)
    assert set(loads["simd"]) == {"wall", "processor", "first_token"}
    assert min(loads["simd"].values()) > 0


def test_other_outputs_than_pytorchs_are_not_timed(browser, site, translator, monkeypatch) -> None:
    live_model.add_page(site)
    monkeypatch.setattr(type(translator), "translate", lambda *_: ["something", "else"])
    with pytest.raises(RuntimeError, match="simd translates otherwise than PyTorch"):
        live_model.race(browser, site, translator, TEXTS, ["simd"], rounds=1)


@pytest.mark.parametrize("engine", live_model.ENGINES)
def test_the_longest_tasks_of_a_reader_are_found(browser, site, engine) -> None:
    found = live_model.blocking(browser, site, engine, 1)
    for phase in ("loading", "answering"):
        assert found[phase]["processor"] > 0
        assert found[phase]["wall"] > 0


def test_only_tasks_of_pages_threads_count() -> None:
    def task(tid: int, ms: int, name: str = live_model.TASK) -> dict[str, object]:
        return {"name": name, "pid": 1, "tid": tid, "dur": 2000 * ms, "tdur": 1000 * ms}

    thread = {"name": "thread_name", "pid": 1, "tid": 7, "args": {"name": "CrRendererMain"}}
    other = {**thread, "tid": 8, "args": {"name": "Compositor"}}
    events = [thread, other, task(7, 3), task(7, 5), task(8, 90), task(7, 80, "Paint")]
    assert live_model.longest_task(events) == {"processor": 5, "wall": 10}


def test_ours_is_compared_with_the_fastest_of_the_others_in_each_round() -> None:
    times = {"simd": [2.0, 4.0, 3.0], "plain": [9.0] * 3}
    times |= {"float32": [2.0, 2.0, 2.0], "int8": [3.0] * 3}
    ratio = live_model.medians_and_ratios({"wall": times})["ours_over_fastest"]["wall"]
    assert ratio == {"median": 1.5, "lowest": 1.0, "highest": 2.0, "is": "float32"}


def test_without_npms_registry_it_is_left_out(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(live_model, "npm", lambda _: 1)
    with pytest.raises(LeftOutError, match="npm did not bring onnxruntime-web"):
        live_model.runtime(tmp_path)


def test_the_table_has_a_line_for_each_competitor_and_each_longest_task() -> None:
    names = [*live_model.ENGINES, *onnx_peer.VARIANTS]
    one = dict.fromkeys(names, 1.5)
    ratio = {"median": 1.25, "lowest": 1.0, "highest": 2.0, "is": "int8"}
    turns = {"ms_per_token": {"processor": one, "wall": one}, "ours_over_fastest": {"wall": ratio}}
    task = {"loading": {"processor": 7.0, "wall": 9.0}, "answering": {"processor": 6, "wall": 8}}
    result = {
        "model": "m", "sentences": 2, "tokens": 9, "same_sentences": dict.fromkeys(names, 2),
        "bytes": {"ours": 6e6, "float32": 3e7, "float16": 2e7, "int8": 1e7},
        "loading": {name: {"processor": 1.0, "wall": 2.0} for name in names},
        "results": [{"slow_down": 1, **turns}, {"slow_down": 4, **turns}],
        "blocking": [live_model.summary([task], engine="simd", slow_down=4)],
    }  # fmt: skip
    text = live_model.table(result)
    assert text.count("1.50 (1.50)") == 2 * len(names)
    assert text.count("ours takes 1.25 times as long as int8 (1.00 to 2.00)") == 2
    assert "longest task, simd, slowed 4: loading 7 (9), answering 6 (8)" in text
