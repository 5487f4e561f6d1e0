"""Asking for a conformance check."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from aml.web.errors import Refusal
from aml.web.models import User
from evaluations.models import Check
from evaluations.runner import checks
from evaluations.runner.shells import platform_agent
from evaluations.services import request_check
from registration.models import Member, Version
from tests.factories import make_member, make_version
from tests.run_factories import make_check, open_track

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> Version:
    made = make_version()
    open_track(made.entry.registration.cycle)
    return made


def owner_of(version: Version) -> User:
    return version.entry.registration.participant.members.get(role=Member.Role.OWNER).user


def ask(version: Version, track: str = "textual") -> Check:
    return request_check(actor=owner_of(version), version=version, track=track)


def refused(version: Version, track: str = "textual") -> Refusal:
    before = Check.objects.count()
    with pytest.raises(Refusal) as caught:
        ask(version, track)
    assert Check.objects.count() == before
    return caught.value


def test_a_check_is_queued(version: Version) -> None:
    assert ask(version).status == "queued"


def test_one_at_a_time_in_a_track(version: Version) -> None:
    first = ask(version)
    refusal = refused(version)
    assert (refusal.code, refusal.extra["check"]) == ("active_check", first.public_id)


def test_only_so_many_an_hour(version: Version) -> None:
    oldest = timezone.now() - timedelta(minutes=59)
    for number in range(6):
        make_check(version=version, requested_at=oldest + timedelta(minutes=number))
    refusal = refused(version)
    assert (refusal.code, refusal.status) == ("check_limit", 429)
    assert refusal.extra["next_allowed_at"] == (oldest + timedelta(hours=1)).isoformat()


def test_a_check_that_we_broke_does_not_count(version: Version) -> None:
    for _ in range(6):
        make_check(version=version, status="error")
    assert ask(version).status == "queued"


def test_unknown_and_not_entered_tracks(version: Version) -> None:
    assert refused(version, "audio").code == "invalid_field"
    open_track(version.entry.registration.cycle, track="coding")
    assert refused(version, "coding").code == "track_not_entered"


def test_a_check_calls_as_a_run_does_and_no_more_at_once(
    version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    version.entry.registration.cycle.limits = {"add_concurrency": 2}
    version.entry.registration.cycle.save()
    ask(version)
    claimed = checks.claim(token="t")
    assert claimed is not None
    told: dict[str, Any] = {}

    async def run_checks(**asked: Any) -> None:
        told.update(asked)

    monkeypatch.setattr(checks, "run_checks", run_checks)
    asyncio.run(checks._run(claimed, lambda progress: None))
    settings = told["settings"]
    assert settings.agent == platform_agent()
    assert (settings.concurrency_add, settings.concurrency_search) == (2, version.search_concurrency)


def test_a_viewer_asks_for_nothing(version: Version) -> None:
    viewer = make_member(participant=version.entry.registration.participant, role=Member.Role.VIEWER)
    with pytest.raises(Refusal, match="viewer"):
        request_check(actor=viewer.user, version=version, track="textual")
