"""Scored Fulls with a ledger behind them, as publication needs: a pack of some samples, and values of its asks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from benchmarks.models import PackEvent, PackQuestion, PackRelease, PackSample, pack_json
from evaluations import states
from evaluations.models import EvaluationContract, Lane, Result, Run, RunScore, Unit
from evaluations.models.ledger import KindChoice
from evaluations.runner.scores import aggregate_run, ask_scores
from registration.models import Entry
from tests import run_factories
from tests.factories import make_entry, make_version

SAMPLES, ASKS = 8, 3  # a sample has ASKS questions of each capability
MEASURES = {
    "add": {"n": 9, "p50": 0.02, "p95": 0.05, "p99": 0.06},
    "search": {"n": 9, "p50": 0.184, "p95": 1.24, "p99": 1.5},
    "ingest_seconds": 95.0, "calls": 900, "failed_calls": 1, "error_rate": 0.001111,
    "memory_tokens_per_question": 812.4,
}  # fmt: skip


def make_pack(**fields: Any) -> PackRelease:
    """A private pack of SAMPLES histories with ASKS asks of each capability."""
    pack = run_factories.make_pack(visibility="private", **fields)
    pack.manifest["counts"] |= {
        "samples": SAMPLES,
        "asks": SAMPLES * ASKS * 2,
        "questions": SAMPLES * ASKS * 2,
    }
    pack.save(update_fields=["manifest"])
    for number in range(SAMPLES):
        sample = PackSample.objects.create(
            release=pack, key=f"secret-sample-{number}", dataset="d", position=number, adds=1, asks=ASKS * 2,
            content_hash=f"{number:064x}",
        )  # fmt: skip
        _add_asks(pack, sample)
    return pack


def _add_asks(pack: PackRelease, sample: PackSample) -> None:
    for position, (capability, number) in enumerate(
        (capability, number) for capability in run_factories.CAPABILITIES for number in range(ASKS)
    ):
        key = f"{sample.key}-{capability}-{number}"
        PackQuestion.objects.create(
            release=pack, key=key, sample=sample.key, dataset="d", capability=capability, scorer="exact",
            body=pack_json(b'{"query": "a private question"}'),
        )  # fmt: skip
        PackEvent.objects.create(
            sample=sample, position=position, kind="ask", ask=f"ask-{key}", question=key,
            body=pack_json(b"{}"), size=2,
        )  # fmt: skip


def make_contract(**fields: Any) -> EvaluationContract:
    return run_factories.make_contract(**{"full_pack": make_pack(), **fields})


def scored_full(
    *,
    entry: Entry | None = None,
    contract: EvaluationContract | None = None,
    share: float = 0.6,
    seed: int = 1,
    status: str = "succeeded",
    publication: str = "approved",
    accepted_at: datetime | None = None,
    **version: Any,
) -> Run:
    """A finished Full whose asks are right with probability ``share``; approved, not yet on the board."""
    entry = entry or make_entry()
    cycle = entry.registration.cycle
    run_factories.open_track(cycle, contract=contract or make_contract())
    accepted = accepted_at or timezone.now() - timedelta(days=1)
    under = {"contract": contract, "pack": contract.full_pack} if contract else {}
    run = run_factories.finished_run(
        version=make_version(entry=entry, **version), status=status, accepted_at=accepted,
        finished_at=accepted + timedelta(hours=5), **under,
    )  # fmt: skip
    _answer(run, values=_values(run, share=share, seed=seed))
    _score(run)
    Run.objects.filter(pk=run.pk).update(publication=publication)
    run.refresh_from_db()
    return run


def _values(run: Run, *, share: float, seed: int) -> dict[str, float]:
    generator = random.Random(seed)
    keys = run.pack.questions.order_by("pk").values_list("key", flat=True)
    return {key: float(generator.random() < share) for key in keys}


def _answer(run: Run, *, values: Mapping[str, float]) -> None:
    for sample in run.pack.samples.order_by("position"):
        lane = Lane.objects.create(
            run=run, position=sample.position, sample=sample.key, dataset=sample.dataset, steps=1, remaining=0
        )
        for event in sample.events.filter(kind="ask").order_by("position"):
            _done(run, lane, event, kind=KindChoice.SEARCH, position=2 * event.position)
            unit = _done(run, lane, event, kind=KindChoice.ANSWER, position=2 * event.position + 1)
            Result.objects.create(
                unit=unit, run=run, kind=KindChoice.ANSWER, ask=event.ask, score=values[event.question],
                data={"answer": "a private answer", "needs_judge": False},
            )  # fmt: skip


def _done(run: Run, lane: Lane, event: PackEvent, *, kind: str, position: int) -> Unit:
    return Unit.objects.create(
        run=run, lane=lane, kind=kind, position=position, step=0, event=event, ask=event.ask,
        question=event.question, status=states.UnitStatus.DONE, finished_at=timezone.now(),
    )  # fmt: skip


def _score(run: Run) -> None:
    figures = aggregate_run(run, ask_scores(run))
    overall = figures.overall
    RunScore.objects.create(
        run=run, overall=overall.mean if overall else None, ci_low=overall.low if overall else None,
        ci_high=overall.high if overall else None, asks=figures.asks, scored=figures.scored,
        unscored=figures.unscored, zero_by_failure=figures.zero_by_failure,
        capabilities=[asdict(one) for one in figures.capabilities], measures=MEASURES,
    )  # fmt: skip
