"""Conformance checks in the driver: leased like everything else, and run again if a driver dies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop

from aml.web import clock
from evaluations.engine.conformance import CheckSettings, Progress, Report, run_checks
from evaluations.engine.contract import Limits
from evaluations.engine.types import Endpoint
from evaluations.models import Check
from evaluations.records import checking
from evaluations.records.checking import LEASE
from evaluations.runner.shells import endpoint_of, platform_agent

log = logging.getLogger(__name__)
NOTE_SECONDS = 0.5
BROKEN = gettext_noop("The check broke on the platform's side. Nothing is held against you; start it again.")
INCOMPLETE = gettext_noop("The check ran out of time: the service answered too slowly to finish it.")

Database = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class ClaimedCheck:
    pk: int
    token: str
    endpoint: Endpoint
    track: str
    limits: Limits
    secret: bytes
    concurrency: tuple[int, int]


def waiting() -> bool:
    return Check.objects.filter(status__in=[Check.Status.QUEUED, Check.Status.RUNNING]).exists()


def claim(*, token: str) -> ClaimedCheck | None:
    """Take one queued check."""
    taken = checking.take(token=token)
    return None if taken is None else _claimed(taken, token)


def _claimed(check: Check, token: str) -> ClaimedCheck:
    version, limits = check.version, Limits.model_validate(check.registration.cycle.limits)
    most = limits.at_once(add=version.add_concurrency, search=version.search_concurrency)
    return ClaimedCheck(
        pk=check.pk,
        token=token,
        endpoint=endpoint_of(version, frozen=version.endpoint()),
        track=check.track,
        limits=limits,
        secret=bytes(check.secret),
        concurrency=(most["add"], most["search"]),
    )


async def execute(claimed: ClaimedCheck, *, db: Database) -> None:
    """Run the check and record its report; whatever breaks here is ours."""
    newest = [Progress(done=0, total=0, results=())]
    noting = asyncio.create_task(_note(claimed, newest, db=db))
    try:
        report = await _run(claimed, lambda progress: newest.append(progress))
    except Exception:
        log.exception("check %s broke", claimed.pk)
        await db(finish, claimed, report=None)
        return
    finally:
        noting.cancel()
    await db(finish, claimed, report=report)


async def _note(claimed: ClaimedCheck, newest: list[Progress], *, db: Database) -> None:
    """Show how far it is, and keep the lease."""
    while True:
        await asyncio.sleep(NOTE_SECONDS)
        del newest[:-1]
        await db(note_progress, claimed, done=newest[0].done, total=newest[0].total)


async def _run(claimed: ClaimedCheck, on_progress: Callable[[Progress], None]) -> Report:
    adds, searches = claimed.concurrency
    return await run_checks(
        endpoint=claimed.endpoint,
        track=claimed.track,
        limits=claimed.limits,
        namespace_secret=claimed.secret,
        on_progress=on_progress,
        settings=CheckSettings(concurrency_add=adds, concurrency_search=searches, agent=platform_agent()),
    )


def _mine(claimed: ClaimedCheck) -> QuerySet[Check]:
    return checking.held(token=claimed.token).filter(pk=claimed.pk)


def note_progress(claimed: ClaimedCheck, *, done: int, total: int) -> None:
    _mine(claimed).update(done=done, total=total, claim_expires_at=clock.now() + LEASE)


def finish(claimed: ClaimedCheck, *, report: Report | None) -> None:
    """Fenced: a check that somebody else has taken over meanwhile is left alone."""
    fields: dict[str, Any] = {"finished_at": clock.now(), "claim_token": "", "claim_expires_at": None}
    if report is None:
        fields |= {"status": Check.Status.ERROR, "sentence": BROKEN}
    else:
        passed = Check.Status.PASSED if report.gates_passed else Check.Status.FAILED
        sentence = "" if report.complete else INCOMPLETE
        checked = len(report.results)
        fields |= {
            "status": passed, "report": report.to_json(), "sentence": sentence, "done": checked, "total": checked,
        }  # fmt: skip
    _mine(claimed).update(**fields)


def renew(*, token: str, keys: Sequence[int]) -> None:
    """A probe of a slow service may take longer than the lease."""
    checking.held(token=token).filter(pk__in=keys).update(claim_expires_at=clock.now() + LEASE)


def release(*, token: str) -> None:
    """What a stopping driver could not end starts anew elsewhere, at once."""
    checking.put_back(checking.held(token=token))


def expire() -> int:
    """Checks whose driver died go back into the queue."""
    over = Q(claim_expires_at__lt=clock.now()) | Q(claim_expires_at__isnull=True)
    return checking.put_back(Check.objects.filter(over, status=Check.Status.RUNNING))
