"""A sample becomes a lane: ordered steps of units.

Each Add is a step of its own; consecutive asks form one step, and each ask has a Search, an answer and
a judge unit. What may run when:

- ``add`` and ``search``: every ``add`` and ``search`` of the lane's earlier steps is final (done,
  failed or skipped). Answers and judgements never hold a lane up.
- ``answer``: the Search of its ask is done.
- ``judge``: the answer of its ask is done, and ``needs_judge`` says that a verdict is missing;
  otherwise the unit is skipped.

The command line keeps this in memory, the platform makes its Lane and Unit rows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from benchmarks.types import Event, Sample
from evaluations.engine.types import UnitKind

CALLS = frozenset({UnitKind.ADD, UnitKind.SEARCH})  # go to the participant's service
MODEL_CALLS = frozenset({UnitKind.ANSWER, UnitKind.JUDGE})  # go to a provider


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """One call. ``position`` counts within the lane and is unique there; ``event`` indexes the
    sample's events; ``ask`` and ``question`` are None for an Add."""

    kind: UnitKind
    position: int
    step: int
    event: int
    ask: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """Units that may run side by side, but for the order inside one ask."""

    index: int
    units: tuple[PlannedUnit, ...]

    @property
    def calls(self) -> tuple[PlannedUnit, ...]:
        """The units that must be final before the next step begins."""
        return tuple(unit for unit in self.units if unit.kind in CALLS)


@dataclass(frozen=True, slots=True)
class LaneSize:
    """What a lane holds, for totals and for the order of lanes."""

    adds: int
    asks: int

    @property
    def chain(self) -> int:
        """Calls to the service: the measure of "longest remaining lane first"."""
        return self.adds + self.asks


def plan_lane(
    sample: Sample, *, judged: Callable[[str], bool] = lambda _question: True
) -> tuple[PlannedStep, ...]:
    """The sample's steps in order; ``judged`` tells which questions can need a judge at all."""
    steps: list[PlannedStep] = []
    position = 0
    for index, events in enumerate(_step_events(sample)):
        units: list[PlannedUnit] = []
        for number, event in events:
            made = tuple(_units(event, event_index=number, step=index, first=position, judged=judged))
            position += len(made)
            units.extend(made)
        steps.append(PlannedStep(index, tuple(units)))
    return tuple(steps)


def following(unit: PlannedUnit, kind: UnitKind) -> PlannedUnit:
    """The unit that comes next for the same ask: the answer after its Search, the judge after that."""
    return replace(unit, kind=kind, position=unit.position + 1)


def lane_size(sample: Sample) -> LaneSize:
    adds = sum(event.add is not None for event in sample.events)
    return LaneSize(adds=adds, asks=len(sample.events) - adds)


def _step_events(sample: Sample) -> Iterator[list[tuple[int, Event]]]:
    numbered = list(enumerate(sample.events))
    # An Add's key is its own index, so that each Add is a group of its own; all asks share a key.
    for _, group in groupby(numbered, key=lambda pair: -1 if pair[1].ask is not None else pair[0]):
        yield list(group)


def _units(
    event: Event, *, event_index: int, step: int, first: int, judged: Callable[[str], bool]
) -> Iterator[PlannedUnit]:
    if event.ask is None:
        yield PlannedUnit(UnitKind.ADD, first, step, event_index)
        return
    kinds = [UnitKind.SEARCH, UnitKind.ANSWER] + ([UnitKind.JUDGE] if judged(event.ask.question) else [])
    for offset, kind in enumerate(kinds):
        yield PlannedUnit(kind, first + offset, step, event_index, event.ask.id, event.ask.question)
