"""Run states and the moves between them; publication states. Terminal states are named once."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import models
from django.utils.translation import gettext_lazy as _


class RunKind(models.TextChoices):
    SMOKE = "smoke", _("Smoke")
    FULL = "full", _("Full")


class RunStatus(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    PAUSED = "paused", _("paused")
    SUCCEEDED = "succeeded", _("succeeded")
    PARTIAL = "partial", _("partially completed")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


class Phase(models.TextChoices):
    STARTING = "starting", _("starting")
    INGESTING = "ingesting", _("storing the histories")
    SEARCHING = "searching", _("searching")
    ANSWERING = "answering", _("answering")
    JUDGING = "judging", _("judging")
    AGGREGATING = "aggregating", _("computing the scores")


class PauseReason(models.TextChoices):
    ENDPOINT = "endpoint", _("waiting for the memory service")
    PROVIDER = "provider", _("waiting for the model provider")
    OPERATOR = "operator", _("paused by the organiser")


class Publication(models.TextChoices):
    PRIVATE = "private", _("private")
    IN_REVIEW = "in_review", _("in review")
    NEEDS_MATERIAL = "needs_material", _("waiting for material")
    APPROVED = "approved", _("approved")
    PUBLISHED = "published", _("published")
    REJECTED = "rejected", _("rejected")
    WITHDRAWN = "withdrawn", _("withdrawn")
    DISQUALIFIED = "disqualified", _("disqualified")
    WITHHELD = "withheld", _("withheld")


ACTIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.PAUSED})
FINAL = frozenset(RunStatus) - ACTIVE
SCORED_ENDS = frozenset({RunStatus.SUCCEEDED, RunStatus.PARTIAL})

MOVES: Mapping[str, frozenset[str]] = {
    RunStatus.QUEUED: frozenset({RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.FAILED, RunStatus.CANCELLED}),
    RunStatus.RUNNING: frozenset({RunStatus.PAUSED}) | FINAL,
    RunStatus.PAUSED: frozenset({RunStatus.RUNNING, RunStatus.QUEUED}) | FINAL,
    **{state: frozenset[str]() for state in FINAL},
}

PUBLICATION_MOVES: Mapping[str, frozenset[str]] = {
    Publication.PRIVATE: frozenset({Publication.IN_REVIEW, Publication.WITHDRAWN}),
    Publication.IN_REVIEW: frozenset(
        {
            Publication.NEEDS_MATERIAL,
            Publication.APPROVED,
            Publication.REJECTED,
            Publication.WITHDRAWN,
            Publication.WITHHELD,
        }
    ),
    Publication.NEEDS_MATERIAL: frozenset(
        {Publication.IN_REVIEW, Publication.REJECTED, Publication.WITHDRAWN}
    ),
    Publication.APPROVED: frozenset({Publication.PUBLISHED, Publication.WITHHELD, Publication.WITHDRAWN}),
    Publication.PUBLISHED: frozenset({Publication.WITHDRAWN, Publication.DISQUALIFIED, Publication.WITHHELD}),
    Publication.REJECTED: frozenset({Publication.IN_REVIEW}),
    Publication.WITHHELD: frozenset({Publication.IN_REVIEW, Publication.PUBLISHED, Publication.WITHDRAWN}),
    Publication.WITHDRAWN: frozenset(),
    Publication.DISQUALIFIED: frozenset({Publication.IN_REVIEW}),
}


class UnitStatus(models.TextChoices):
    WAITING = "waiting", _("waiting for others")
    READY = "ready", _("ready")
    CLAIMED = "claimed", _("in flight")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    SKIPPED = "skipped", _("skipped")


UNIT_FINAL = frozenset({UnitStatus.DONE, UnitStatus.FAILED, UnitStatus.SKIPPED})


class AttemptState(models.TextChoices):
    INTENT = "intent", _("in flight")
    DONE = "done", _("answered")
    UNKNOWN = "unknown", _("outcome unknown")
