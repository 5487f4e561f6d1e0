"""The command line's ledger: which unit may run next, and what became of those that have run.

It holds a lane's plan while the lane runs, and of each ask the answer and the verdict; never messages
or Search replies. Everything it knows of finished units it learns from journal records, through
``apply``, so that a resumed run and an undisturbed one see the same.

A record: ``lane`` (sample id), ``position``, ``kind``, ``state`` (done or failed), ``ask`` but for an
Add, ``code`` when failed, and what its kind brings (``evaluations.engine.run``).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evaluations.engine.journal import BodyRef, Record
from evaluations.engine.plan import CALLS, PlannedStep, PlannedUnit, following, plan_lane
from evaluations.engine.records import DONE, FAILED
from evaluations.engine.spool import LaneInfo, SampleSpool
from evaluations.engine.types import UnitKind


@dataclass(slots=True)
class Job:
    """One unit on its way. ``history`` belongs to the retry rules, ``due`` is a monotonic time."""

    lane: LaneInfo
    unit: PlannedUnit
    history: Any = None
    attempts: int = 0
    due: float = 0.0

    @property
    def kind(self) -> UnitKind:
        return self.unit.kind


@dataclass(slots=True)
class AskState:
    """The records of one ask."""

    search: Record | None = None
    answer: Record | None = None
    judge: Record | None = None

    @property
    def reply(self) -> BodyRef | None:
        """Where the Search's items are stored."""
        return BodyRef(*self.search["body"]) if self.search and "body" in self.search else None

    @property
    def failed_by_search(self) -> str | None:
        """The code of a Search that failed for good: the ask is 0 by the participant's failure."""
        return self.search["code"] if self.search and self.search["state"] == FAILED else None

    @property
    def skips_judge(self) -> bool:
        return self.answer is not None and not self.answer.get("needs_judge", False)


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int


@dataclass(slots=True)
class _Lane:
    info: LaneInfo
    adds_left: int
    asks_left: int
    final: bytearray = field(default_factory=bytearray)  # one byte a unit, by position
    closed_by: str | None = None
    steps: tuple[PlannedStep, ...] = ()  # empty before the lane opens and after its last call
    step: int = 0

    @property
    def calls_left(self) -> int:
        return self.adds_left + self.asks_left

    def is_final(self, unit: PlannedUnit) -> bool:
        return unit.position < len(self.final) and bool(self.final[unit.position])

    def passed(self) -> bool:
        return all(self.is_final(unit) for unit in self.steps[self.step].calls)


class Ledger:
    """Units by kind, ready now or due later. ``judged`` tells which questions can need a judge."""

    def __init__(self, spool: SampleSpool, *, judged: Callable[[str], bool]) -> None:
        self._spool = spool
        self._judged = judged
        self.asks: dict[str, AskState] = {}
        self._lanes = {
            name: _Lane(info, info.size.adds, info.size.asks) for name, info in spool.lanes.items()
        }
        self._unopened: list[tuple[int, int, str]] = []
        self._ready: dict[UnitKind, list[tuple[int, int, int, Job]]] = {kind: [] for kind in UnitKind}
        self._delayed: list[tuple[float, int, int, Job]] = []
        self._done = dict.fromkeys(UnitKind, 0)
        self._in_flight = 0

    def apply(self, record: Record) -> None:
        """Takes one finished unit's record into account; a second one of the same unit changes nothing."""
        lane = self._lanes[record["lane"]]
        if not _mark(lane.final, record["position"]):
            return
        kind = UnitKind(record["kind"])
        self._done[kind] += 1
        if kind is UnitKind.ADD:
            lane.adds_left -= 1
            lane.closed_by = record["code"] if record["state"] == FAILED else lane.closed_by
            return
        lane.asks_left -= kind is UnitKind.SEARCH
        setattr(self.asks.setdefault(record["ask"], AskState()), kind.value, record)

    def closed_by(self, sample: str) -> str | None:
        """The code of the failed Add that closed this lane."""
        return self._lanes[sample].closed_by

    def start(self) -> None:
        """Queues what is open; call it once, after the journal was applied."""
        self._unopened = [(-lane.calls_left, lane.info.order, sample) for sample, lane in self._lanes.items()]
        heapq.heapify(self._unopened)

    def take(self, kind: UnitKind, *, now: float) -> Job | None:
        """The next job of this kind, of the longest remaining lane. None if nothing is ready."""
        while self._delayed and self._delayed[0][0] <= now:
            self._push(heapq.heappop(self._delayed)[3])
        while self._unopened and self._should_open(kind):
            self._open(heapq.heappop(self._unopened)[2])
        if not self._ready[kind]:
            return None
        self._in_flight += 1
        return heapq.heappop(self._ready[kind])[3]

    def take_probe(self, *, now: float) -> Job | None:
        """One call to the service, ready or still waiting: what waits longest first, so that calls rotate."""
        waiting = [entry for entry in self._delayed if entry[3].kind in CALLS]
        if waiting:
            entry = min(waiting)
            self._delayed.remove(entry)
            heapq.heapify(self._delayed)
            self._in_flight += 1
            return entry[3]
        return self.take(UnitKind.ADD, now=now) or self.take(UnitKind.SEARCH, now=now)

    def finish(self, job: Job, record: Record) -> None:
        """The unit is final: what it held up may go on."""
        self._in_flight -= 1
        self.apply(record)
        if job.kind in CALLS:
            self._advance(self._lanes[job.lane.sample])
        self._follow(job.lane, job.unit, record)

    def again(self, job: Job, *, due: float) -> None:
        """Back into the queue; it waits there, not in a slot."""
        self._in_flight -= 1
        job.due = due
        heapq.heappush(self._delayed, (due, job.lane.order, job.unit.position, job))

    def leave_open(self, job: Job) -> None:
        """Neither final nor queued: a later run goes on with it."""
        self._in_flight -= 1

    def next_due(self) -> float | None:
        return self._delayed[0][0] if self._delayed else None

    @property
    def finished(self) -> bool:
        queued = self._unopened or self._delayed or any(self._ready.values())
        return not queued and not self._in_flight

    def progress(self) -> dict[UnitKind, Progress]:
        """By kind. Totals shrink by what a closed lane or a failed Search leaves without work."""
        closed = [lane for lane in self._lanes.values() if lane.closed_by is not None]
        searches = self._spool.asks - sum(lane.asks_left for lane in closed)
        totals = {
            UnitKind.ADD: self._spool.adds - sum(lane.adds_left for lane in closed),
            UnitKind.SEARCH: searches,
            UnitKind.ANSWER: searches - sum(bool(ask.failed_by_search) for ask in self.asks.values()),
            UnitKind.JUDGE: sum(self._judge_units(lane) for lane in self._lanes.values()),
        }
        return {kind: Progress(self._done[kind], total) for kind, total in totals.items()}

    def _judge_units(self, lane: _Lane) -> int:
        asks = [(self.asks.get(ref.ask), ref.question) for ref in lane.info.asks]
        return sum(
            self._judged(question)
            for state, question in asks
            if (
                lane.closed_by is None if state is None else not (state.skips_judge or state.failed_by_search)
            )
        )

    def _should_open(self, kind: UnitKind) -> bool:
        adds = self._ready[UnitKind.ADD]
        if kind is UnitKind.ADD:
            return not adds or self._unopened[0][0] < adds[0][0]
        return not adds and not self._ready[kind]

    def _open(self, sample: str) -> None:
        lane = self._lanes[sample]
        lane.steps = plan_lane(self._spool.load(sample), judged=self._judged)
        for step in lane.steps:
            for unit in step.calls:
                if unit.kind is UnitKind.SEARCH and lane.is_final(unit):
                    self._resume_ask(lane.info, unit)
        self._queue_step(lane)

    def _advance(self, lane: _Lane) -> None:
        if lane.steps and lane.passed():
            lane.step += 1
            self._queue_step(lane)

    def _queue_step(self, lane: _Lane) -> None:
        while lane.step < len(lane.steps) and lane.passed():
            lane.step += 1
        if lane.closed_by is not None or lane.step == len(lane.steps):
            lane.steps, lane.step = (), 0
            return
        for unit in lane.steps[lane.step].calls:
            if not lane.is_final(unit):
                self._push(Job(lane.info, unit))

    def _push(self, job: Job) -> None:
        left = self._lanes[job.lane.sample].calls_left
        heapq.heappush(self._ready[job.kind], (-left, job.lane.order, job.unit.position, job))

    def _follow(self, lane: LaneInfo, unit: PlannedUnit, record: Record) -> None:
        if record["state"] != DONE:
            return
        if unit.kind is UnitKind.SEARCH:
            self._push(Job(lane, following(unit, UnitKind.ANSWER)))
        elif unit.kind is UnitKind.ANSWER and record["needs_judge"]:
            self._push(Job(lane, following(unit, UnitKind.JUDGE)))

    def _resume_ask(self, lane: LaneInfo, search: PlannedUnit) -> None:
        """Queues what an ask whose Search is final still lacks."""
        state = self.asks[str(search.ask)]
        if state.search and not state.answer:
            self._follow(lane, search, state.search)
        elif state.answer and not state.judge:
            self._follow(lane, following(search, UnitKind.ANSWER), state.answer)


def _mark(final: bytearray, position: int) -> bool:
    """Marks the unit as final; False if it was already."""
    final.extend(bytes(max(0, position + 1 - len(final))))
    fresh = not final[position]
    final[position] = 1
    return fresh
