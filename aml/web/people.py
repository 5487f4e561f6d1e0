"""How a person is named on pages."""

from __future__ import annotations

from aml.web.models import User


def display_name(user: User) -> str:
    return user.get_short_name()
