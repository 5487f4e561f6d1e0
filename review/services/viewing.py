"""Private questions reach reviewers only, and each look is logged (product.md, rule 11)."""

from __future__ import annotations

from aml.web import audit
from aml.web.models import User
from evaluations.models import Run
from evaluations.records.transitions import REVIEWER
from review.models import Case
from review.services import guards


def note_private_view(
    *, case: Case, run: Run, reviewer: User, asks: list[str], memories_of: str = ""
) -> None:
    """Write down who sees which asks, and whose memories; raises Refusal before anything is shown."""
    guards.reviewer(reviewer)
    if refusal := guards.conflict(reviewer, run):
        raise refusal
    audit.record(
        "review.private_viewed", subject=f"run:{run.public_id}", actor=reviewer, actor_label=REVIEWER,
        case=case.public_id, asks=asks, memories_of=memories_of,
    )  # fmt: skip
