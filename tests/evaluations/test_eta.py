"""Rate and time left from samples."""

from __future__ import annotations

import pytest

from evaluations.services.eta import Pace, pace_of


def test_one_sample_tells_nothing() -> None:
    assert pace_of([[0, {"add": 3}]], kind="add", left=9) == Pace()


def test_a_steady_rate_has_no_spread() -> None:
    samples = [[10.0 * step, {"add": 20 * step}] for step in range(7)]
    assert pace_of(samples, kind="add", left=100) == Pace(rate=2.0, eta=50.0, low=50.0, high=50.0)


def test_an_uneven_rate_widens_the_estimate() -> None:
    done = [0, 10, 40, 50, 80, 90, 120]
    samples = [[10.0 * step, {"search": count}] for step, count in enumerate(done)]
    pace = pace_of(samples, kind="search", left=100)
    assert pace.rate == pytest.approx(2.0)
    assert pace.low is not None
    assert pace.high is not None
    assert pace.low < 50 < pace.high


def test_standing_still_has_a_rate_of_zero_and_no_end() -> None:
    assert pace_of([[0, {"add": 5}], [60, {"add": 5}]], kind="add", left=9) == Pace(rate=0.0)


def test_a_clock_that_stood_still_divides_by_nothing() -> None:
    assert pace_of([[5, {"add": 5}], [5, {"add": 6}]], kind="add", left=9) == Pace()
