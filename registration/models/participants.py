"""Who takes part: participants, their people, and their registration in a cycle."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from aml.lib.ids import public_id as new_public_id
from aml.web.models import User
from registration.models.cycles import Cycle


class DivisionChoice(models.TextChoices):
    OPEN_SOURCE = "open-source", _("Open-source Methods")
    COMMERCIAL = "commercial", _("Commercial Products")


class ParticipantQuerySet(models.QuerySet["Participant"]):
    def of(self, user: User) -> ParticipantQuerySet:
        return self.filter(members__user=user)


class Participant(models.Model):
    """A person or a team."""

    class Kind(models.TextChoices):
        PERSON = "person", _("a person")
        TEAM = "team", _("a team")

    public_id = models.CharField(max_length=32, unique=True, default=new_public_id, editable=False)
    name = models.CharField(_("name"), max_length=120)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices, default=Kind.TEAM)
    organisation = models.CharField(_("organisation"), max_length=200, blank=True)
    join_code = models.CharField(max_length=32, unique=True, default=new_public_id, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager[Participant]] = ParticipantQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(name=""), name="participant_has_a_name"),
            models.UniqueConstraint(
                fields=["name"],
                name="participant_name_unique",
                violation_error_message=_("A participant of this name exists; ask them for the join code."),
            ),
        )

    def __str__(self) -> str:
        return self.name


class Member(models.Model):
    """A person's place in a participant."""

    class Role(models.TextChoices):
        OWNER = "owner", _("owner")
        ENGINEER = "engineer", _("engineer")
        VIEWER = "viewer", _("viewer")

    #: Who may change anything; viewers read.
    ACTING: ClassVar[tuple[str, ...]] = (Role.OWNER, Role.ENGINEER)

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.ENGINEER)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["participant", "user"], name="member_once_per_participant"),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.participant}"

    @property
    def may_act(self) -> bool:
        return self.role in self.ACTING


def acting_people(registration_id: int) -> models.QuerySet[User]:
    """Who is told of what must be done: owners and engineers of the registration's participant.

    The role is asked of the place in this participant: a person may be a viewer of another one.
    """
    acting = Member.objects.filter(participant__registrations=registration_id, role__in=Member.ACTING)
    return User.objects.filter(pk__in=acting.values("user")).order_by("pk")


class RegistrationQuerySet(models.QuerySet["Registration"]):
    def of(self, user: User) -> RegistrationQuerySet:
        return self.filter(participant__members__user=user)

    def approved(self) -> RegistrationQuerySet:
        return self.filter(status=Registration.Status.APPROVED)


class Registration(models.Model):
    """A participant in a cycle, in one division: what is approved, and what keys and quota hang on."""

    class Status(models.TextChoices):
        SUBMITTED = "submitted", _("waiting for the organiser")
        APPROVED = "approved", _("approved")
        REJECTED = "rejected", _("not approved")
        WITHDRAWN = "withdrawn", _("withdrawn")

    #: In these its people take part in the cycle.
    LIVE: ClassVar[tuple[str, ...]] = (Status.SUBMITTED, Status.APPROVED)

    public_id = models.CharField(max_length=32, unique=True, default=new_public_id, editable=False)
    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="registrations")
    cycle = models.ForeignKey(Cycle, on_delete=models.PROTECT, related_name="registrations")
    division = models.CharField(_("division"), max_length=16, choices=DivisionChoice.choices)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.SUBMITTED)
    statement = models.TextField(_("what you want to enter"), blank=True)
    submitted_at = models.DateTimeField(default=timezone.now, editable=False)
    decided_at = models.DateTimeField(null=True, blank=True, editable=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        editable=False,
    )
    decision_reason = models.TextField(_("reason"), blank=True)

    objects: ClassVar[models.Manager[Registration]] = RegistrationQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["participant", "cycle"],
                name="registration_once_per_participant_and_cycle",
                violation_error_message=_("This participant is registered in this cycle, in one division."),
            ),
            models.CheckConstraint(
                condition=Q(division__in=DivisionChoice.values), name="registration_division_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["submitted", "approved", "rejected", "withdrawn"]),
                name="registration_status_known",
            ),
            models.CheckConstraint(
                condition=Q(status="submitted", decided_at__isnull=True)
                | Q(status__in=["approved", "rejected"], decided_at__isnull=False)
                | Q(status="withdrawn"),
                name="registration_decided_has_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.participant} in {self.cycle}"


class Membership(models.Model):
    """One person takes part in a cycle through one registration only."""

    registration = models.ForeignKey(Registration, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="cycle_memberships"
    )
    cycle = models.ForeignKey(Cycle, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["user", "cycle"],
                name="membership_one_per_person_and_cycle",
                violation_error_message=_("This person takes part in this cycle with another participant."),
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.registration}"
