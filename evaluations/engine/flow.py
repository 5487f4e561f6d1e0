"""Flow control of one run as a pure reducer: results in, state out; the driver asks how many calls may start.

Two windows (Add and Search) shrink and grow; one breaker stops the run's claims while the service is
down and lets single calls through as probes; an outage is what a person is told of. contract.md, "Retries".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from evaluations.engine.contract import Limits
from evaluations.engine.types import Operation


@dataclass(frozen=True, slots=True)
class Window:
    """How many calls of one operation may be in flight."""

    most: int  # as declared and accepted
    size: float
    streak: int = 0  # retryable failures in a row, of attempts begun after ``halved_at``
    halved_at: float | None = None
    changed_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """Open: claiming has stopped, and one call at a time is tried."""

    opened_at: float
    next_probe_at: float
    probes: int = 0  # failed ones


@dataclass(frozen=True, slots=True)
class FlowState:
    add: Window
    search: Window
    streak: int = 0  # retryable failures in a row across the run
    breaker: Breaker | None = None
    successes: int = 0  # what ``retry.decide`` wants as ``run_successes``
    last_success_at: float | None = None
    failing_since: float | None = None  # first retryable failure since the last success

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> FlowState:
        breaker = value.get("breaker")
        return cls(
            **{
                **value,
                "add": Window(**value["add"]),
                "search": Window(**value["search"]),
                "breaker": None if breaker is None else Breaker(**breaker),
            }
        )

    @property
    def breaker_open(self) -> bool:
        return self.breaker is not None


def start(*, add: int, search: int, limits: Limits, now: float = 0.0) -> FlowState:
    """The state of a new run; ``add`` and ``search`` are the version's declared concurrency."""
    adds = max(1, min(add, limits.add_concurrency))
    searches = max(1, min(search, limits.search_concurrency))
    return FlowState(
        add=Window(most=adds, size=float(adds), changed_at=now),
        search=Window(most=searches, size=float(searches), changed_at=now),
    )


def on_result(
    state: FlowState,
    *,
    operation: Operation,
    ok: bool,
    retryable: bool,
    began_at: float,
    now: float,
    limits: Limits,
) -> FlowState:
    """The state after one attempt. A failure that is not retryable is the call's own: it changes nothing
    but the time of the next probe."""
    if ok:
        return _on_success(state, operation=operation, began_at=began_at, now=now, limits=limits)
    if not retryable:
        return state
    return _on_failure(state, operation=operation, began_at=began_at, now=now, limits=limits)


def allowance(state: FlowState, *, operation: Operation, in_flight: int, now: float) -> int:
    """How many more calls of ``operation`` may start now.

    ``in_flight`` counts this operation's calls. While the breaker is open it counts both operations',
    of which those begun since ``state.breaker.opened_at`` are enough: a call that hangs from before the
    outage must not keep the probe back. Then the answer is 1 when a probe is due, else 0; the caller
    should rotate through pending calls, also those whose own wait is not over.
    """
    if state.breaker is not None:
        return int(in_flight == 0 and now >= state.breaker.next_probe_at)
    return max(0, math.floor(window(state, operation=operation).size) - in_flight)


def window(state: FlowState, *, operation: Operation) -> Window:
    return state.add if operation is Operation.ADD else state.search


def next_probe_at(state: FlowState) -> float | None:
    """When the open breaker lets a probe through; None while it is closed."""
    return None if state.breaker is None else state.breaker.next_probe_at


def outage(state: FlowState, *, now: float, limits: Limits) -> bool:
    """Whether the run shows as paused: failing without a success for too long. Slow is not failing."""
    return state.failing_since is not None and now - state.failing_since >= limits.outage_after


def outage_over(state: FlowState, *, now: float, limits: Limits) -> bool:
    """Whether a pause has lasted so long that the cycle's policy ends the run."""
    return state.failing_since is not None and now - state.failing_since >= limits.outage_end


def _with_window(state: FlowState, *, operation: Operation, changed: Window) -> FlowState:
    if operation is Operation.ADD:
        return replace(state, add=changed)
    return replace(state, search=changed)


def _on_success(
    state: FlowState, *, operation: Operation, began_at: float, now: float, limits: Limits
) -> FlowState:
    before = window(state, operation=operation)
    state = _with_window(
        state, operation=operation, changed=_grown(before, began_at=began_at, now=now, limits=limits)
    )
    return replace(
        state,
        streak=0,
        breaker=None,
        successes=state.successes + 1,
        last_success_at=now,
        failing_since=None,
    )


def _on_failure(
    state: FlowState, *, operation: Operation, began_at: float, now: float, limits: Limits
) -> FlowState:
    before = window(state, operation=operation)
    state = _with_window(
        state, operation=operation, changed=_shrunk(before, began_at=began_at, now=now, limits=limits)
    )
    streak = state.streak + 1
    return replace(
        state,
        streak=streak,
        failing_since=now if state.failing_since is None else state.failing_since,
        breaker=_breaker(state.breaker, streak=streak, began_at=began_at, now=now, limits=limits),
    )


def _breaker(
    breaker: Breaker | None, *, streak: int, began_at: float, now: float, limits: Limits
) -> Breaker | None:
    if breaker is None:
        if streak < limits.breaker_after:
            return None
        return Breaker(opened_at=now, next_probe_at=now + limits.probe_base)
    # Calls from before the opening end one by one and are no probes: they must not push the next one away.
    if began_at < breaker.opened_at:
        return breaker
    probes = breaker.probes + 1
    wait = min(limits.probe_cap, limits.probe_base * 2.0 ** min(probes, 30))
    return replace(breaker, probes=probes, next_probe_at=now + wait)


def _counts(before: Window, *, began_at: float) -> bool:
    """Attempts begun before the last halving tell of the old, larger window."""
    return before.halved_at is None or began_at >= before.halved_at


def _shrunk(before: Window, *, began_at: float, now: float, limits: Limits) -> Window:
    if not _counts(before, began_at=began_at):
        return before
    streak = before.streak + 1
    if streak < limits.halve_after:
        return replace(before, streak=streak)
    return replace(before, size=max(1.0, before.size / 2), streak=0, halved_at=now, changed_at=now)


def _grown(before: Window, *, began_at: float, now: float, limits: Limits) -> Window:
    """One step at a time: after a long silence the window must not jump back to full."""
    streak = 0 if _counts(before, began_at=began_at) else before.streak
    if before.size >= before.most or now - before.changed_at < limits.regrow_every:
        return replace(before, streak=streak) if streak != before.streak else before
    size = min(float(before.most), max(before.size * limits.regrow_factor, before.size + 1))
    return replace(before, size=size, streak=streak, changed_at=now)


def covered(spans: Iterable[tuple[float, float]], *, grace: float) -> float:
    """Seconds that the spans (start, end) cover together, where each reaches ``grace`` beyond its end.

    The last one's grace is not counted: nothing has been seen of it yet.
    """
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end + grace - max(start, until))
        until = max(until, end + grace)
    return max(0.0, total - grace)
