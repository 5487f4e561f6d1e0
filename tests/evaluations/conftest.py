"""Somebody with a version, at the pages and at the API."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from aml.web.models import User
from registration.models import Member, Version
from tests.factories import make_key, make_version
from tests.run_factories import open_track, ready_version


@pytest.fixture(autouse=True)
def _no_cache(settings: Settings) -> None:
    # Row ids come again after a rollback, so a cached progress would be another test's.
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}


@pytest.fixture
def version() -> Version:
    """Entered and approved, nothing checked yet."""
    made = make_version()
    open_track(made.entry.registration.cycle)
    return made


@pytest.fixture
def ready() -> Version:
    """A Full may start."""
    return ready_version()


def owner_of(version: Version) -> User:
    return version.entry.registration.participant.members.get(role=Member.Role.OWNER).user


def page_of(version: Version) -> Client:
    """A browser of the version's owner."""
    client = Client()
    client.force_login(owner_of(version))
    return client


def api_of(version: Version, **headers: str) -> APIClient:
    """A script with an Evaluation Key of the version's registration."""
    _key, text = make_key(registration=version.entry.registration, created_by=owner_of(version))
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}", **headers)
    return client
