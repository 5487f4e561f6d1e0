"""Many at once on PostgreSQL: never one Full more than there is, one run for one key or form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from aml.web.errors import Refusal
from aml.web.forms import new_nonce
from evaluations.models import QuotaEntry, Run
from evaluations.services import start_run, statements
from registration.models import Member, Version
from tests.factories import make_entry, make_key, make_registration
from tests.run_factories import full_order, ready_version

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time"),
]
AT_ONCE = 20


def together(act: Callable[[int], Any], *, number: int) -> list[Any]:
    """Run ``act`` in ``number`` threads that begin at the same moment; returns what each returned or refused."""
    gate = Barrier(number)

    def one(place: int) -> Any:
        try:
            gate.wait()
            return act(place)
        except Refusal as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def owner_of(version: Version) -> Any:
    return version.entry.registration.participant.members.get(role=Member.Role.OWNER).user


def start(version: Version, place: int) -> str:
    start_run(actor=owner_of(version), version=version, order=full_order(label=f"full {place}"))
    return "started"


def test_twenty_starts_of_one_version_make_one_full() -> None:
    version = ready_version()
    outcomes = Counter(together(lambda place: start(version, place), number=AT_ONCE))
    assert outcomes == {"started": 1, "active_run": AT_ONCE - 1}
    assert Run.objects.fulls().count() == 1


def test_with_one_left_two_tracks_start_one_full() -> None:
    registration = make_registration()
    registration.cycle.full_limit = 1
    registration.cycle.save()
    versions = [ready_version(registration=registration)]
    other = ready_version(registration=registration)
    other.entry.tracks.update(track="coding")
    coding = {"track": "coding"}
    other.checks.update(**coding)
    other.runs.update(**coding)
    registration.cycle.tracks.create(track="coding", contract=registration.cycle.tracks.get().contract)
    versions.append(other)

    def act(place: int) -> str:
        version, track = versions[place % 2], ("textual", "coding")[place % 2]
        start_run(
            actor=owner_of(version), version=version, order=full_order(track=track, label=f"full {place}")
        )
        return "started"

    outcomes = Counter(together(act, number=AT_ONCE))
    assert outcomes["started"] == 1
    assert set(outcomes) <= {"started", "active_run", "quota_used"}
    assert QuotaEntry.objects.filter(kind="full", act="reserve").count() == 1


def test_the_same_idempotency_key_at_once_makes_one_run() -> None:
    version = ready_version()
    _key, text = make_key(registration=version.entry.registration, created_by=owner_of(version))
    body = {
        "version": version.public_id, "track": "textual", "kind": "full", "label": "once",
        "statements": {"version": statements.VERSION, "accepted": list(statements.IDS)},
    }  # fmt: skip

    def act(_place: int) -> tuple[int, str]:
        client = APIClient(HTTP_AUTHORIZATION=f"Bearer {text}", HTTP_IDEMPOTENCY_KEY="the same")
        reply = client.post("/api/v1/runs", body, format="json")
        return reply.status_code, reply.json()["id"]

    answers = together(act, number=8)
    assert len(set(answers)) == 1
    assert answers[0][0] == 201
    assert Run.objects.fulls().count() == 1


def test_a_double_click_makes_one_run_and_both_go_to_it() -> None:
    version = ready_version()
    owner = owner_of(version)
    form = {
        "label": "twice", "add": 1, "search": 1, "nonce": new_nonce(),
        "statements_version": statements.VERSION, **dict.fromkeys(statements.IDS, "on"),
    }  # fmt: skip
    address = reverse("evaluations:full_start", args=[version.public_id])

    def act(_place: int) -> str:
        client = Client()
        client.force_login(owner)
        return str(client.post(address, form)["Location"])

    assert len(set(together(act, number=4))) == 1
    assert Run.objects.fulls().count() == 1


def test_entries_of_one_registration_share_the_lock() -> None:
    registration = make_registration()
    make_entry(registration=registration)
    version = ready_version(registration=registration)
    same = ready_version(registration=registration)
    outcomes = Counter(together(lambda place: start((version, same)[place % 2], place), number=6))
    assert outcomes == {"started": 1, "active_run": 5}
