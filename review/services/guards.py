"""Who may decide on a case, and what stands against it. One answer for page and service."""

from __future__ import annotations

from django.db.models import Q
from django.utils.translation import gettext as _

from aml.web.errors import Refusal
from aml.web.models import User
from evaluations import states
from evaluations.models import Run
from evaluations.records.transitions import lock
from registration.models import Registration
from review.models import Case, Decision, Finding


def locked(case: Case) -> tuple[Case, Run]:
    """The case and its run as they are now, locked until the end of the transaction; the run first."""
    run = lock(case.run_id)
    return Case.objects.select_for_update().get(pk=case.pk), run


def reviewer(user: User) -> None:
    if not (user.is_active and user.is_reviewer):
        raise Refusal("not_a_reviewer", _("Only a reviewer may do this."), status=403)


def conflict(user: User, run: Run) -> Refusal | None:
    """Why this person has nothing to decide and nothing private to read of the run; None if nothing is."""
    own = Q(participant__members__user=user) | Q(memberships__user=user)
    if not Registration.objects.filter(own, cycle=run.cycle_id).exists():
        return None
    return Refusal(
        "conflict_of_interest",
        _("You take part in this cycle yourself, so others review its runs."),
        hint=_("Two reviewers who take part with nobody in this cycle decide."),
        status=403,
    )


def may_decide(user: User, case: Case, run: Run) -> Refusal | None:
    """What keeps this reviewer from deciding now; None if nothing does."""
    if refusal := conflict(user, run):
        return refusal
    under_review = (states.Publication.IN_REVIEW, states.Publication.NEEDS_MATERIAL)
    if not case.is_undecided or run.publication not in under_review:
        return Refusal(
            "case_decided", _("This case is closed: %(status)s.") % {"status": case.get_status_display()}
        )
    if Decision.objects.filter(case=case, round=case.round, reviewer=user).exists():
        return already_decided()
    return None


def already_decided() -> Refusal:
    return Refusal(
        "already_decided",
        _("You have decided in this round."),
        hint=_("Another reviewer's word is needed, or a new round."),
    )


def blockers(case: Case) -> list[Finding]:
    """Findings that keep the run from being published, whoever approves."""
    return list(case.findings.filter(severity=Finding.Severity.BLOCKER).order_by("pk"))
