"""A run on a pack of a few events, and a hand that drives its ledger without a driver."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from aml.web import clock
from aml.web.models import PlatformState
from benchmarks.models import PackRelease
from benchmarks.services import import_pack
from evaluations.engine.errors import Code, failure
from evaluations.engine.types import Failure
from evaluations.models import Attempt, Run, Unit
from evaluations.records import claims, completion, planning, quota
from evaluations.records.completion import Applied, Finished
from evaluations.records.transitions import lock
from evaluations.runner import turns
from evaluations.runner.turns import Ask
from evaluations.services.contracts import make_contract
from registration.models import Version
from tests.engine.packs import small_pack
from tests.engine.samples import sample
from tests.factories import make_version
from tests.run_factories import make_run, open_track

Claimed = tuple[Unit, Attempt]


def pack_of(*shapes: str, scorer: str = "judge_binary") -> PackRelease:
    """One sample a shape: ``+`` is an Add, ``?`` an ask."""
    samples = [sample(f"s{number}", shape) for number, shape in enumerate(shapes)]
    with tempfile.TemporaryDirectory() as folder:
        return import_pack(small_pack(Path(folder) / "pack", *samples, scorer=scorer), validate=False)


def ledger_run(*shapes: str, scorer: str = "judge_binary", **fields: Any) -> Run:
    """A planned run with its quota reserved."""
    run = accepted_run(*shapes, scorer=scorer, **fields)
    planning.plan(run.pk)
    return Run.objects.get(pk=run.pk)


def accepted_run(
    *shapes: str,
    scorer: str = "judge_binary",
    add: int = 8,
    search: int = 8,
    limits: dict[str, Any] | None = None,
    version: Version | None = None,
    **fields: Any,
) -> Run:
    release = pack_of(*shapes, scorer=scorer)
    contract = make_contract(track="textual", full_pack=release, smoke_pack=release)
    version = version or make_version()
    open_track(version.entry.registration.cycle, contract=contract)
    run = make_run(version=version, contract=contract, pack=contract.full_pack, **fields)
    run.spec = {**run.spec, "concurrency": {"add": add, "search": search}, "limits": limits or {}}
    Run.objects.filter(pk=run.pk).update(spec=run.spec)
    quota.reserve(run, now=clock.now())
    return run


def later(**units: float) -> None:
    """Move the platform's clock on, such as ``later(hours=6)``."""
    seconds = sum(
        number * {"seconds": 1, "minutes": 60, "hours": 3600}[name] for name, number in units.items()
    )
    state, _ = PlatformState.objects.get_or_create(pk=1)
    state.clock_offset_seconds += int(seconds)
    state.save()


def gone(code: Code = Code.SERVER_ERROR, *, status: int | None = 503) -> Failure:
    """A failure that is retried."""
    return failure(code, sentence="It failed.", retryable=True, status=status)


def refused(code: Code = Code.PAYLOAD_TOO_LARGE, *, status: int = 413) -> Failure:
    """A failure that is final."""
    return failure(code, sentence="It was refused.", retryable=False, status=status)


@dataclass
class Hand:
    """Claims and completes units of one run under a token."""

    run: Run
    token: str = "d-one"

    def take(self, *, service: int = 100, models: int = 100) -> list[Claimed]:
        with transaction.atomic():
            run = lock(self.run.pk)
            taken = claims.claim(run, token=self.token, now=clock.now(), service=service, models=models)
        return taken.taken

    def end(
        self,
        pairs: Sequence[Claimed],
        *,
        failure: Failure | None = None,
        score: float | None = 1.0,
        needs_judge: bool = False,
    ) -> Applied:
        """All of them the same way."""
        batch = [
            Finished(
                unit=unit, attempt=attempt, failure=failure, needs_judge=needs_judge,
                data={"needs_judge": needs_judge} if unit.kind == "answer" else {},
                score=None if unit.kind in ("add", "search") or needs_judge else score,
            )
            for unit, attempt in pairs
        ]  # fmt: skip
        with transaction.atomic():
            return completion.apply(lock(self.run.pk), batch, token=self.token, now=clock.now())

    def step(self, **ending: Any) -> list[Claimed]:
        """Take what is ready and end it; returns what that was."""
        pairs = self.take()
        self.end(pairs, **ending)
        return pairs

    def through(self) -> list[str]:
        """The whole run without a failure; the kinds in the order of their claims."""
        seen: list[str] = []
        while pairs := self.step():
            seen += kinds(pairs)
        return seen

    def put_back(self, pairs: Sequence[Claimed]) -> None:
        with transaction.atomic():
            claims.put_back(
                lock(self.run.pk), [attempt for _, attempt in pairs], token=self.token, now=clock.now()
            )


def started(*shapes: str, **fields: Any) -> Hand:
    """A run whose first Adds were claimed and came back unsent, so that it is running."""
    hand = Hand(ledger_run(*shapes, **fields))
    turn = turns.turn(hand.run.pk, Ask(token=hand.token, service=100, models=100))
    hand.put_back([(work.unit, work.attempt) for work in turn.works])
    return hand


def kinds(pairs: Sequence[Claimed]) -> list[str]:
    return [str(unit.kind) for unit, _ in pairs]


def statuses(run: Run, **which: Any) -> list[str]:
    return list(
        Unit.objects.filter(run=run, **which)
        .order_by("lane__position", "position")
        .values_list("status", flat=True)
    )
