"""Imported packs: a release is frozen, addressed by its hash, and read event by event."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmarks.types import Event, Manifest, Question


class PackReleaseQuerySet(models.QuerySet["PackRelease"]):
    def public(self) -> PackReleaseQuerySet:
        return self.filter(visibility="public")


class PackRelease(models.Model):
    """One frozen release of a benchmark."""

    class Visibility(models.TextChoices):
        PUBLIC = "public", _("public")
        PRIVATE = "private", _("private")

    pack = models.SlugField(_("pack"), max_length=64)
    version = models.CharField(max_length=32)
    hash = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=200)
    track = models.CharField(max_length=12)
    visibility = models.CharField(max_length=8, choices=Visibility.choices)
    licence = models.CharField(max_length=200)
    attribution = models.TextField()
    manifest = models.JSONField()
    answer_prompt = models.TextField()
    judge_prompt = models.TextField()
    readme = models.TextField(blank=True)
    complete = models.BooleanField(
        default=False, help_text=_("All rows were imported; only then it may be used.")
    )
    imported_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager[PackRelease]] = PackReleaseQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["pack", "version"], name="pack_release_version_unique"),
            models.CheckConstraint(
                condition=Q(visibility__in=["public", "private"]), name="pack_visibility_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.pack} {self.version}"

    def read_manifest(self) -> Manifest:
        return Manifest.model_validate(self.manifest)


class PackSample(models.Model):
    """One isolated history: becomes one lane of a run."""

    release = models.ForeignKey(PackRelease, on_delete=models.CASCADE, related_name="samples")
    key = models.CharField(max_length=200)
    dataset = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    adds = models.PositiveIntegerField()
    asks = models.PositiveIntegerField()
    content_hash = models.CharField(
        max_length=64, help_text=_("SHA-256 of the Adds; finds shared conversations.")
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["release", "key"], name="pack_sample_key_unique"),
            models.UniqueConstraint(fields=["release", "position"], name="pack_sample_position_unique"),
        )
        indexes = (models.Index(fields=["content_hash"]),)

    def __str__(self) -> str:
        return self.key


class PackEvent(models.Model):
    """One event of a sample: an Add's messages or an ask, as compressed JSON."""

    class Kind(models.TextChoices):
        ADD = "add", _("Add")
        ASK = "ask", _("ask")

    sample = models.ForeignKey(PackSample, on_delete=models.CASCADE, related_name="events")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=3, choices=Kind.choices)
    ask = models.CharField(max_length=200, blank=True)
    question = models.CharField(max_length=200, blank=True)
    body = models.BinaryField()
    size = models.PositiveIntegerField(help_text=_("Bytes of the JSON before compression."))

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["sample", "position"], name="pack_event_position_unique"),
        )

    def __str__(self) -> str:
        return f"{self.sample_id}:{self.position}"

    def read(self) -> Event:
        return Event.model_validate_json(unpack(self.body))


class PackQuestion(models.Model):
    """A question with its gold, as compressed JSON; private ones reach reviewers only."""

    release = models.ForeignKey(PackRelease, on_delete=models.CASCADE, related_name="questions")
    key = models.CharField(max_length=200)
    sample = models.CharField(max_length=200)
    dataset = models.CharField(max_length=200)
    capability = models.CharField(max_length=64)
    scorer = models.CharField(max_length=64)
    body = models.BinaryField()
    sent = models.PositiveIntegerField(default=0, help_text=_("How often it has been sent to a service."))

    class Meta:
        constraints = (models.UniqueConstraint(fields=["release", "key"], name="pack_question_key_unique"),)

    def __str__(self) -> str:
        return self.key

    def read(self) -> Question:
        return Question.model_validate_json(unpack(self.body))


def pack_json(data: bytes) -> bytes:
    """Compressed for a row; level 3 halves the time of 6 for a few per cent of size."""
    return zlib.compress(data, 3)


def unpack(body: bytes | memoryview) -> bytes:
    return zlib.decompress(bytes(body))


def read_questions(release_id: int, keys: Iterable[str]) -> dict[str, Question]:
    wanted = set(keys)
    if not wanted:
        return {}
    return {row.key: row.read() for row in PackQuestion.objects.filter(release=release_id, key__in=wanted)}
