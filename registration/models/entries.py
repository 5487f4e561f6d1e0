"""What is entered: systems and their versions."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from aml.lib.ids import public_id
from aml.web.models import User
from registration.models.participants import Registration


class TrackChoice(models.TextChoices):
    TEXTUAL = "textual", _("Textual")
    CODING = "coding", _("Coding")
    MULTIMODAL = "multimodal", _("Multimodal")


class AuthChoice(models.TextChoices):
    BEARER = "bearer", _("Authorization: Bearer <key>")
    TOKEN = "token", _("Authorization: Token <key>")
    X_API_KEY = "x-api-key", _("X-Api-Key: <key>")
    NONE = "none", _("no key (Smoke and checks only)")


class EntryQuerySet(models.QuerySet["Entry"]):
    def visible_to(self, user: User) -> EntryQuerySet:
        return self.filter(registration__participant__members__user=user)


class Entry(models.Model):
    """A memory system in one registration, in one or more tracks."""

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="entries")
    name = models.CharField(_("system"), max_length=80)
    slug = models.SlugField(max_length=100, unique=True, editable=False)
    description = models.TextField(_("description"), max_length=4000)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[models.Manager[Entry]] = EntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "entries"
        constraints = (
            models.UniqueConstraint(
                fields=["registration", "name"],
                name="entry_name_unique_in_registration",
                violation_error_message=_("You have entered a system of this name."),
            ),
        )

    def __str__(self) -> str:
        return self.name


class EntryTrack(models.Model):
    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="tracks")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["entry", "track"], name="entry_track_once"),
            models.CheckConstraint(condition=Q(track__in=TrackChoice.values), name="entry_track_known"),
        )

    def __str__(self) -> str:
        return self.track


class VersionQuerySet(models.QuerySet["Version"]):
    def visible_to(self, user: User) -> VersionQuerySet:
        return self.filter(entry__registration__participant__members__user=user)

    def usable(self) -> VersionQuerySet:
        return self.filter(withdrawn_at__isnull=True, entry__withdrawn_at__isnull=True)


class Version(models.Model):
    """One submission of an entry. An accepted Full freezes it: any change is a new version."""

    #: Fields that an accepted Full freezes (product.md, rule 5). Key rotation, contacts and the
    #: public profile stay open.
    FROZEN_FIELDS: ClassVar[tuple[str, ...]] = (
        "label", "add_url", "search_url", "health_url", "status_url", "auth_scheme", "add_concurrency",
        "search_concurrency", "rate_limit", "body_limit", "models_and_dependencies", "runtime_environment",
        "image_digest", "repository", "commit", "provenance", "original_authors", "changes", "licence",
        "implementation_notes", "product_version", "capacity_statement",
    )  # fmt: skip

    #: Where the service is and how it wants the key; the memory key itself is not among them.
    ENDPOINT_FIELDS: ClassVar[tuple[str, ...]] = (
        "add_url", "search_url", "health_url", "status_url", "auth_scheme",
    )  # fmt: skip

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    entry = models.ForeignKey(Entry, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(editable=False)
    label = models.CharField(_("version"), max_length=60)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    changed_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text=_("When what a Full freezes was last edited.")
    )
    frozen_at = models.DateTimeField(null=True, blank=True, editable=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)

    add_url = models.CharField(_("Add URL"), max_length=500)
    search_url = models.CharField(_("Search URL"), max_length=500)
    health_url = models.CharField(_("health URL"), max_length=500, blank=True)
    status_url = models.CharField(_("Add-status URL"), max_length=500, blank=True)
    auth_scheme = models.CharField(
        _("authentication"), max_length=10, choices=AuthChoice.choices, default=AuthChoice.BEARER
    )
    memory_key_encrypted = models.BinaryField(null=True, editable=False)
    memory_key_last4 = models.CharField(max_length=4, blank=True, editable=False)
    memory_key_set_at = models.DateTimeField(null=True, blank=True, editable=False)
    add_concurrency = models.PositiveSmallIntegerField(
        _("Adds at once"), default=8, validators=[MinValueValidator(1), MaxValueValidator(64)]
    )
    search_concurrency = models.PositiveSmallIntegerField(
        _("Searches at once"), default=16, validators=[MinValueValidator(1), MaxValueValidator(256)]
    )
    rate_limit = models.CharField(_("rate limit"), max_length=200, blank=True)
    body_limit = models.PositiveIntegerField(_("largest body (bytes)"), null=True, blank=True)

    runtime_environment = models.TextField(_("runtime environment"), max_length=4000)
    documentation = models.TextField(_("system documentation"), max_length=8000)
    models_and_dependencies = models.TextField(_("models and dependencies"), max_length=4000)
    image_digest = models.CharField(
        _("image digest"),
        max_length=120,
        blank=True,
        validators=[
            RegexValidator(r"^(.+@)?sha256:[0-9a-f]{64}$", _("Expected …@sha256: and 64 hex digits."))
        ],
    )
    contact = models.EmailField(_("contact"))
    maintenance_contact = models.EmailField(_("contact during a run"), blank=True)
    organisation = models.CharField(_("organisation"), max_length=200, blank=True)
    public_fields = models.JSONField(_("shown publicly"), default=list)

    repository = models.CharField(_("public repository"), max_length=500, blank=True)
    commit = models.CharField(_("pinned commit"), max_length=100, blank=True)
    original_authors = models.TextField(_("original authors"), max_length=2000, blank=True)
    provenance = models.TextField(_("provenance"), max_length=4000, blank=True)
    changes = models.TextField(_("changes made"), max_length=4000, blank=True)
    licence = models.CharField(_("licence"), max_length=100, blank=True)
    implementation_notes = models.TextField(_("implementation notes"), max_length=8000, blank=True)

    product_version = models.CharField(_("product version"), max_length=100, blank=True)
    capacity_statement = models.TextField(_("capacity statement"), max_length=4000, blank=True)

    objects: ClassVar[models.Manager[Version]] = VersionQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["entry", "number"], name="version_number_unique_in_entry"),
            models.UniqueConstraint(
                fields=["entry", "label"],
                name="version_label_unique_in_entry",
                violation_error_message=_("This system has a version of this name."),
            ),
            models.CheckConstraint(
                condition=Q(add_concurrency__range=(1, 64)) & Q(search_concurrency__range=(1, 256)),
                name="version_concurrency_in_range",
            ),
            models.CheckConstraint(
                condition=Q(auth_scheme__in=AuthChoice.values), name="version_auth_scheme_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.entry.name} {self.label}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_changes_when_frozen()
        super().save(*args, **kwargs)

    def endpoint(self) -> dict[str, str]:
        """What a run keeps of where and how this version was called."""
        return {name: getattr(self, name) for name in self.ENDPOINT_FIELDS}

    def _refuse_changes_when_frozen(self) -> None:
        if not self.pk:
            return
        stored = (
            type(self).objects.filter(pk=self.pk, frozen_at__isnull=False).values(*self.FROZEN_FIELDS).first()
        )
        if stored is None:
            return
        changed = [name for name, value in stored.items() if getattr(self, name) != value]
        if changed:
            raise FrozenVersion(changed)


class FrozenVersion(ValueError):
    """An accepted Full froze this version; these fields can't change."""

    def __init__(self, fields: list[str]) -> None:
        super().__init__("frozen by an accepted Full: " + ", ".join(fields))
        self.fields = fields
