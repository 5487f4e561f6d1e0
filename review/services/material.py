"""The participant answers what a reviewer asked for; a new round begins, and old approvals don't count."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from aml.web import audit, clock
from aml.web.errors import FieldRefusal, Refusal
from aml.web.forms import text_problem
from aml.web.models import User
from evaluations.models import Run
from evaluations.records.transitions import PARTICIPANT, Why, publish_move
from evaluations.states import Publication
from registration.services.guards import acting_member, refusing
from review.models import Case, Material
from review.services import guards, telling

TEXT_LENGTH = 20_000
ANSWERED = gettext_noop("The participant has answered; the reviewers go on.")


def answer_material(*, run: Run, text: str, actor: User) -> Material:
    """Store the answer and put the run back into review. Raises Refusal; then nothing was changed."""
    text = _checked(text)
    acting_member(actor, run.registration.participant)
    with transaction.atomic():
        case, run = guards.locked(_case_of(run))
        if case.status != Case.Status.NEEDS_MATERIAL or run.publication != Publication.NEEDS_MATERIAL:
            raise _nothing_asked()
        with refusing(_nothing_asked()):
            material = Material.objects.create(
                case=case, round=case.round, text=text, sent_by=actor, at=clock.now()
            )
        _next_round(case, run, actor)
    return material


def _next_round(case: Case, run: Run, actor: User) -> None:
    publish_move(run.pk, Publication.IN_REVIEW, why=Why(actor=PARTICIPANT, sentence=ANSWERED, user=actor))
    before = User.objects.filter(pk__in=case.decisions.filter(round=case.round).values("reviewer"))
    case.round += 1
    case.status = Case.Status.OPEN
    case.save(update_fields=["round", "status"])
    audit.record(
        "review.material_sent", subject=f"run:{run.public_id}", actor=actor, actor_label=PARTICIPANT,
        case=case.public_id, round=case.round,
    )  # fmt: skip
    telling.answered(case, run, reviewers=before)


def _checked(text: str) -> str:
    text = text.strip()
    if not 1 <= len(text) <= TEXT_LENGTH:
        raise FieldRefusal("text", _("An answer has 1 to %(most)s characters.") % {"most": TEXT_LENGTH})
    if problem := text_problem(text, multiline=True):
        raise FieldRefusal("text", problem)
    return text


def _case_of(run: Run) -> Case:
    case = Case.objects.filter(run=run).first()
    if case is None:
        raise _nothing_asked()
    return case


def _nothing_asked() -> Refusal:
    return Refusal(
        "nothing_asked",
        _("No reviewer is waiting for material of this run."),
        hint=_("It may have been answered by somebody else of your team a moment ago."),
    )
