"""A finished Full with a whole ledger, and its case: few questions, real rows, real figures."""

from __future__ import annotations

from typing import Any

import orjson
from django.utils import timezone

from aml.web import bodies
from aml.web.models import User
from benchmarks.models import PackEvent, PackQuestion, PackRelease, PackSample, pack_json
from evaluations.models import Attempt, Result, Run, Unit
from evaluations.models.ledger import SERVICE_KINDS, KindChoice
from evaluations.records import planning, quota
from evaluations.runner.finalise import finish
from evaluations.services import statements
from registration.models import Version
from review.builder import open_case
from review.models import Case, Decision
from review.services import decide
from review.services.checklist import IDS
from tests.factories import make_registration, make_user
from tests.run_factories import CAPABILITIES, make_contract, make_pack, make_run, open_track, ready_version

SECRET_QUERY = "Which harbour did Ines paint?"
SECRET_GOLD = "the harbour of Sines"
SECRET_MEMORY = "Ines painted the harbour of Sines in May."


def make_reviewer(**fields: Any) -> User:
    return make_user(is_reviewer=True, **fields)


def small_pack(*, asks: int = 6) -> PackRelease:
    """One sample: an Add, then ``asks`` questions, by turns of the two capabilities."""
    pack = make_pack(visibility="private")
    sample = PackSample.objects.create(
        release=pack, key="s1", dataset="d", position=0, adds=1, asks=asks, content_hash="0" * 64
    )
    add = {"add": {"session": "one", "messages": [{"role": "user", "content": SECRET_MEMORY}]}}
    _event(sample, 0, add)
    for number in range(asks):
        _event(sample, number + 1, {"ask": {"id": f"a{number}", "question": f"q{number}"}})
        _question(pack, number)
    return pack


def _event(sample: PackSample, position: int, event: dict[str, Any]) -> None:
    data, ask = orjson.dumps(event), event.get("ask", {})
    PackEvent.objects.create(
        sample=sample, position=position, kind="ask" if ask else "add", ask=ask.get("id", ""),
        question=ask.get("question", ""), body=pack_json(data), size=len(data),
    )  # fmt: skip


def _question(pack: PackRelease, number: int) -> None:
    question = {
        "id": f"q{number}", "sample": "s1", "dataset": "d", "capability": CAPABILITIES[number % 2],
        "query": SECRET_QUERY, "scorer": "token_f1", "gold": SECRET_GOLD,
    }  # fmt: skip
    PackQuestion.objects.create(
        release=pack, key=question["id"], sample="s1", dataset="d", capability=question["capability"],
        scorer="token_f1", body=pack_json(orjson.dumps(question)),
    )  # fmt: skip


def scored_run(*, version: Version | None = None, asks: int = 6, **fields: Any) -> Run:
    """A Full that has just succeeded; no case has been opened yet."""
    version = version or ready_version()
    track = open_track(version.entry.registration.cycle)
    track.contract = make_contract(full_pack=small_pack(asks=asks))
    track.save()
    run = make_run(version=version, status="running", first_add_at=timezone.now(), **fields)
    Run.objects.filter(pk=run.pk).update(spec=run.spec | {"statements": statements.record(statements.IDS)})
    quota.reserve(run, now=timezone.now())
    planning.plan(run.pk)
    for unit in Unit.objects.filter(run=run).select_related("event"):
        _complete(unit)
    assert finish(run.pk)
    return Run.objects.get(pk=run.pk)


def _complete(unit: Unit) -> None:
    now = timezone.now()
    Unit.objects.filter(pk=unit.pk).update(status="done", finished_at=now)
    if unit.kind in SERVICE_KINDS:
        Attempt.objects.create(
            unit=unit, run=unit.run, kind=unit.kind, number=1, claim_token="t", state="done", ok=True,
            started_at=now, finished_at=now, latency=0.02,
        )  # fmt: skip
    if unit.kind == KindChoice.SEARCH:
        items = [{"id": "m1", "content": SECRET_MEMORY, "score": 0.9, "created_at": None}]
        _result(unit, data={"items": 1}, body=bodies.put(orjson.dumps(items)))
    if unit.kind == KindChoice.ANSWER:
        _result(unit, data={"answer": SECRET_GOLD, "needs_judge": False}, score=1.0)


def _result(unit: Unit, **fields: Any) -> None:
    Result.objects.create(unit=unit, run=unit.run, kind=unit.kind, ask=unit.ask, **fields)


def make_case(*, owner: User | None = None, **fields: Any) -> Case:
    """In review, every finding fine."""
    version = ready_version(registration=make_registration(owner=owner)) if owner else None
    case = open_case(scored_run(version=version, **fields).pk)
    assert case is not None
    return case


def approve(case: Case, reviewer: User | None = None) -> Decision:
    return decide(
        case=case,
        reviewer=reviewer or make_reviewer(),
        verdict="approve",
        reason="All is well.",
        checklist=IDS,
    )


def ask(case: Case, reviewer: User | None = None, reason: str = "Send the log of 2 May.") -> Decision:
    return decide(case=case, reviewer=reviewer or make_reviewer(), verdict="needs_material", reason=reason)


def reject(case: Case, reviewer: User | None = None) -> Decision:
    return decide(case=case, reviewer=reviewer or make_reviewer(), verdict="reject", reason="It leaks.")
