"""An accepted run becomes lanes and units: once, in one transaction, under the run's lock."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.db import transaction

from aml.web import clock
from benchmarks.models import PackEvent, PackSample
from benchmarks.scorers import SCORERS
from benchmarks.types import Add, Ask, Event, Message, Sample
from evaluations import states
from evaluations.engine.plan import PlannedStep, plan_lane
from evaluations.models import Lane, Run, Unit
from evaluations.models.ledger import SERVICE_KINDS
from evaluations.records.transitions import lock

ROWS_AT_ONCE = 1000

#: What an Add says does not matter for the plan, so its text stays in the database.
_SOME_ADD = Event(add=Add(session="s", messages=(Message(role="user", content="…"),)))


def plan(run_id: int) -> bool:
    """Write the run's lanes and units; False if that was done before."""
    with transaction.atomic():
        run = lock(run_id)
        if run.planned_at is not None or run.is_final:
            return False
        now = clock.now()
        judged = _judged_questions(run)
        for row in PackSample.objects.filter(release=run.pack_id).order_by("position").iterator():
            _write_lane(run, row, judged)
        _open_first_steps(run)
        run.planned_at = now
        run.save(update_fields=["planned_at"])
    return True


def _judged_questions(run: Run) -> frozenset[str]:
    judged = [name for name, scorer in SCORERS.items() if scorer.judged]
    return frozenset(run.pack.questions.filter(scorer__in=judged).values_list("key", flat=True))


def _write_lane(run: Run, row: PackSample, judged: frozenset[str]) -> None:
    events = list(row.events.order_by("position").values_list("pk", "kind", "ask", "question"))
    steps = plan_lane(_shape(row, events), judged=judged.__contains__)
    lane = Lane.objects.create(
        run=run,
        position=row.position,
        sample=row.key,
        dataset=row.dataset,
        steps=len(steps),
        remaining=len(steps),
    )
    units = _units(lane, steps, [event[0] for event in events])
    while batch := list(islice(units, ROWS_AT_ONCE)):
        Unit.objects.bulk_create(batch)


def _shape(row: PackSample, events: list[tuple[int, str, str, str]]) -> Sample:
    shaped = tuple(
        _SOME_ADD
        if kind == PackEvent.Kind.ADD
        else Event.model_construct(add=None, ask=Ask(id=ask, question=question))
        for _, kind, ask, question in events
    )
    return Sample.model_construct(id=row.key, dataset=row.dataset, events=shaped)


def _units(lane: Lane, steps: tuple[PlannedStep, ...], events: list[int]) -> Iterator[Unit]:
    for step in steps:
        for unit in step.units:
            yield Unit(
                run_id=lane.run_id,
                lane=lane,
                kind=unit.kind,
                position=unit.position,
                step=unit.step,
                event_id=events[unit.event],
                ask=unit.ask or "",
                question=unit.question or "",
            )


def _open_first_steps(run: Run) -> None:
    Unit.objects.filter(run=run, step=0, kind__in=SERVICE_KINDS).update(
        status=states.UnitStatus.READY, next_attempt_at=clock.now()
    )
