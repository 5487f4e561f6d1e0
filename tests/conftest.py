"""What every test gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.utils import translation
from pytest_django import Settings


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite in a file: in memory, a driver's threads share one cache and lock each other out at once."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@connection_created.connect
def _let_tests_wait(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Most tests are one transaction, and may wait for a browser or a program in it."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET idle_in_transaction_session_timeout = 0")


@pytest.fixture(autouse=True)
def _test_settings(settings: Settings, empty_folder: Path) -> None:
    # Argon2 takes a tenth of a second for each log-in, on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # WhiteNoise warns of a missing folder; static files are collected at deployment only.
    settings.STATIC_ROOT = empty_folder


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    """A test that asked for a Chinese page must not leave the next one reversing Chinese addresses."""
    translation.activate("en")
    yield
    translation.activate("en")
