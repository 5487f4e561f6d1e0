"""What the public sees: current rows and citable snapshots."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.models import EvaluationContract, Run
from registration.models import Cycle, Entry
from registration.models.entries import TrackChoice
from registration.models.participants import DivisionChoice


class BoardRowQuerySet(models.QuerySet["BoardRow"]):
    def current(self) -> BoardRowQuerySet:
        return self.filter(is_current=True)

    def of_board(self, *, cycle: Cycle, track: str, division: str) -> BoardRowQuerySet:
        return self.filter(cycle=cycle, track=track, division=division)

    def for_display(self) -> BoardRowQuerySet:
        return self.select_related(
            "run__score", "run__version", "entry__registration__participant", "contract"
        )


class BoardRow(models.Model):
    """One entry's published Full in a track; the newest accepted one is current (product.md, rule 8)."""

    cycle = models.ForeignKey(Cycle, on_delete=models.PROTECT, related_name="+")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    division = models.CharField(max_length=16, choices=DivisionChoice.choices)
    contract = models.ForeignKey(EvaluationContract, on_delete=models.PROTECT, related_name="+")
    entry = models.ForeignKey(Entry, on_delete=models.PROTECT, related_name="board_rows")
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="board_row")
    is_current = models.BooleanField(default=True)
    cells = models.JSONField(
        default=list, help_text=_("Count and sum by sample and capability, for rank ranges; not public.")
    )
    published_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager[BoardRow]] = BoardRowQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["entry", "track"],
                condition=Q(is_current=True),
                name="board_row_one_current_per_entry_and_track",
            ),
        )
        indexes = (
            models.Index(
                fields=["cycle", "track", "division"], condition=Q(is_current=True), name="board_current"
            ),
        )

    def __str__(self) -> str:
        return f"{self.entry} in {self.track}"


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def of_board(self, *, cycle: Cycle, track: str, division: str) -> SnapshotQuerySet:
        return self.filter(cycle=cycle, track=track, division=division)

    def newest_first(self) -> SnapshotQuerySet:
        return self.order_by("-number").select_related("contract", "cycle")


class Snapshot(models.Model):
    """A board as it stood: immutable, numbered, hashed, citable."""

    cycle = models.ForeignKey(Cycle, on_delete=models.PROTECT, related_name="snapshots")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    division = models.CharField(max_length=16, choices=DivisionChoice.choices)
    number = models.PositiveIntegerField()
    contract = models.ForeignKey(EvaluationContract, on_delete=models.PROTECT, related_name="+")
    data = models.JSONField()
    hash = models.CharField(max_length=64)
    reason = models.CharField(max_length=200, help_text=_("What changed."))
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager[Snapshot]] = SnapshotQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["cycle", "track", "division", "number"], name="snapshot_number_unique"
            ),
        )

    def __str__(self) -> str:
        return f"{self.track}/{self.division} #{self.number}"
