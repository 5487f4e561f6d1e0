"""A reviewer's word. Two approvals by two people publish; one rejection or request ends the round.

Everything happens under the locks of the run and its case: two who press at once decide one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from aml.web import audit, clock
from aml.web.errors import FieldRefusal, Refusal
from aml.web.forms import text_problem
from aml.web.models import User
from evaluations.models import Run
from evaluations.records.release import RELEASED, release_service
from evaluations.records.transitions import PLATFORM, REVIEWER, Why, publish_move
from evaluations.states import Publication
from registration.services.guards import refusing
from review.models import Case, Decision
from review.services import checklist as checklists
from review.services import guards, telling

REASON_LENGTH = 4000
APPROVED = gettext_noop("Approved by two reviewers.")
REJECTED = gettext_noop("Not approved. The reviewer's reason stands on the page.")
ASKED = gettext_noop("A reviewer asks for material. Read on the page what is needed, and answer there.")


@dataclass(frozen=True, slots=True)
class Word:
    """What a reviewer says in one round."""

    reviewer: User
    verdict: str
    reason: str
    checklist: tuple[str, ...]


def decide(
    *, case: Case, reviewer: User, verdict: str, reason: str, checklist: Collection[str] = ()
) -> Decision:
    """Record the word and what follows from it. Raises Refusal; then nothing was changed."""
    word = _checked(reviewer=reviewer, verdict=verdict, reason=reason, checklist=checklist)
    with transaction.atomic():
        case, run = guards.locked(case)
        if refusal := guards.may_decide(reviewer, case, run):
            raise refusal
        _refuse_while_waiting(case, word)
        _refuse_blocked(case, word)
        decision = _record(case, run, word)
        _ACTS[verdict](case, run, word)
    return decision


def _checked(*, reviewer: User, verdict: str, reason: str, checklist: Collection[str]) -> Word:
    guards.reviewer(reviewer)
    if verdict not in Decision.Verdict.values:
        expected = ", ".join(Decision.Verdict.values)
        raise FieldRefusal("verdict", _("Expected one of: %(values)s.") % {"values": expected})
    reason = reason.strip()
    if not 1 <= len(reason) <= REASON_LENGTH:
        raise FieldRefusal("reason", _("A reason has 1 to %(most)s characters.") % {"most": REASON_LENGTH})
    if problem := text_problem(reason, multiline=True):
        raise FieldRefusal("reason", problem)
    absent = checklists.missing(checklist)
    if verdict == Decision.Verdict.APPROVE and absent:
        raise FieldRefusal("checklist", _("An approval needs every point of the checklist."), missing=absent)
    ticked = tuple(name for name in checklists.IDS if name in checklist)
    return Word(reviewer=reviewer, verdict=verdict, reason=reason, checklist=ticked)


def _refuse_while_waiting(case: Case, word: Word) -> None:
    """Nobody need answer for ever, so a rejection is possible; nothing else before the answer is there."""
    if case.status != Case.Status.NEEDS_MATERIAL or word.verdict == Decision.Verdict.REJECT:
        return
    raise Refusal(
        "needs_material",
        _("The participant has been asked for material and has not answered yet."),
        hint=_("Until then a case can only be rejected."),
    )


def _refuse_blocked(case: Case, word: Word) -> None:
    found = guards.blockers(case) if word.verdict == Decision.Verdict.APPROVE else []
    if found:
        raise Refusal(
            "blocked",
            _("A finding keeps this run from being published: %(findings)s")
            % {"findings": " ".join(finding.text for finding in found)},
            hint=_("Ask for material, or reject with a reason."),
            findings=[finding.kind for finding in found],
        )


def _record(case: Case, run: Run, word: Word) -> Decision:
    with refusing(guards.already_decided()):
        decision = Decision.objects.create(
            case=case, round=case.round, reviewer=word.reviewer, verdict=word.verdict, reason=word.reason,
            checklist=list(word.checklist), at=clock.now(),
        )  # fmt: skip
    audit.record(
        "review.decided", subject=f"run:{run.public_id}", actor=word.reviewer, actor_label=REVIEWER,
        reason=word.reason, case=case.public_id, round=case.round, verdict=word.verdict,
        checklist=list(word.checklist),
    )  # fmt: skip
    return decision


def _approve(case: Case, run: Run, word: Word) -> None:
    approvals = Decision.objects.filter(case=case, round=case.round, verdict=Decision.Verdict.APPROVE)
    if approvals.count() < Case.APPROVALS:
        return
    _publish(run, Publication.APPROVED, word, sentence=APPROVED)
    _close(case, Case.Status.APPROVED)
    _record_publication("review.approved", run, word)
    release_service(run.pk, why=Why(actor=PLATFORM, sentence=RELEASED))
    telling.released(case, run)


def _reject(case: Case, run: Run, word: Word) -> None:
    """Review is over then, too: the participant need not keep the service for a decision that has been made."""
    _publish(run, Publication.REJECTED, word, sentence=REJECTED, reason=word.reason)
    _close(case, Case.Status.REJECTED)
    _record_publication("review.rejected", run, word)
    release_service(run.pk, why=Why(actor=PLATFORM, sentence=RELEASED))
    telling.rejected(case, run, reason=word.reason)


def _ask(case: Case, run: Run, word: Word) -> None:
    _publish(run, Publication.NEEDS_MATERIAL, word, sentence=ASKED, reason=word.reason)
    case.status = Case.Status.NEEDS_MATERIAL
    case.save(update_fields=["status"])
    telling.asked(case, run, asked=word.reason)


_ACTS: dict[str, Callable[[Case, Run, Word], None]] = {
    Decision.Verdict.APPROVE: _approve,
    Decision.Verdict.REJECT: _reject,
    Decision.Verdict.NEEDS_MATERIAL: _ask,
}


def _publish(run: Run, to: Publication, word: Word, *, sentence: str, reason: str = "") -> None:
    """Reviewers are named to nobody but each other: the event carries the role alone."""
    if not publish_move(run.pk, to, why=Why(actor=REVIEWER, sentence=sentence), reason=reason):
        raise Refusal("not_in_review", _("This run is not in review any more."))


def _close(case: Case, status: str) -> None:
    case.status, case.closed_at = status, clock.now()
    case.save(update_fields=["status", "closed_at"])


def _record_publication(act: str, run: Run, word: Word) -> None:
    """Public, so without the reason, which is for the participant and may tell of the results."""
    audit.record(
        act, subject=f"run:{run.public_id}", actor=word.reviewer, actor_label=REVIEWER, public=True, track=run.track
    )  # fmt: skip
