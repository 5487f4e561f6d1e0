"""Pages and calls that a script polls cost the same however much a registration has."""

from __future__ import annotations

import pytest
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from registration.models import Version
from tests.evaluations.conftest import api_of, page_of
from tests.factories import make_version
from tests.run_factories import finished_run, make_check, make_run, ready_version

pytestmark = pytest.mark.django_db
MOST = 40


def systems(number: int) -> Version:
    """Ready systems of one registration, one with a Full under way."""
    version = ready_version()
    for _ in range(number - 1):
        ready_version(registration=version.entry.registration)
    make_run(version=version)
    return version


def versions(number: int) -> Version:
    """Of one system, each with a check and a Smoke."""
    version = ready_version()
    for _ in range(number - 1):
        made = make_version(entry=version.entry)
        make_check(version=made)
        finished_run(version=made, kind="smoke")
    return version


def test_the_desk_of_five_systems(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    client = page_of(systems(5))
    with django_assert_max_num_queries(MOST):
        page = client.get(reverse("evaluations:desk")).content.decode()
    assert page.count("Full…") == 5


def test_me_with_ten_versions(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    client = api_of(versions(10))
    with django_assert_max_num_queries(MOST):
        seen = client.get("/api/v1/me").json()
    assert len(seen["entries"][0]["versions"]) == 10
