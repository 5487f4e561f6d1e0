"""Rows around runs for tests: packs, contracts, checks, Smokes and Fulls in the state a test needs.

Statuses are written directly here, as only tests may, so that a test begins where its story begins.
"""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from benchmarks.models import PackRelease
from evaluations.engine.types import Fault
from evaluations.models import Check, CycleTrack, EvaluationContract, Run, RunScore
from evaluations.services import Order, statements
from registration.models import Cycle, Registration, Version
from tests.factories import make_entry, make_version

_numbers = itertools.count(1)
CAPABILITIES = ("recall", "time")


def make_pack(*, track: str = "textual", **fields: Any) -> PackRelease:
    number = next(_numbers)
    defaults = {
        "pack": f"pack-{number}", "version": "1.0.0", "hash": f"{number:064x}", "title": f"Pack {number}",
        "track": track, "visibility": "public", "licence": "CC0-1.0", "attribution": "Tests",
        "manifest": manifest(f"pack-{number}", track), "answer_prompt": "…", "judge_prompt": "…", "complete": True,
    }  # fmt: skip
    return PackRelease.objects.create(**{**defaults, **fields})


def manifest(name: str, track: str = "textual") -> dict[str, Any]:
    """Two capabilities of equal weight."""
    use = {"prompt": "prompt.txt", "max_output_tokens": 512}
    return {
        "format": "aml-pack/1", "id": name, "version": "1.0.0", "title": name, "track": track,
        "visibility": "public", "licence": "CC0-1.0", "attribution": "Tests", "source": "Tests",
        "language": "en", "datasets": [{"id": "d", "title": "D", "licence": "CC0-1.0"}],
        "capabilities": [
            {
                "id": one, "title": {"en": one.capitalize(), "zh": one},
                "rubric": {"en": "…", "zh": "…"}, "weight": 0.5,
            }
            for one in CAPABILITIES
        ],
        "answer": {**use, "role": "answer"}, "judge": {**use, "role": "judge"},
        "counts": {"samples": 1, "adds": 1, "asks": 1, "questions": 1}, "files": {},
    }  # fmt: skip


def make_contract(*, track: str = "textual", offline: bool = True, **fields: Any) -> EvaluationContract:
    model = {"name": "aml-offline-answer-1", "temperature": 0.0, "seed": 7, "max_output_tokens": 512}
    defaults = {
        "hash": f"c{next(_numbers):063x}", "track": track, "spec": {}, "offline": offline,
        "answer_model": model, "judge_model": {**model, "name": "aml-offline-judge-1"},
    }  # fmt: skip
    packs = {"full_pack": make_pack(track=track), "smoke_pack": make_pack(track=track)}
    return EvaluationContract.objects.create(**{**packs, **defaults, **fields})


def open_track(cycle: Cycle, *, track: str = "textual", **fields: Any) -> CycleTrack:
    """The cycle's track, open, with a contract."""
    found = CycleTrack.objects.filter(cycle=cycle, track=track).first()
    if found is not None:
        return found
    defaults = {"contract": make_contract(track=track), **fields}
    return CycleTrack.objects.create(cycle=cycle, track=track, **defaults)


def make_run(
    *, version: Version | None = None, kind: str = "full", track: str = "textual", **fields: Any
) -> Run:
    """Queued, without lanes and without quota rows; ``finished_run`` makes one that is over."""
    version = version or make_version()
    registration = version.entry.registration
    contract = open_track(registration.cycle, track=track).contract
    if contract is None:
        raise ValueError("an open track has a contract")
    now = fields.get("accepted_at") or timezone.now()
    defaults: dict[str, Any] = {
        "registration": registration, "cycle": registration.cycle, "label": f"{kind} {next(_numbers)}",
        "contract": contract, "pack": contract.full_pack if kind == "full" else contract.smoke_pack,
        "spec": run_spec(version), "start_deadline_at": now + timedelta(hours=48), "accepted_at": now,
    }  # fmt: skip
    return Run.objects.create(version=version, kind=kind, track=track, **{**defaults, **fields})


def run_spec(version: Version) -> dict[str, Any]:
    return {
        "endpoint": version.endpoint(),
        "concurrency": {"add": version.add_concurrency, "search": version.search_concurrency},
        "limits": {},
        "statements": {"version": 1, "accepted": {}},
        "rules_version": 1,
        "code_revision": "",
        "models": {"answer": {"name": "answerer"}, "judge": {"name": "judge"}},
    }


def finished_run(*, status: str = "succeeded", finished_at: datetime | None = None, **fields: Any) -> Run:
    ended = finished_at or timezone.now()
    failed: dict[str, Any] = {"code": "SERVER_ERROR", "fault": Fault.PARTICIPANT, "sentence": "It failed."}
    return make_run(
        status=status, finished_at=ended, first_add_at=ended - timedelta(minutes=5),
        accepted_at=fields.pop("accepted_at", ended - timedelta(minutes=6)),
        **(failed if status == "failed" else {}), **fields,
    )  # fmt: skip


def make_score(run: Run, *, asks: int = 20, overall: float = 0.6) -> RunScore:
    """``asks`` questions, the last two of them of the second capability."""
    interval = {"mean": overall, "low": overall - 0.1, "high": overall + 0.1}
    rows = [
        {"capability": name, "weight": 0.5, "asks": number, "scored": number, "score": interval}
        for name, number in zip(CAPABILITIES, (asks - 2, 2), strict=True)
    ]
    return RunScore.objects.create(
        run=run, overall=overall, ci_low=overall - 0.1, ci_high=overall + 0.1, asks=asks, scored=asks,
        unscored=0, zero_by_failure=0, capabilities=rows,
        measures={"add": {"n": 1, "p50": 0.02, "p95": 0.05}, "search": {}, "calls": 40, "error_rate": 0.0},
    )  # fmt: skip


def make_check(*, version: Version | None = None, status: str = "passed", **fields: Any) -> Check:
    version = version or make_version()
    over = {"finished_at": timezone.now()} if status in ("passed", "failed", "error") else {}
    defaults: dict[str, Any] = {"registration": version.entry.registration, "track": "textual", **over}
    return Check.objects.create(version=version, status=status, **{**defaults, **fields})


def ready_version(*, registration: Registration | None = None, **fields: Any) -> Version:
    """A version for which a Full may start: track open, check passed, Smoke an hour ago."""
    entry = make_entry(registration=registration) if registration else None
    version = make_version(entry=entry, **fields)
    open_track(version.entry.registration.cycle)
    make_check(version=version)
    finished_run(version=version, kind="smoke", finished_at=timezone.now() - timedelta(hours=2))
    return version


def full_order(**fields: Any) -> Order:
    """Every statement accepted."""
    defaults = {"track": "textual", "kind": "full", "label": f"Full {next(_numbers)}"}
    return Order(**{**defaults, "accepted": statements.IDS, **fields})


def smoke_order(**fields: Any) -> Order:
    return Order(**{"track": "textual", "kind": "smoke", "label": f"Smoke {next(_numbers)}", **fields})
