"""What scripts send and receive. Unknown fields are refused, and an error says what came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from evaluations import states
from evaluations.services.starting import LABEL_LENGTH
from registration.models.entries import TrackChoice

SHOWN = 80  # characters of a wrong value


class Choice(serializers.ChoiceField):
    def __init__(self, choices: list[str], **kwargs: Any) -> None:
        expected: dict[str, Any] = {"invalid_choice": _("expected one of: %s") % ", ".join(choices)}
        super().__init__(choices, error_messages=expected, **kwargs)


class Strict(serializers.Serializer[Any]):
    """Refuses fields that it does not know; each error begins with what came."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := sorted(set(data) - set(self.fields))):
            expected = ", ".join(self.fields)
            raise ValidationError({unknown[0]: [_("unknown field; expected some of: %s") % expected]})
        try:
            return super().to_internal_value(data)
        except ValidationError as error:
            raise ValidationError(_with_values(error.detail, data)) from error


def _with_values(detail: Any, data: Any) -> Any:
    if not isinstance(detail, dict) or not isinstance(data, Mapping):
        return detail
    return {
        name: [f"{_came(data[name])}; {one}" for one in errors]
        if name in data and isinstance(errors, list)
        else errors
        for name, errors in detail.items()
    }


def _came(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return _("got %s") % (text if len(text) <= SHOWN else text[:SHOWN] + "…")


class CheckRequest(Strict):
    version = serializers.CharField(max_length=32)
    track = Choice(TrackChoice.values, required=False, help_text="Needed if the entry has several tracks.")


class Concurrency(Strict):
    add = serializers.IntegerField(min_value=1, max_value=64, required=False)
    search = serializers.IntegerField(min_value=1, max_value=256, required=False)


class Statements(Strict):
    version = serializers.IntegerField(min_value=1, max_value=2**31)
    accepted = serializers.ListField(child=serializers.CharField(max_length=40), max_length=50)


class RunRequest(Strict):
    version = serializers.CharField(max_length=32)
    track = Choice(TrackChoice.values)
    kind = Choice(states.RunKind.values)
    label = serializers.CharField(max_length=LABEL_LENGTH)  # type: ignore[assignment]  # a field of that name
    concurrency = Concurrency(required=False, help_text="At most what the version declares; the default.")
    statements = Statements(required=False, help_text="For a Full: ids and version from /cycles/current.")


class CancelRequest(Strict):
    expected = serializers.CharField(
        max_length=40, required=False, help_text="Policy row that you were told; refused if it has changed."
    )


class Nothing(Strict):
    """An empty body."""


# ---- Answers ----------------------------------------------------------------------------------


class PaceAnswer(serializers.Serializer[Any]):
    rate = serializers.FloatField(allow_null=True, help_text="A second.")
    eta = serializers.FloatField(allow_null=True, help_text="Seconds.")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class StageAnswer(serializers.Serializer[Any]):
    name = serializers.CharField()
    done = serializers.IntegerField()
    total = serializers.SerializerMethodField(help_text="0 until planned_at.")
    failed = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="Not needed, and not in total.")
    in_flight = serializers.IntegerField()
    pace = PaceAnswer()

    def get_total(self, stage: Any) -> int:
        return stage.total or 0


class ErrorAnswer(serializers.Serializer[Any]):
    code = serializers.CharField()
    fault = serializers.CharField()
    title = serializers.CharField()
    advice = serializers.CharField()
    attempts = serializers.IntegerField()
    calls = serializers.IntegerField()
    final = serializers.IntegerField(help_text="Calls that it ended for good.")
    last_at = serializers.DateTimeField(allow_null=True)


class CapabilityAnswer(serializers.Serializer[Any]):
    id = serializers.CharField()
    title = serializers.CharField()
    weight = serializers.FloatField()
    asks = serializers.IntegerField()
    scored = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    hidden = serializers.BooleanField(help_text="Too few questions of a Full to tell.")


class ResultsAnswer(serializers.Serializer[Any]):
    """Scores are fractions from 0 to 1; latencies in seconds."""

    overall = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    asks = serializers.IntegerField()
    scored = serializers.IntegerField()
    unscored = serializers.IntegerField()
    zero_by_failure = serializers.IntegerField()
    capabilities = CapabilityAnswer(many=True)
    measures = serializers.JSONField()


class RunAnswer(serializers.Serializer[Any]):
    id = serializers.CharField(source="public_id")
    version = serializers.CharField(source="version.public_id")
    system = serializers.CharField(source="version.entry.name")
    track = serializers.CharField()
    kind = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    status = serializers.CharField()
    outcome = serializers.SerializerMethodField(help_text="The status once it is final, else null.")
    phase = serializers.CharField()
    pause_reason = serializers.CharField()
    fault = serializers.CharField()
    code = serializers.CharField()
    sentence = serializers.CharField()
    publication = serializers.CharField()
    publication_reason = serializers.CharField()
    accepted_at = serializers.DateTimeField()
    start_deadline_at = serializers.DateTimeField()
    planned_at = serializers.DateTimeField(allow_null=True)
    first_add_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    service_released_at = serializers.DateTimeField(allow_null=True, help_text="You may stop.")
    concurrency = serializers.JSONField(source="spec.concurrency")
    contract_hash = serializers.CharField(source="contract.hash")
    offline = serializers.BooleanField(source="contract.offline")
    event_count = serializers.IntegerField()

    def get_outcome(self, run: Any) -> str | None:
        return run.status if run.is_final else None


class SeenAnswer(serializers.Serializer[Any]):
    """What is read beside a run."""

    unofficial = serializers.BooleanField()
    stages = StageAnswer(many=True, source="progress.stages")
    in_flight = serializers.IntegerField(source="progress.in_flight")
    eta = serializers.FloatField(source="progress.eta", allow_null=True, help_text="Seconds.")
    eta_low = serializers.FloatField(source="progress.eta_low", allow_null=True)
    eta_high = serializers.FloatField(source="progress.eta_high", allow_null=True)
    errors_by_code = ErrorAnswer(many=True, source="progress.errors")
    results = ResultsAnswer(allow_null=True)


class RunDetail(RunAnswer, SeenAnswer):
    """A run with progress, errors and, once it has a score, results."""

    def to_representation(self, seen: Mapping[str, Any]) -> dict[str, Any]:
        return {**RunAnswer(seen["run"]).data, **SeenAnswer(seen).data}


class RunList(serializers.Serializer[Any]):
    runs = RunAnswer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Send it as before; null on the last page.")


class EventAnswer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    at = serializers.DateTimeField()
    kind = serializers.CharField()
    status_from = serializers.CharField()
    status_to = serializers.CharField()
    actor = serializers.CharField()
    sentence = serializers.CharField()


class EventList(serializers.Serializer[Any]):
    events = EventAnswer(many=True)
    last = serializers.IntegerField(help_text="Send it as after.")


class AttemptAnswer(serializers.Serializer[Any]):
    """``exchange``, ``sentence`` only of a Smoke; latency in seconds, sizes in bytes."""

    number = serializers.IntegerField()
    operation = serializers.CharField()
    at = serializers.DateTimeField()
    ok = serializers.BooleanField()
    code = serializers.CharField()
    fault = serializers.CharField()
    sentence = serializers.CharField()
    pointer = serializers.CharField()
    status = serializers.IntegerField(allow_null=True)
    latency = serializers.FloatField(allow_null=True)
    timing = serializers.JSONField()
    request_size = serializers.IntegerField()
    response_size = serializers.IntegerField()
    exchange = serializers.JSONField(allow_null=True)


class AttemptList(serializers.Serializer[Any]):
    attempts = AttemptAnswer(many=True)
    last = serializers.IntegerField(help_text="Send it as after.")


class CheckAnswer(serializers.Serializer[Any]):
    id = serializers.CharField(source="public_id")
    version = serializers.CharField(source="version.public_id")
    track = serializers.CharField()
    status = serializers.CharField()
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    sentence = serializers.CharField()
    report = serializers.JSONField(allow_null=True)
