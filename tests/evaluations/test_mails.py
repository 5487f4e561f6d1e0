"""Mails about runs, rendered in both languages."""

from __future__ import annotations

import pytest

from aml.web import outbox
from aml.web.models import OutboxMessage

SENTENCE = "Cancelled by the participant."
RUN = {"label": "A <Full>", "run": "abc", "kind": "full", "track": "textual", "sentence": SENTENCE}


def rendered(template: str, *, language: str = "en", **context: str) -> tuple[str, str]:
    message = OutboxMessage(template=template, language=language, context={**RUN, **context})
    return outbox.render(message)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("status", ["succeeded", "partial", "failed", "cancelled"])
def test_the_end_of_a_run_names_it_and_its_page(status: str, language: str) -> None:
    subject, body = rendered("run_finished", language=language, status=status, pause_reason="")
    assert "A <Full>" in subject
    assert "/evaluation/runs/abc/" in body


def test_a_scored_full_is_told_to_keep_the_service() -> None:
    assert "Keep the service" in rendered("run_finished", status="succeeded", pause_reason="")[1]
    assert "You may stop" in rendered("run_finished", status="failed", pause_reason="")[1]


@pytest.mark.parametrize(
    ("reason", "said"), [("endpoint", "bring the service back"), ("provider", "nothing")]
)
def test_a_pause_says_who_must_do_what(reason: str, said: str) -> None:
    assert said in rendered("run_paused", status="paused", pause_reason=reason)[1]


def test_the_alarm_of_a_late_start_names_the_deadline() -> None:
    assert "2026-12-02" in rendered("run_start_alarm", deadline="2026-12-02T04:00:00+00:00")[1]
