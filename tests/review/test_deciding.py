"""Two approvals by two people publish; one rejection or request ends the round."""

from __future__ import annotations

from typing import Any

import pytest

from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import AuditEntry, OutboxMessage
from aml.web.outbox import render
from evaluations.models import Run
from evaluations.records.transitions import PARTICIPANT, Why, publish_move
from evaluations.states import Publication
from registration.models import Member
from review.builder import write_findings
from review.findings import Finding, Severity
from review.models import Case, Decision
from review.services import answer_material, decide
from review.services.checklist import IDS
from tests.factories import make_member, make_registration, make_user
from tests.review.cases import approve, ask, make_case, make_reviewer, reject

pytestmark = pytest.mark.django_db


def state(case: Case) -> tuple[str, str]:
    case = Case.objects.select_related("run").get(pk=case.pk)
    return str(case.status), str(case.run.publication)


def mails(template: str) -> list[OutboxMessage]:
    return list(OutboxMessage.objects.filter(template=template))


def test_one_approval_publishes_nothing() -> None:
    case = make_case()
    approve(case)
    assert state(case) == ("open", "in_review")


def test_two_approvals_by_two_people_approve_and_release_the_service() -> None:
    case = make_case()
    approve(case)
    approve(case)
    assert state(case) == ("approved", "approved")
    run = Run.objects.get(pk=case.run_id)
    assert run.service_released_at is not None
    assert run.events.filter(kind="released").count() == 1


def test_the_participant_is_told_once_that_the_service_may_stop() -> None:
    case = make_case(owner=make_user(email="ada@example.org"))
    approve(case)
    approve(case)
    (mail,) = mails("review_released")
    assert (mail.recipient, mail.mandatory) == ("ada@example.org", True)
    assert "you may stop the service" in render(mail)[0]


def test_viewers_get_no_mail() -> None:
    case = make_case()
    make_member(participant=case.run.registration.participant, role=Member.Role.VIEWER)
    reject(case)
    assert len(mails("review_rejected")) == 1


def test_the_same_reviewer_can_not_approve_twice() -> None:
    case, reviewer = make_case(), make_reviewer()
    approve(case, reviewer)
    with pytest.raises(Refusal) as caught:
        approve(case, reviewer)
    assert caught.value.code == "already_decided"
    assert state(case) == ("open", "in_review")


def test_one_rejection_rejects_with_its_reason() -> None:
    case = make_case()
    approve(case)
    reject(case)
    assert state(case) == ("rejected", "rejected")
    run = Run.objects.get(pk=case.run_id)
    assert run.publication_reason == "It leaks."
    assert run.service_released_at is not None
    assert "It leaks." in render(mails("review_rejected")[0])[1]


def test_nobody_decides_on_a_closed_case() -> None:
    case = make_case()
    reject(case)
    with pytest.raises(Refusal) as caught:
        approve(case)
    assert caught.value.code == "case_decided"


def test_nobody_decides_on_a_run_that_was_taken_back() -> None:
    case = make_case()
    publish_move(case.run_id, Publication.WITHDRAWN, why=Why(actor=PARTICIPANT, sentence="Taken back."))
    with pytest.raises(Refusal) as caught:
        approve(case)
    assert caught.value.code == "case_decided"


def test_only_reviewers_decide() -> None:
    case = make_case()
    with pytest.raises(Refusal) as caught:
        approve(case, make_user(is_staff=True))
    assert caught.value.code == "not_a_reviewer"


def test_a_reviewer_who_takes_part_with_another_participant_is_refused() -> None:
    case, reviewer = make_case(), make_reviewer()
    rival = make_registration(cycle=case.run.cycle)
    make_member(participant=rival.participant, user=reviewer)
    with pytest.raises(Refusal) as caught:
        approve(case, reviewer)
    assert caught.value.code == "conflict_of_interest"


@pytest.mark.parametrize("role", [Member.Role.ENGINEER, Member.Role.VIEWER])
def test_a_member_of_the_participant_is_refused_whatever_the_role(role: str) -> None:
    case, reviewer = make_case(), make_reviewer()
    make_member(participant=case.run.registration.participant, user=reviewer, role=role)
    with pytest.raises(Refusal, match="You take part in this cycle yourself") as caught:
        approve(case, reviewer)
    assert caught.value.code == "conflict_of_interest"
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"verdict": "publish"}, "verdict"),
        ({"reason": "  "}, "reason"),
        ({"reason": "x" * 4001}, "reason"),
        ({"reason": "a\u202eb"}, "reason"),
        ({"checklist": ("materials",)}, "checklist"),
    ],
)
def test_wrong_input_is_refused_at_its_field(fields: dict[str, Any], field: str) -> None:
    case = make_case()
    values: dict[str, Any] = {"verdict": "approve", "reason": "Fine.", "checklist": IDS, **fields}
    with pytest.raises(FieldRefusal) as caught:
        decide(case=case, reviewer=make_reviewer(), **values)
    assert caught.value.field == field
    assert not Decision.objects.exists()


def test_a_blocker_prevents_approval_and_is_named_but_not_rejection() -> None:
    case = make_case()
    write_findings(
        case, [Finding("materials", Severity.BLOCKER, "Missing: %(missing)s.", {"missing": "licence"})]
    )
    with pytest.raises(Refusal, match=r"Missing: licence\.") as caught:
        approve(case)
    assert (caught.value.code, caught.value.extra["findings"]) == ("blocked", ["materials"])
    reject(case)
    assert state(case) == ("rejected", "rejected")


def test_asking_for_material_tells_the_participant_what_is_needed() -> None:
    case = make_case()
    ask(case, reason="Send the log of 2 May.")
    assert state(case) == ("needs_material", "needs_material")
    subject, body = render(mails("review_needs_material")[0])
    assert "a reviewer asks for material" in subject
    assert "Send the log of 2 May." in body
    assert f"/evaluation/runs/{case.run.public_id}/material/" in body
    assert case.run.events.filter(kind="publication", data__to="needs_material").exists()


def test_while_material_is_awaited_a_case_can_only_be_rejected() -> None:
    case = make_case()
    ask(case)
    with pytest.raises(Refusal) as caught:
        approve(case)
    assert caught.value.code == "needs_material"
    reject(case)
    assert state(case) == ("rejected", "rejected")


def test_publication_acts_are_public_without_reason_or_name_and_words_are_not() -> None:
    case = make_case()
    approve(case, make_reviewer())
    approve(case, make_reviewer())
    public = AuditEntry.objects.get(act="review.approved")
    assert (public.public, public.reason, public.actor_label) == (True, "", "reviewer")
    assert set(AuditEntry.objects.filter(act="review.decided").values_list("public", flat=True)) == {False}


def answered(case: Case) -> Case:
    owner = case.run.registration.participant.members.get().user
    answer_material(run=case.run, text="Here: https://example.org/log", actor=owner)
    return Case.objects.get(pk=case.pk)


def test_an_answer_begins_a_new_round_in_which_old_approvals_do_not_count() -> None:
    case, first = make_case(), make_reviewer()
    approve(case, first)
    ask(case)
    case = answered(case)
    assert (case.round, *state(case)) == (2, "open", "in_review")
    approve(case)
    assert state(case) == ("open", "in_review")
    approve(case, first)
    assert state(case) == ("approved", "approved")


def test_an_answer_is_kept_and_told_to_the_reviewers_of_the_round_before() -> None:
    case, first, second = make_case(), make_reviewer(), make_reviewer()
    approve(case, first)
    ask(case, second)
    answered(case)
    assert case.materials.get().text == "Here: https://example.org/log"
    assert {mail.recipient for mail in mails("review_answered")} == {first.email, second.email}
    assert f"/review/{case.public_id}/" in render(mails("review_answered")[0])[1]


def test_a_request_is_answered_once() -> None:
    case = make_case()
    ask(case)
    answered(case)
    with pytest.raises(Refusal) as caught:
        answered(case)
    assert caught.value.code == "nothing_asked"
    assert case.materials.count() == 1


@pytest.mark.parametrize("role", [None, Member.Role.VIEWER])
def test_outsiders_and_viewers_can_not_answer(role: str | None) -> None:
    case, user = make_case(), make_user()
    if role:
        make_member(participant=case.run.registration.participant, user=user, role=role)
    ask(case)
    with pytest.raises(Refusal):
        answer_material(run=case.run, text="Here.", actor=user)
    assert state(case) == ("needs_material", "needs_material")


@pytest.mark.parametrize("text", ["", " \n", "x" * 20_001, "a\x00b"])
def test_an_empty_too_long_or_unprintable_answer_is_refused(text: str) -> None:
    case = make_case()
    ask(case)
    with pytest.raises(FieldRefusal):
        answer_material(run=case.run, text=text, actor=case.run.registration.participant.members.get().user)


def test_each_round_that_asks_sends_its_own_mail() -> None:
    case = make_case()
    ask(case)
    ask(answered(case), reason="And that of 3 May.")
    assert len(mails("review_needs_material")) == 2
