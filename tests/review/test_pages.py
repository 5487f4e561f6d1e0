"""The reviewers' pages and the participant's answer, by person."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from aml.web.forms import new_nonce
from aml.web.models import AuditEntry, User
from evaluations.models import Result, Run
from registration.models import Member
from review.builder import write_findings
from review.findings import Finding, Severity
from review.models import Case, Decision
from review.serializers.questions import asks, question_rows
from review.services.checklist import IDS
from tests.factories import make_member, make_organiser, make_registration, make_user
from tests.review.cases import (
    SECRET_GOLD,
    SECRET_MEMORY,
    SECRET_QUERY,
    approve,
    ask,
    make_case,
    make_reviewer,
    reject,
)

pytestmark = pytest.mark.django_db
SECRETS = (SECRET_QUERY, SECRET_GOLD, SECRET_MEMORY)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def pages_of(case: Case) -> dict[str, str]:
    return {
        "queue": reverse("review:queue"),
        "case": reverse("review:case", args=[case.public_id]),
        "questions": reverse("review:questions", args=[case.public_id]),
    }


def owner_of(case: Case) -> User:
    return case.run.registration.participant.members.get(role=Member.Role.OWNER).user


def word(**fields: object) -> dict[str, object]:
    return {"verdict": "approve", "reason": "Fine.", "checklist": list(IDS), "nonce": new_nonce(), **fields}


@pytest.mark.parametrize("page", ["queue", "case", "questions"])
def test_somebody_unknown_is_sent_to_log_in(page: str, client: Client) -> None:
    response = client.get(pages_of(make_case())[page])
    assert response.status_code == 302
    assert "/accounts/login/" in response["Location"]


@pytest.mark.parametrize("page", ["queue", "case", "questions"])
def test_for_participants_strangers_and_organisers_the_pages_do_not_exist(page: str) -> None:
    case = make_case()
    for user in (owner_of(case), make_user(), make_organiser()):
        assert client_of(user).get(pages_of(case)[page]).status_code == 404


@pytest.mark.parametrize("page", ["queue", "case", "questions"])
def test_a_reviewer_sees_them(page: str) -> None:
    case = make_case()
    response = client_of(make_reviewer()).get(pages_of(case)[page])
    assert response.status_code == 200
    assert case.run.version.entry.name in response.content.decode()


@pytest.mark.parametrize("page", ["case", "questions"])
def test_a_reviewer_of_the_own_participant_is_refused_with_a_sentence(page: str) -> None:
    case, reviewer = make_case(), make_reviewer()
    make_member(participant=case.run.registration.participant, user=reviewer)
    response = client_of(reviewer).get(pages_of(case)[page])
    assert response.status_code == 403
    assert "You take part in this cycle yourself" in response.content.decode()
    assert not AuditEntry.objects.filter(act="review.private_viewed").exists()


def test_an_empty_queue_says_how_it_fills() -> None:
    text = client_of(make_reviewer()).get(reverse("review:queue")).content.decode()
    assert "Nothing waits for a reviewer" in text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", True),
        ("?status=closed", False),
        ("?status=open&track=textual&division=open-source", True),
        ("?division=commercial", False),
        ("?track=coding", False),
        ("?status=nonsense", True),
        ("?status=closed&track=nonsense", False),
    ],
)
def test_the_queue_is_filtered(query: str, shown: bool) -> None:
    case = make_case()
    text = client_of(make_reviewer()).get(reverse("review:queue") + query).content.decode()
    assert (pages_of(case)["case"] in text) is shown


def test_the_queue_hides_cases_of_a_cycle_that_the_reviewer_takes_part_in() -> None:
    case, reviewer = make_case(), make_reviewer()
    make_member(participant=make_registration(cycle=case.run.cycle).participant, user=reviewer)
    text = client_of(reviewer).get(reverse("review:queue") + "?status=all").content.decode()
    assert pages_of(case)["case"] not in text


def test_the_queue_tells_approvals_and_findings() -> None:
    case = make_case()
    approve(case)
    write_findings(case, [Finding("latency", Severity.WARNING, "It drifts.")])
    text = client_of(make_reviewer()).get(reverse("review:queue")).content.decode()
    assert "1 of 2" in text
    assert "1 × warning" in text


def test_the_case_page_shows_the_evidence_and_nothing_private() -> None:
    case = make_case()
    text = client_of(make_reviewer()).get(pages_of(case)["case"]).content.decode()
    for piece in ("https://github.com/example/memory", "Recall", "No call failed", "0 of 2 approvals"):
        assert piece in text
    assert not any(secret in text for secret in SECRETS)


def test_an_approval_in_the_browser_is_recorded_and_a_second_click_changes_nothing() -> None:
    case, reviewer = make_case(), make_reviewer()
    client, data = client_of(reviewer), word()
    for _ in range(2):
        assert client.post(pages_of(case)["case"], data).status_code == 302
    assert Decision.objects.get().checklist == list(IDS)
    text = client.get(pages_of(case)["case"]).content.decode()
    assert "1 of 2 approvals" in text
    assert "You have decided in this round." in text


def test_two_reviewers_in_the_browser_publish() -> None:
    case = make_case()
    for _ in range(2):
        client_of(make_reviewer()).post(pages_of(case)["case"], word())
    assert Run.objects.get(pk=case.run_id).publication == "approved"


@pytest.mark.parametrize(
    "fields", [{"checklist": ["materials"]}, {"reason": ""}, {"verdict": ""}, {"checklist": ["nonsense"]}]
)
def test_a_wrong_form_keeps_what_was_typed(fields: dict[str, object]) -> None:
    case = make_case()
    data = word(reason="A long thought.") | fields
    response = client_of(make_reviewer()).post(pages_of(case)["case"], data)
    assert response.status_code == 422
    assert str(data["reason"]) in response.content.decode()
    assert not Decision.objects.exists()


def test_a_blocked_approval_names_the_finding_on_the_page() -> None:
    case = make_case()
    write_findings(case, [Finding("materials", Severity.BLOCKER, "The licence is missing.")])
    response = client_of(make_reviewer()).post(pages_of(case)["case"], word())
    assert response.status_code == 422
    assert (
        "A finding keeps this run from being published: The licence is missing." in response.content.decode()
    )


def test_private_questions_are_shown_to_reviewers_and_each_look_is_logged() -> None:
    case, reviewer = make_case(), make_reviewer()
    response = client_of(reviewer).get(pages_of(case)["questions"])
    text = response.content.decode()
    assert SECRET_QUERY in text
    assert SECRET_GOLD in text
    assert SECRET_MEMORY not in text
    assert "no-store" in response["Cache-Control"]
    look = AuditEntry.objects.get(act="review.private_viewed")
    assert (look.actor, look.public, look.subject) == (reviewer, False, f"run:{case.run.public_id}")
    assert look.data["asks"] == [f"a{number}" for number in range(6)]
    assert look.data["memories_of"] == ""


@pytest.mark.parametrize(("fault", "score"), [("participant", 0.0), ("platform", None)])
def test_a_failed_search_counts_as_zero_only_by_the_participants_fault(
    fault: str, score: float | None
) -> None:
    run = make_case().run
    failed = asks(run).filter(ask="a0")
    failed.update(status="failed", code="SERVER_ERROR", fault=fault)
    Result.objects.filter(run=run, ask="a0", kind="answer").delete()
    (row,) = question_rows(run, list(failed))
    assert row["score"] == score


def test_memories_are_shown_on_demand_and_the_log_says_whose() -> None:
    case = make_case()
    response = client_of(make_reviewer()).get(pages_of(case)["questions"], {"memories": "a3"})
    assert response.content.decode().count(SECRET_MEMORY) == 1
    assert AuditEntry.objects.get(act="review.private_viewed").data["memories_of"] == "a3"


def test_only_the_page_that_was_seen_is_logged() -> None:
    case = make_case(asks=30)
    client_of(make_reviewer()).get(pages_of(case)["questions"], {"page": 2})
    assert len(AuditEntry.objects.get(act="review.private_viewed").data["asks"]) == 5


def material_url(case: Case) -> str:
    return reverse("review:material", args=[case.run.public_id])


def test_the_participant_reads_what_is_asked_without_a_reviewers_name_and_nothing_private() -> None:
    case, reviewer = make_case(), make_reviewer(name="Rahel Reviewer")
    ask(case, reviewer, reason="Send the log of 2 May.")
    text = client_of(owner_of(case)).get(material_url(case)).content.decode()
    assert "Send the log of 2 May." in text
    assert "Rahel" not in text
    assert not any(secret in text for secret in SECRETS)


def test_the_participant_answers_once_however_often_the_button_is_pressed() -> None:
    case = make_case()
    ask(case)
    client, data = client_of(owner_of(case)), {"text": "Here it is.", "nonce": new_nonce()}
    for _ in range(2):
        assert client.post(material_url(case), data).status_code == 302
    assert case.materials.get().text == "Here it is."
    text = client.get(material_url(case)).content.decode()
    assert "Nothing is asked of you now" in text


def test_an_answer_that_is_too_late_is_kept_on_the_page() -> None:
    case = make_case()
    ask(case)
    reject(case)
    data = {"text": "Here it is.", "nonce": new_nonce()}
    response = client_of(owner_of(case)).post(material_url(case), data)
    assert response.status_code == 422
    assert "No reviewer is waiting" in response.content.decode()
    assert "Here it is." in response.content.decode()


def test_without_a_request_and_for_strangers_there_is_no_material_page() -> None:
    case = make_case()
    assert client_of(owner_of(case)).get(material_url(case)).status_code == 404
    ask(case)
    for user in (make_user(), make_reviewer()):
        assert client_of(user).get(material_url(case)).status_code == 404


def test_a_viewer_reads_but_has_no_form() -> None:
    case = make_case()
    viewer = make_member(participant=case.run.registration.participant, role=Member.Role.VIEWER).user
    ask(case)
    text = client_of(viewer).get(material_url(case)).content.decode()
    assert "an owner or engineer answers" in text
    assert "<textarea" not in text


@pytest.mark.parametrize("model", ["case", "finding", "decision", "material"])
def test_the_admin_only_reads(model: str) -> None:
    case, client = make_case(), client_of(make_organiser())
    ask(case)
    assert client.get(reverse(f"admin:review_{model}_changelist")).status_code == 200
    assert client.get(reverse(f"admin:review_{model}_add")).status_code == 403
