"""How long a reader waits for the model that trains in the page: it is timed from press to end."""

import pytest

from measurements import playground_speed


@pytest.mark.parametrize("engine", playground_speed.ENGINES)
def test_a_run_is_timed_from_the_press_to_its_end(browser, site, engine) -> None:
    case = {"task": "copy", "fast": True, "engine": engine, "slow_down": 1}
    found = playground_speed.measured(browser, site, case, [1, 2], steps=20)
    assert (found["runs"], found["learned"]) == (2, 0)  # 20 steps are not enough
    assert 0 < found["seconds"]["median"] <= found["seconds"]["worst"]
    assert 0 < found["first_press_ms"]["worst"] < 1000 * found["seconds"]["worst"]
    assert 0 < found["frames_apart_ms"]["95 %"] <= found["frames_apart_ms"]["worst"]
    table = playground_speed.table({"chromium": "1", "results": [found]})
    assert f"copy      all it can    {engine:<6}      1   0 of  2" in table


def test_every_task_is_timed_as_it_is_and_slowed_down() -> None:
    cases = list(playground_speed.cases())
    assert len(cases) == 3 * 2 * (len(playground_speed.TASKS) + 1)
    assert {case["slow_down"] for case in cases} == {1, 4, 6}
