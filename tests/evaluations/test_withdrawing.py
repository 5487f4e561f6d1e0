"""A version that a run still needs is not withdrawn."""

from __future__ import annotations

import pytest
from django.utils import timezone

from aml.web.errors import Refusal
from registration.models import Version
from registration.services import withdraw_entry, withdraw_version
from tests.evaluations.conftest import owner_of
from tests.run_factories import finished_run, make_run

pytestmark = pytest.mark.django_db


def test_an_active_run_keeps_its_version(version: Version) -> None:
    run = make_run(version=version, kind="smoke")
    with pytest.raises(Refusal) as caught:
        withdraw_version(actor=owner_of(version), version=version)
    assert (caught.value.code, caught.value.extra["run"]) == ("active_run", run.public_id)


def test_so_does_a_full_in_review(version: Version) -> None:
    finished_run(version=version)
    with pytest.raises(Refusal, match="still needs"):
        withdraw_entry(actor=owner_of(version), entry=version.entry)


def test_a_released_service_may_go(version: Version) -> None:
    finished_run(version=version, service_released_at=timezone.now())
    assert withdraw_version(actor=owner_of(version), version=version).withdrawn_at is not None
