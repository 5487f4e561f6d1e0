"""Celery's part: a shell round one function."""

from __future__ import annotations

from aml.web.background import task
from review.builder import open_missing_cases


@task(name="review.open_cases")
def open_cases() -> None:
    open_missing_cases()
