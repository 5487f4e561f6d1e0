"""Mails about a case. They are mandatory: each says something that the participant must do or may stop doing."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from aml.web import outbox
from aml.web.models import User
from evaluations.models import Run
from registration.models import acting_people
from review.models import Case


def released(case: Case, run: Run) -> None:
    _tell(case, run, template="review_released")


def rejected(case: Case, run: Run, *, reason: str) -> None:
    _tell(case, run, template="review_rejected", reason=reason)


def asked(case: Case, run: Run, *, asked: str) -> None:
    _tell(case, run, template="review_needs_material", asked=asked)


def answered(case: Case, run: Run, *, reviewers: QuerySet[User]) -> None:
    """To those who decided in the round before: a new round waits for them."""
    _enqueue(case, run, users=reviewers, template="review_answered")


def _tell(case: Case, run: Run, *, template: str, **context: Any) -> None:
    _enqueue(case, run, users=acting_people(run.registration_id), template=template, **context)


def _enqueue(case: Case, run: Run, *, users: QuerySet[User], template: str, **context: Any) -> None:
    outbox.enqueue(
        f"case:{case.public_id}:{template}:{case.round}", users=users, template=template, mandatory=True,
        run=run.public_id, label=run.label, system=run.version.entry.name, version=run.version.label,
        track=run.track, case=case.public_id, **context,
    )  # fmt: skip
