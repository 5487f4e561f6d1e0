"""The rows that a run needs, for measurements: cycle, participant, version, contract."""

from __future__ import annotations

from datetime import timedelta

from aml.web import clock
from benchmarks.models import PackRelease
from evaluations.models import Run
from evaluations.records import planning, quota
from evaluations.services.contracts import make_contract
from registration.models import Cycle, Entry, Participant, Registration, Version


def make_run(release: PackRelease, *, port: int, name: str, concurrency: int) -> Run:
    """A planned Full of its own participant against the local service on ``port``."""
    version = _version(port=port, name=name, concurrency=concurrency)
    registration = version.entry.registration
    run = Run.objects.create(
        version=version, registration=registration, cycle=registration.cycle, track="textual", kind="full",
        label=name, contract=make_contract(track="textual", full_pack=release, smoke_pack=release), pack=release,
        start_deadline_at=clock.now() + timedelta(hours=48),
        spec={
            "endpoint": {
                "add_url": version.add_url, "search_url": version.search_url, "health_url": "",
                "status_url": "", "auth_scheme": "none",
            },
            "concurrency": {"add": concurrency, "search": concurrency},
            "limits": {},
        },
    )  # fmt: skip
    quota.reserve(run, now=clock.now())
    planning.plan(run.pk)
    return run


def _version(*, port: int, name: str, concurrency: int) -> Version:
    now = clock.now()
    cycle, _ = Cycle.objects.get_or_create(
        slug="bench",
        defaults={
            "title": "Bench", "opens_at": now - timedelta(days=1), "registration_closes_at": now + timedelta(days=1),
            "full_closes_at": now + timedelta(days=2), "evaluation_stops_at": now + timedelta(days=3),
            "results_at": now + timedelta(days=4),
        },
    )  # fmt: skip
    participant = Participant.objects.create(name=name)
    registration = Registration.objects.create(
        participant=participant, cycle=cycle, division="open-source", status="approved", decided_at=now
    )
    entry = Entry.objects.create(registration=registration, name=name, slug=name, description="-")
    return Version.objects.create(
        entry=entry, number=1, label="1", add_url=f"http://127.0.0.1:{port}/add",
        search_url=f"http://127.0.0.1:{port}/search", auth_scheme="none", add_concurrency=min(concurrency, 64),
        search_concurrency=concurrency, contact="bench@example.org",
    )  # fmt: skip
