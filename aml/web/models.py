"""What every app stands on: people, audit, outbox, idempotency, bodies, heartbeats."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from aml.lib.ids import public_id


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    """A person. The e-mail address is the log-in; the name is what others see."""

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    email = models.EmailField(_("e-mail address"), unique=True)
    name = models.CharField(_("name"), max_length=150, blank=True)
    language = models.CharField(_("language"), max_length=16, default="en")
    is_staff = models.BooleanField(_("may use the admin"), default=False)
    is_reviewer = models.BooleanField(_("may review runs"), default=False)
    is_active = models.BooleanField(_("active"), default=True)
    date_joined = models.DateTimeField(_("joined"), default=timezone.now, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = (
            models.UniqueConstraint(
                Lower("email"),
                name="user_email_unique_without_case",
                violation_error_message=_("Somebody has registered with this e-mail address."),
            ),
        )

    def __str__(self) -> str:
        return self.name or self.email

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name or self.email.partition("@")[0]


class AuditEntry(models.Model):
    """One act. Written unchained in the act's transaction; the chainer seals it in sequence."""

    at = models.DateTimeField(default=timezone.now, editable=False)
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    actor_key = models.CharField(
        max_length=32,
        blank=True,
        editable=False,
        help_text=_("The person's public id; sealed, never published."),
    )
    actor_label = models.CharField(max_length=200, help_text=_("Role of who acted; no address."))
    act = models.CharField(max_length=80)
    subject = models.CharField(max_length=200, help_text=_("Kind and public id, such as run:3f9…"))
    reason = models.TextField(blank=True)
    data = models.JSONField(default=dict)
    public = models.BooleanField(default=False)
    sequence = models.BigIntegerField(null=True, unique=True, editable=False)
    previous_hash = models.CharField(max_length=64, blank=True, editable=False)
    entry_hash = models.CharField(max_length=64, blank=True, editable=False)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = (models.Index(fields=["subject"]), models.Index(fields=["at"]))
        constraints = (
            models.CheckConstraint(
                condition=Q(sequence__isnull=True, entry_hash="")
                | Q(sequence__isnull=False) & ~Q(entry_hash=""),
                name="audit_sealed_has_sequence_and_hash",
            ),
        )

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"


class AuditRoot(models.Model):
    """The chain's head at the end of a day (UTC): what an outsider can write down."""

    day = models.DateField(unique=True)
    sequence = models.BigIntegerField()
    entry_hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.day}: {self.entry_hash[:12]}"


class OutboxMessage(models.Model):
    """One mail per event and recipient, written in the event's transaction, sent afterwards."""

    class Status(models.TextChoices):
        PENDING = "pending", _("waiting to be sent")
        SENT = "sent", _("sent")
        FAILED = "failed", _("could not be sent")

    event = models.CharField(max_length=120, help_text=_("What happened, such as run:3f9…:paused:4"))
    recipient = models.EmailField()
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    template = models.CharField(max_length=80)
    context = models.JSONField(default=dict)
    language = models.CharField(max_length=16, default="en")
    mandatory = models.BooleanField(default=False)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        indexes = (
            models.Index(fields=["next_attempt_at"], condition=Q(status="pending"), name="outbox_pending"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["event", "recipient"], name="outbox_one_mail_per_event_and_recipient"
            ),
            models.CheckConstraint(
                condition=Q(status="sent", sent_at__isnull=False)
                | ~Q(status="sent") & Q(sent_at__isnull=True),
                name="outbox_sent_has_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} → {self.recipient}"


class IdempotencyRecord(models.Model):
    """The first answer to a creating request, kept for repeats of the same key or form nonce."""

    scope = models.CharField(max_length=120, help_text=_("Who asked: a key or a person, and the call."))
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    status_code = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (models.Index(fields=["created_at"]),)
        constraints = (
            models.UniqueConstraint(fields=["scope", "key"], name="idempotency_one_record_per_scope_and_key"),
        )

    def __str__(self) -> str:
        return f"{self.scope} {self.key}"


class Body(models.Model):
    """A content-addressed, compressed blob; the bytes lie in Django's storage under its SHA-256."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    size = models.PositiveBigIntegerField(help_text=_("Bytes before compression."))
    stored_size = models.PositiveBigIntegerField(help_text=_("Bytes as stored."))
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "bodies"

    def __str__(self) -> str:
        return self.sha256[:12]


class Heartbeat(models.Model):
    """A process says that it lives; the status page and reconcile read it."""

    class Kind(models.TextChoices):
        DRIVER = "driver", _("driver")

    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    started_at = models.DateTimeField(default=timezone.now)
    beat_at = models.DateTimeField(default=timezone.now)
    detail = models.JSONField(default=dict)

    class Meta:
        indexes = (models.Index(fields=["kind", "beat_at"]),)

    def __str__(self) -> str:
        return self.name


class PlatformState(models.Model):
    """The one row of switches that all processes share."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    maintenance = models.BooleanField(_("maintenance"), default=False)
    maintenance_reason = models.CharField(_("reason shown"), max_length=300, blank=True)
    clock_offset_seconds = models.BigIntegerField(
        _("clock offset"), default=0, help_text=_("For tests: added to the database's time. 0 in production.")
    )

    class Meta:
        verbose_name_plural = "platform state"
        constraints = (models.CheckConstraint(condition=Q(id=1), name="platform_state_is_one_row"),)

    def __str__(self) -> str:
        return "platform state"
