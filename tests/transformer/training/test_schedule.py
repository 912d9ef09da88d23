"""The learning rate: equation 3, its shape, and where counting begins."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.training import linear_cooldown, noam_rate

steps = st.integers(1, 10**6)
widths = st.integers(1, 4096)
warmups = st.integers(1, 20_000)
factors = st.floats(0.01, 10.0)


@given(steps, widths, warmups, factors)
def test_is_equation_3(step, d_model, warmup, factor):
    rate = noam_rate(step, d_model, warmup, factor)
    written_out = factor / math.sqrt(d_model) * min(1 / math.sqrt(step), step / warmup**1.5)
    assert rate == pytest.approx(written_out, rel=1e-12)
    assert rate > 0


def test_the_base_models_peak_by_hand():
    # 512^-0.5 * 4000^-0.5 = 1 / sqrt(2,048,000)
    assert noam_rate(4000, 512, 4000) == pytest.approx(1 / math.sqrt(2_048_000), rel=1e-12)
    assert noam_rate(1, 512, 4000) == pytest.approx(noam_rate(4000, 512, 4000) / 4000, rel=1e-12)


@given(widths, warmups)
def test_is_largest_at_the_last_step_of_warmup(d_model, warmup):
    peak = noam_rate(warmup, d_model, warmup)
    assert peak > noam_rate(warmup + 1, d_model, warmup)
    if warmup > 1:
        assert peak > noam_rate(warmup - 1, d_model, warmup)


@given(widths, warmups)
def test_both_branches_meet_at_the_peak(d_model, warmup):
    peak = noam_rate(warmup, d_model, warmup)
    assert peak == pytest.approx(d_model**-0.5 * warmup**-0.5, rel=1e-12)
    assert peak == pytest.approx(d_model**-0.5 * warmup * warmup**-1.5, rel=1e-12)


@given(st.integers(1, 1000), widths, st.integers(1000, 20_000))
def test_climbs_in_equal_steps_during_warmup(step, d_model, warmup):
    rate = noam_rate(step, d_model, warmup)
    assert rate == pytest.approx(step * noam_rate(1, d_model, warmup), rel=1e-12)


@given(st.integers(1, 10**5), widths, warmups)
def test_four_times_the_steps_halve_the_rate_after_warmup(extra, d_model, warmup):
    step = warmup + extra
    quarter = noam_rate(4 * step, d_model, warmup)
    assert quarter == pytest.approx(noam_rate(step, d_model, warmup) / 2, rel=1e-12)


@pytest.mark.parametrize("step", [0, -1])
def test_there_is_no_step_before_the_first(step):
    with pytest.raises(ValueError, match=rf"step \({step}\) must be at least 1"):
        noam_rate(step, 512, 4000)


@pytest.mark.parametrize(("d_model", "warmup", "name"), [(0, 4000, "d_model"), (512, 0, "warmup")])
def test_sizes_below_1_are_errors(d_model, warmup, name):
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
        noam_rate(1, d_model, warmup)


@given(st.integers(1, 300), st.floats(0.01, 1.0))
def test_the_cooldown_falls_in_equal_steps_to_the_last_one(n, share):
    shares = [linear_cooldown(step, n, share) for step in range(1, n + 1)]
    plain, cooling = shares[: int(n * (1 - share))], shares[int(n * (1 - share)) + 1 :]
    assert set(plain) <= {1.0}
    assert shares[-1] == pytest.approx(min(1.0, 1 / (n * share)))
    for before, after in pairwise(cooling):
        assert before - after == pytest.approx(1 / (n * share))


def test_without_cooldown_the_rate_is_the_papers():
    assert {linear_cooldown(step, 50, 0.0) for step in range(1, 51)} == {1.0}
