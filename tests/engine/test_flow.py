"""Windows, breaker and outage of one run, with the clock given."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.engine.contract import Limits
from evaluations.engine.flow import (
    FlowState,
    allowance,
    covered,
    next_probe_at,
    on_result,
    outage,
    outage_over,
    start,
)
from evaluations.engine.types import Operation

LIMITS = Limits()
ADD, SEARCH = Operation.ADD, Operation.SEARCH


def run(
    state: FlowState,
    *results: bool,
    operation: Operation = ADD,
    began_at: float | None = None,
    now: float = 100.0,
    retryable: bool = True,
) -> FlowState:
    for ok in results:
        began = now if began_at is None else began_at
        state = on_result(
            state, operation=operation, ok=ok, retryable=retryable, began_at=began, now=now, limits=LIMITS
        )
    return state


def fresh(add: int = 16, search: int = 32) -> FlowState:
    return start(add=add, search=search, limits=LIMITS)


@pytest.mark.parametrize(("declared", "most"), [(0, 1), (16, 16), (1000, 64)])
def test_a_run_starts_with_what_the_version_declares_within_the_limits(declared: int, most: int) -> None:
    assert allowance(fresh(add=declared), operation=ADD, in_flight=0, now=0.0) == most


def test_the_allowance_is_what_the_window_leaves() -> None:
    assert allowance(fresh(), operation=ADD, in_flight=10, now=0.0) == 6
    assert allowance(fresh(), operation=ADD, in_flight=99, now=0.0) == 0


def test_five_retryable_failures_in_a_row_halve_the_window_of_their_operation() -> None:
    state = run(fresh(), *[False] * 5)
    assert (state.add.size, state.search.size) == (8.0, 32.0)


def test_a_success_between_keeps_the_window() -> None:
    assert run(fresh(), *[False] * 4, True, *[False] * 4).add.size == 16.0


def test_attempts_begun_before_the_halving_do_not_halve_again() -> None:
    state = run(fresh(), *[False] * 5, began_at=99.0)
    state = run(state, *[False] * 20, began_at=99.5, now=101.0)
    assert state.add.size == 8.0


def test_the_window_never_falls_below_one() -> None:
    state = fresh()
    for second in range(100):
        state = run(state, *[False] * 5, now=100.0 + second)
    assert state.add.size == 1.0


def test_the_window_grows_a_step_every_ten_seconds_and_no_further_than_declared() -> None:
    state = run(fresh(), *[False] * 5)
    sizes = []
    for second in range(1, 200):
        state = run(state, True, now=100.0 + second)
        sizes.append(state.add.size)
    assert sizes[8] == 8.0
    assert sizes[9:29:10] == [9.0, 10.0]
    assert sizes[-1] == 16.0


def test_a_large_window_grows_by_a_tenth() -> None:
    state = run(fresh(search=256), *[False] * 5, operation=SEARCH)
    state = run(state, True, operation=SEARCH, now=111.0)
    assert state.search.size == pytest.approx(140.8)


def test_final_failures_change_nothing() -> None:
    assert run(fresh(), *[False] * 50, retryable=False) == fresh()


def test_the_breaker_opens_after_five_failures_across_operations() -> None:
    state = run(fresh(), *[False] * 3)
    state = run(state, *[False] * 2, operation=SEARCH)
    assert state.breaker_open
    assert allowance(state, operation=ADD, in_flight=0, now=100.0) == 0


def test_an_open_breaker_lets_one_probe_through_when_due_and_nothing_is_in_flight() -> None:
    state = run(fresh(), *[False] * 5)
    due = next_probe_at(state)
    assert due == 101.0
    assert allowance(state, operation=ADD, in_flight=0, now=due) == 1
    assert allowance(state, operation=ADD, in_flight=1, now=due) == 0


def test_probes_back_off_to_five_minutes() -> None:
    state = run(fresh(), *[False] * 5)
    waits = []
    for _ in range(12):
        now = next_probe_at(state) or 0.0
        state = run(state, False, now=now)
        waits.append((next_probe_at(state) or 0.0) - now)
    assert waits[:4] == [2.0, 4.0, 8.0, 16.0]
    assert waits[-1] == 300.0


def test_calls_from_before_the_opening_do_not_push_the_probe_away() -> None:
    state = run(fresh(), *[False] * 5)
    assert next_probe_at(run(state, *[False] * 10, began_at=99.0, now=100.5)) == next_probe_at(state)


def test_a_probe_that_succeeds_closes_the_breaker() -> None:
    state = run(run(fresh(), *[False] * 5), True, now=101.0)
    assert not state.breaker_open
    assert allowance(state, operation=ADD, in_flight=0, now=101.0) == 8


def test_an_outage_is_five_minutes_of_failing_without_a_success() -> None:
    state = run(run(fresh(), True, now=50.0), False, now=100.0)
    assert not outage(state, now=399.0, limits=LIMITS)
    assert outage(state, now=400.0, limits=LIMITS)
    assert not outage(run(state, True, now=401.0), now=900.0, limits=LIMITS)


def test_a_slow_service_is_not_in_outage() -> None:
    assert not outage(run(fresh(), True, now=0.0), now=10_000.0, limits=LIMITS)


def test_an_outage_is_over_after_a_day() -> None:
    state = run(fresh(), False, now=0.0)
    assert not outage_over(state, now=86_399.0, limits=LIMITS)
    assert outage_over(state, now=86_400.0, limits=LIMITS)


def test_successes_are_counted_for_the_retry_rule() -> None:
    assert run(fresh(), True, False, True).successes == 2


def test_the_state_survives_json() -> None:
    for state in (fresh(), run(fresh(), True, *[False] * 6)):
        assert FlowState.from_json(json.loads(json.dumps(state.to_json()))) == state


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.floats(0, 100)), max_size=200))
def test_windows_stay_within_one_and_the_declared_size(events: list[tuple[bool, bool, bool, float]]) -> None:
    state, now = fresh(), 0.0
    for adds, ok, retryable, gap in events:
        now += gap
        operation = ADD if adds else SEARCH
        state = run(state, ok, operation=operation, began_at=now - gap / 2, now=now, retryable=retryable)
        assert 1.0 <= state.add.size <= 16.0
        assert 1.0 <= state.search.size <= 32.0
        assert 0 <= allowance(state, operation=operation, in_flight=0, now=now) <= 32


@pytest.mark.parametrize(
    ("spans", "seconds"),
    [
        ([], 0.0),
        ([(0.0, 1.0)], 1.0),
        ([(0.0, 1.0), (5.0, 6.0)], 6.0),
        ([(0.0, 1.0), (100.0, 101.0)], 12.0),
        ([(0.0, 50.0), (10.0, 20.0)], 50.0),
    ],
)
def test_a_long_gap_between_calls_counts_no_more_than_the_grace(
    spans: list[tuple[float, float]], seconds: float
) -> None:
    assert covered(spans, grace=10.0) == seconds
