"""Evaluation Keys: made, shown once, revoked."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from aml.web import audit, clock
from aml.web.errors import Refusal
from aml.web.models import User
from registration import crypto
from registration.models import EvaluationKey, Registration
from registration.services import guards

#: Within this, a form sent twice shows a working key the second time as well.
REPEAT_WINDOW = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key with its text, which exists nowhere else."""

    key: EvaluationKey
    text: str = field(repr=False)


def create_evaluation_key(*, actor: User, registration: Registration) -> NewKey:
    """A key of an approved registration; at most two live, so that one can be rotated in without a gap."""
    with transaction.atomic():
        registration = guards.locked_registration(registration)
        guards.acting_member(actor, registration.participant)
        refuse_unapproved(registration)
        parsed = crypto.new_evaluation_key()
        with guards.refusing(_too_many()):
            key = EvaluationKey.objects.create(
                registration=registration, key_id=parsed.key_id, digest=crypto.digest_of(parsed),
                slot=_free_slot(registration), created_by=actor, created_at=clock.now(),
            )  # fmt: skip
        _note("created", key, actor=actor)
    return NewKey(key, parsed.text)


def reissue_key(*, actor: User, key: EvaluationKey) -> NewKey | None:
    """A new secret for a key made moments ago and never used; None once that time is over.

    A double click sends the form twice and the browser shows the second answer only: the first key's text
    is lost, and this gives the same key another.
    """
    with transaction.atomic():
        guards.locked_registration(key.registration)
        key = EvaluationKey.objects.select_for_update(of=("self",)).get(pk=key.pk, created_by=actor)
        fresh = clock.now() - key.created_at < REPEAT_WINDOW
        if not fresh or key.last_used_at is not None or key.revoked_at is not None:
            return None
        parsed = crypto.new_evaluation_key(key_id=key.key_id)
        key.digest = crypto.digest_of(parsed)
        key.save(update_fields=["digest"])
        _note("shown_again", key, actor=actor)
    return NewKey(key, parsed.text)


def revoke_key(*, actor: User, key: EvaluationKey) -> EvaluationKey:
    """The key stops working at once; revoking twice is no error. Organisers may do it too."""
    with transaction.atomic():
        registration = guards.locked_registration(key.registration)
        role = guards.acting_member_or_organiser(actor, registration.participant)
        key = EvaluationKey.objects.select_for_update(of=("self",)).get(pk=key.pk)
        if key.revoked_at is None:
            key.revoked_at = clock.now()
            key.save(update_fields=["revoked_at"])
            _note("revoked", key, actor=actor, role=role)
    return key


def refuse_unapproved(registration: Registration) -> None:
    if registration.status == Registration.Status.APPROVED:
        return
    sentences = {
        Registration.Status.SUBMITTED: _("The organiser has not decided on this registration yet."),
        Registration.Status.REJECTED: _("This registration was not approved."),
        Registration.Status.WITHDRAWN: _("This registration was withdrawn."),
    }
    raise Refusal(
        "not_approved",
        sentences[Registration.Status(registration.status)],
        hint=_("Keys are made once a registration is approved."),
    )


def _free_slot(registration: Registration) -> int:
    taken = set(registration.keys.filter(revoked_at__isnull=True).values_list("slot", flat=True))
    free = [slot for slot in range(1, EvaluationKey.MAX_LIVE + 1) if slot not in taken]
    if not free:
        raise _too_many()
    return free[0]


def _too_many() -> Refusal:
    return Refusal(
        "keys_used",
        _("Two keys are live, which is the most."),
        hint=_("Revoke one that is not used any more, then make a new one."),
    )


def _note(act: str, key: EvaluationKey, *, actor: User, role: str = audit.PARTICIPANT) -> None:
    audit.record(
        f"evaluation_key.{act}", subject=f"registration:{key.registration.public_id}", actor=actor,
        actor_label=role, key_id=key.key_id,
    )  # fmt: skip
