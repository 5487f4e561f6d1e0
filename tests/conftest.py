"""What every test gets."""

from __future__ import annotations

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def _cheap_passwords(settings: Settings) -> None:
    """Argon2 takes a tenth of a second for each log-in, on purpose."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
