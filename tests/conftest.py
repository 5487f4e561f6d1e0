"""What every test gets."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(autouse=True)
def _test_settings(settings: Settings, empty_folder: Path) -> None:
    # Argon2 takes a tenth of a second for each log-in, on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # WhiteNoise warns of a missing folder; static files are collected at deployment only.
    settings.STATIC_ROOT = empty_folder
