"""Many at once on PostgreSQL: one publication, one decision a reviewer, one answer, one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from aml.web.errors import Refusal
from aml.web.models import AuditEntry, OutboxMessage
from evaluations.models import Run, RunEvent
from review.builder import open_case
from review.models import Case, Decision
from review.services import answer_material
from tests.review.cases import approve, ask, make_case, make_reviewer, reject, scored_run

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time"),
]
AT_ONCE = 8


def together(act: Callable[[int], Any], *, number: int) -> Counter[str]:
    """``act`` in ``number`` threads that begin at the same moment; how often each ended how."""
    gate = Barrier(number)

    def one(place: int) -> str:
        try:
            gate.wait()
            act(place)
        except Refusal as refusal:
            return refusal.code
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(number) as pool:
        return Counter(pool.map(one, range(number)))


def moves(case: Case, to: str) -> int:
    return RunEvent.objects.filter(run=case.run_id, kind="publication", data__to=to).count()


def test_two_reviewers_who_approve_at_once_publish_once() -> None:
    case, reviewers = make_case(), [make_reviewer(), make_reviewer()]
    assert together(lambda place: approve(case, reviewers[place]), number=2) == {"done": 2}
    assert moves(case, "approved") == 1
    assert AuditEntry.objects.filter(act="review.approved").count() == 1
    assert OutboxMessage.objects.filter(template="review_released").count() == 1
    assert RunEvent.objects.filter(run=case.run_id, kind="released").count() == 1


def test_of_many_approvals_at_once_two_count_and_the_rest_come_too_late() -> None:
    case, reviewers = make_case(), [make_reviewer() for _ in range(AT_ONCE)]
    outcomes = together(lambda place: approve(case, reviewers[place]), number=AT_ONCE)
    assert outcomes == {"done": 2, "case_decided": AT_ONCE - 2}
    assert moves(case, "approved") == 1


def test_one_reviewer_at_once_in_many_windows_decides_once() -> None:
    case, reviewer = make_case(), make_reviewer()
    outcomes = together(lambda place: approve(case, reviewer), number=AT_ONCE)
    assert outcomes == {"done": 1, "already_decided": AT_ONCE - 1}
    assert Decision.objects.count() == 1
    assert Run.objects.get(pk=case.run_id).publication == "in_review"


def test_a_second_approval_and_a_rejection_at_once_have_one_outcome() -> None:
    case, reviewers = make_case(), [make_reviewer(), make_reviewer()]
    approve(case)
    acts = [approve, reject]
    outcomes = together(lambda place: acts[place](case, reviewers[place]), number=2)
    assert outcomes == {"done": 1, "case_decided": 1}
    assert moves(case, "approved") + moves(case, "rejected") == 1


def test_a_request_is_answered_once_by_whoever_is_first() -> None:
    case = make_case()
    ask(case)
    owner = case.run.registration.participant.members.get().user
    outcomes = together(
        lambda place: answer_material(run=case.run, text=f"Answer {place}.", actor=owner), number=AT_ONCE
    )
    assert outcomes == {"done": 1, "nothing_asked": AT_ONCE - 1}
    assert Case.objects.get(pk=case.pk).round == 2


def test_a_case_is_opened_once() -> None:
    run = scored_run()
    Case.objects.all().delete()
    Run.objects.filter(pk=run.pk).update(publication="private")
    assert together(lambda place: open_case(run.pk), number=AT_ONCE) == {"done": AT_ONCE}
    assert Case.objects.get().findings.count() > 0
    assert AuditEntry.objects.filter(act="review.opened", subject=f"run:{run.public_id}").count() == 2
