"""Every finished Full gets a case, once, with its findings."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from evaluations import signals
from evaluations.models import Run, RunScore
from evaluations.records.transitions import PARTICIPANT, Why, publish_move
from evaluations.states import Publication
from review.builder import open_case, open_missing_cases, refresh_findings
from review.models import Case, Finding
from tests.review.cases import make_case, scored_run
from tests.run_factories import finished_run

pytestmark = pytest.mark.django_db


def test_the_end_of_a_full_opens_its_case_and_puts_it_into_review(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = scored_run()
    run.refresh_from_db()
    assert run.publication == Publication.IN_REVIEW
    assert run.case.status == Case.Status.OPEN
    assert set(run.case.findings.values_list("severity", flat=True)) == {Finding.Severity.OK}


def test_opening_twice_gives_the_same_case_and_the_same_findings() -> None:
    case = make_case()
    again = open_case(case.run_id)
    assert again == case
    assert case.findings.count() == case.findings.values("kind").distinct().count()


@pytest.mark.parametrize("fields", [{"kind": "smoke"}, {"status": "failed"}, {"publication": "withdrawn"}])
def test_what_is_nothing_to_review_gets_no_case(fields: dict[str, Any]) -> None:
    run = finished_run(**fields)
    assert open_case(run.pk) is None
    assert not Case.objects.exists()


def test_a_signal_lost_by_a_crash_is_made_good_after_reconcile() -> None:
    run = scored_run()
    signals.reconciled.send_robust(None)
    assert Case.objects.get().run == run
    assert open_missing_cases() == 0


def test_the_command_opens_what_is_missing() -> None:
    scored_run()
    call_command("open_cases", "--refresh")
    assert Case.objects.count() == 1


def test_trouble_with_one_run_keeps_no_other_from_its_case(caplog: pytest.LogCaptureFixture) -> None:
    broken, fine = finished_run(), scored_run()
    assert open_missing_cases() == 1
    assert Case.objects.get().run == fine
    assert f"open_case failed for {broken.pk}" in caplog.text


def test_findings_computed_again_replace_the_old_ones() -> None:
    case = make_case()
    Run.objects.filter(pk=case.run_id).update(repeated_calls=3)
    RunScore.objects.filter(run=case.run_id).update(ci_low=0.9)
    refresh_findings(case)
    found = dict(case.findings.values_list("kind", "severity"))
    assert (found["repeated_calls"], found["recomputed"]) == ("note", "blocker")
    assert case.findings.count() == len(found)


def test_a_run_that_its_participant_takes_back_closes_its_case(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    case = make_case()
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        publish_move(case.run_id, Publication.WITHDRAWN, why=Why(actor=PARTICIPANT, sentence="Taken back."))
    case.refresh_from_db()
    assert case.status == Case.Status.CLOSED
    assert case.closed_at is not None
