"""The ledger: lanes of units, attempts, results. The database is the truth; a broker only wakes somebody."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from benchmarks.models import PackEvent
from evaluations import states
from evaluations.models.runs import Run


class KindChoice(models.TextChoices):
    ADD = "add", _("Add")
    SEARCH = "search", _("Search")
    ANSWER = "answer", _("Answer")
    JUDGE = "judge", _("Judge")
    TEST = "test", _("Test")


class Lane(models.Model):
    """One sample of a run. Its steps go one after the other: an Add, or consecutive asks side by side."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="lanes")
    position = models.PositiveIntegerField()
    sample = models.CharField(max_length=200)
    dataset = models.CharField(max_length=200)
    step = models.PositiveIntegerField(default=0, help_text=_("The step whose calls are ready or in flight."))
    steps = models.PositiveIntegerField()
    remaining = models.PositiveIntegerField(help_text=_("Steps left; the longest lane goes first."))
    closed_code = models.CharField(max_length=40, blank=True, help_text=_("Why the lane ended early."))

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["run", "position"], name="lane_position_unique"),
            models.CheckConstraint(condition=Q(step__lte=F("steps")), name="lane_step_in_range"),
        )

    def __str__(self) -> str:
        return f"{self.run_id}/{self.position}"


class Unit(models.Model):
    """One logical call. Claimed with a token and an end; completed by an UPDATE on that token."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="units")
    lane = models.ForeignKey(Lane, on_delete=models.PROTECT, related_name="units")
    kind = models.CharField(max_length=6, choices=KindChoice.choices)
    position = models.PositiveIntegerField(help_text=_("Order within the lane."))
    step = models.PositiveIntegerField()
    event = models.ForeignKey(PackEvent, on_delete=models.PROTECT, related_name="+")
    ask = models.CharField(max_length=200, blank=True)
    question = models.CharField(max_length=200, blank=True)

    status = models.CharField(
        max_length=8, choices=states.UnitStatus.choices, default=states.UnitStatus.WAITING
    )
    next_attempt_at = models.DateTimeField(null=True)
    claim_token = models.CharField(max_length=40, blank=True)
    claim_expires_at = models.DateTimeField(null=True)
    attempts_made = models.PositiveIntegerField(default=0)
    history = models.JSONField(default=dict, help_text=_("What the retry rules remember of this call."))
    finished_at = models.DateTimeField(null=True)
    code = models.CharField(max_length=40, blank=True)
    fault = models.CharField(max_length=12, blank=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["run", "kind", "next_attempt_at"], condition=Q(status="ready"), name="unit_ready"
            ),
            models.Index(fields=["claim_expires_at"], condition=Q(status="claimed"), name="unit_claimed"),
            models.Index(fields=["claim_token"], condition=Q(status="claimed"), name="unit_claim_token"),
            models.Index(fields=["run", "kind", "status"], name="unit_progress"),
        )
        constraints = (
            models.UniqueConstraint(fields=["lane", "position"], name="unit_position_unique"),
            models.UniqueConstraint(
                fields=["run", "ask", "kind"], condition=~Q(ask=""), name="unit_one_of_a_kind_per_ask"
            ),
            models.CheckConstraint(
                condition=Q(status__in=states.UnitStatus.values), name="unit_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="claimed", claim_expires_at__isnull=False) & ~Q(claim_token="")
                | ~Q(status="claimed") & Q(claim_expires_at__isnull=True, claim_token=""),
                name="unit_claimed_has_token_and_end",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["done", "failed", "skipped"], finished_at__isnull=False)
                | Q(status__in=["waiting", "ready", "claimed"], finished_at__isnull=True),
                name="unit_final_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["failed", "skipped"])
                | ~Q(code="") & (Q(status="skipped") | ~Q(fault="")),
                name="unit_failed_says_why",
            ),
            models.CheckConstraint(
                condition=Q(kind="add", ask="") | ~Q(kind="add") & ~Q(ask=""), name="unit_ask_unless_add"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.lane_id}/{self.position}"


class Attempt(models.Model):
    """One exchange: an intent, committed before the request leaves, completed once."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="attempts")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempts")
    kind = models.CharField(max_length=6, choices=KindChoice.choices)
    number = models.PositiveIntegerField()
    claim_token = models.CharField(max_length=40)
    state = models.CharField(
        max_length=8, choices=states.AttemptState.choices, default=states.AttemptState.INTENT
    )
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    ok = models.BooleanField(default=False)
    code = models.CharField(max_length=40, blank=True)
    fault = models.CharField(max_length=12, blank=True)
    sentence = models.TextField(blank=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    latency = models.FloatField(null=True)
    timing = models.JSONField(default=dict)
    request_sha256 = models.CharField(max_length=64, blank=True)
    request_size = models.PositiveBigIntegerField(default=0)
    response_sha256 = models.CharField(max_length=64, blank=True)
    response_size = models.PositiveBigIntegerField(default=0)
    pointer = models.CharField(max_length=500, blank=True)
    exchange = models.CharField(
        max_length=64, blank=True, help_text=_("Body with the whole exchange (Smoke only).")
    )
    wait_until = models.DateTimeField(null=True, help_text=_("When the next attempt may begin."))

    class Meta:
        indexes = (
            models.Index(fields=["run", "code"], condition=~Q(code=""), name="attempt_failed"),
            models.Index(fields=["run", "kind", "id"], name="attempt_of_run"),
            models.Index(fields=["claim_token"], condition=Q(state="intent"), name="attempt_in_flight"),
        )
        constraints = (
            models.UniqueConstraint(fields=["unit", "number"], name="attempt_number_unique"),
            models.UniqueConstraint(
                fields=["unit"], condition=Q(ok=True), name="attempt_one_success_per_unit"
            ),
            models.CheckConstraint(
                condition=Q(state="intent", finished_at__isnull=True)
                | ~Q(state="intent") & Q(finished_at__isnull=False),
                name="attempt_finished_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(ok=False) | Q(code="", state="done"), name="attempt_ok_has_no_code"
            ),
        )

    def __str__(self) -> str:
        return f"{self.unit_id} #{self.number}"


class Result(models.Model):
    """What a done unit brought; unique per unit, and all that scores read."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="result")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="results")
    kind = models.CharField(max_length=6, choices=KindChoice.choices)
    ask = models.CharField(max_length=200)
    data = models.JSONField(default=dict)
    body = models.CharField(max_length=64, blank=True, help_text=_("Body: items seen, prompts, raw replies."))
    score = models.FloatField(null=True)
    reason = models.CharField(max_length=80, blank=True, help_text=_("Why there is no score."))

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["run", "ask", "kind"], name="result_one_of_a_kind_per_ask"),
            models.CheckConstraint(
                condition=Q(score__isnull=True) | Q(score__gte=0, score__lte=1), name="result_score_in_range"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.ask}"


SERVICE_KINDS = frozenset({KindChoice.ADD, KindChoice.SEARCH})
MODEL_KINDS = frozenset({KindChoice.ANSWER, KindChoice.JUDGE})
