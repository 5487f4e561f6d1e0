"""How far a run is: stages with done and total, what is in flight, errors by code and fault, rate and ETA."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db.models import Count, Max
from django.utils.translation import gettext_lazy as _

from evaluations import states
from evaluations.engine.errors import CODES, Code
from evaluations.models import Attempt, Run, Unit
from evaluations.models.ledger import KindChoice
from evaluations.services.eta import Pace, pace_of

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CACHED_SECONDS = 1

_STAGES: tuple[tuple[str, str, StrOrPromise], ...] = (
    (KindChoice.ADD, "ingesting", _("Adds")),
    (KindChoice.SEARCH, "searching", _("questions")),
    (KindChoice.ANSWER, "answering", _("questions")),
    (KindChoice.JUDGE, "judging", _("questions")),
)


@dataclass(frozen=True, slots=True)
class Stage:
    """``done`` counts units with an end of their own, failed ones among them; what an earlier failure or a
    rule made needless is ``skipped`` and not in ``total``. ``total`` is None until the run is planned."""

    name: str
    unit: StrOrPromise
    done: int
    total: int | None
    failed: int
    skipped: int
    in_flight: int
    pace: Pace


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """Attempts that ended with ``code``, and how many calls they ended for good."""

    code: str
    title: str
    advice: str
    fault: str
    attempts: int
    calls: int
    final: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class Progress:
    stages: list[Stage]
    errors: list[ErrorCount]
    in_flight: int
    eta: float | None
    eta_low: float | None
    eta_high: float | None


def progress(run: Run) -> Progress:
    """Read at most once a second, however many look on."""
    key = f"run-progress:{run.pk}:{run.status}:{run.event_count}"
    found: Progress | None = cache.get(key)
    if found is None:
        found = _read(run)
        cache.set(key, found, CACHED_SECONDS)
    return found


def _read(run: Run) -> Progress:
    counts = _counts(run)
    stages = [_stage(run, kind, name, unit, counts[kind]) for kind, name, unit in _STAGES]
    slowest = _slowest(run, stages)
    return Progress(
        stages=stages,
        errors=_errors(run),
        in_flight=sum(stage.in_flight for stage in stages),
        eta=slowest.eta,
        eta_low=slowest.low,
        eta_high=slowest.high,
    )


def _counts(run: Run) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = Unit.objects.filter(run=run).values("kind", "status").annotate(number=Count("pk")).order_by()
    for row in rows:
        counts[row["kind"]][row["status"]] = row["number"]
    return counts


def _stage(run: Run, kind: str, name: str, unit: StrOrPromise, count: dict[str, int]) -> Stage:
    failed, skipped = count[states.UnitStatus.FAILED], count[states.UnitStatus.SKIPPED]
    done = count[states.UnitStatus.DONE] + failed
    total = sum(count.values()) - skipped
    moving = run.status == states.RunStatus.RUNNING and done < total
    return Stage(
        name=name,
        unit=unit,
        done=done,
        total=None if run.planned_at is None else total,
        failed=failed,
        skipped=skipped,
        in_flight=count[states.UnitStatus.CLAIMED],
        pace=pace_of(run.pace, kind=kind, left=total - done) if moving else Pace(),
    )


def _slowest(run: Run, stages: list[Stage]) -> Pace:
    """The stages overlap, so that the one with the longest time left tells when the run is done.

    A stage that has not begun says nothing; while such a one is left, only the known part is told.
    """
    known = [stage.pace for stage in stages if stage.pace.eta is not None]
    return max(known, key=lambda pace: pace.eta or 0.0, default=Pace())


def _errors(run: Run) -> list[ErrorCount]:
    rows = (
        Attempt.objects.filter(run=run)
        .exclude(code="")
        .values("code", "fault")
        .annotate(attempts=Count("pk"), calls=Count("unit", distinct=True), last=Max("finished_at"))
        .order_by("-attempts", "code")
    )
    final = dict(
        Unit.objects.filter(run=run, status=states.UnitStatus.FAILED)
        .values_list("code")
        .annotate(number=Count("pk"))
        .order_by()
    )
    return [
        ErrorCount(
            code=row["code"], title=title(row["code"]), advice=advice(row["code"]), fault=row["fault"],
            attempts=row["attempts"], calls=row["calls"], final=final.get(row["code"], 0),
            last_at=row["last"],
        )
        for row in rows
    ]  # fmt: skip


def title(code: str) -> str:
    return CODES[Code(code)].title if code in Code.__members__ else code


def advice(code: str) -> str:
    return CODES[Code(code)].advice if code in Code.__members__ else ""
