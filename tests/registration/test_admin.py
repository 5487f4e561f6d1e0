"""The organiser's admin: nobody passes the services, and no secret shows."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from aml.web.models import AuditEntry
from registration.models import EvaluationKey, Registration
from tests.factories import (
    MEMORY_KEY,
    make_cycle,
    make_entry,
    make_key,
    make_organiser,
    make_registration,
    make_user,
    make_version,
)

pytestmark = pytest.mark.django_db
MODELS = ("cycle", "participant", "registration", "entry", "version", "evaluationkey")


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(make_organiser())
    return client


def address(name: str, *args: object) -> str:
    return reverse(f"admin:registration_{name}", args=args)


@pytest.mark.parametrize("model", MODELS)
def test_every_list_can_be_searched(model: str, organiser: Client) -> None:
    make_key(registration=make_version().entry.registration)
    assert organiser.get(address(f"{model}_changelist"), {"q": "example.org"}).status_code == 200


@pytest.mark.parametrize("model", MODELS[1:])
def test_rows_are_neither_added_nor_deleted_here(model: str, organiser: Client) -> None:
    key, _text = make_key(registration=make_version().entry.registration)
    registration = key.registration
    rows = {
        "participant": registration.participant, "registration": registration, "evaluationkey": key,
        "entry": registration.entries.get(), "version": registration.entries.get().versions.get(),
    }  # fmt: skip
    assert organiser.get(address(f"{model}_add")).status_code == 403
    assert organiser.post(address(f"{model}_delete", rows[model].pk)).status_code == 403


def test_secrets_are_on_no_page_of_the_admin(organiser: Client) -> None:
    version = make_version()
    key, text = make_key(registration=version.entry.registration)
    rows = [
        ("version", version.pk),
        ("evaluationkey", key.pk),
        ("participant", key.registration.participant_id),
    ]
    shown = "".join(organiser.get(address(f"{name}_change", pk)).content.decode() for name, pk in rows)
    for secret in (MEMORY_KEY, key.digest, text.split("_")[3], key.registration.participant.join_code):
        assert secret not in shown


def test_saving_a_registration_changes_nothing(organiser: Client) -> None:
    registration = make_registration(status="submitted")
    organiser.post(address("registration_change", registration.pk), {"status": "approved"})
    registration.refresh_from_db()
    assert registration.status == "submitted"


def test_a_registration_is_found_by_mail_and_by_key(organiser: Client) -> None:
    key, _text = make_key()
    make_registration()
    mail = key.registration.participant.members.get().user.email
    for words in (mail, key.key_id):
        found = organiser.get(address("registration_changelist"), {"q": words}).context["cl"].queryset
        assert list(found) == [key.registration]


def decide(organiser: Client, rows: list[Registration], **form: str) -> str:
    ids = ",".join(str(row.pk) for row in rows)
    response = organiser.post(address("registration_decide") + f"?ids={ids}", form, follow=True)
    return response.content.decode()


def test_several_applications_are_approved_through_the_service(organiser: Client) -> None:
    rows = [make_registration(status="submitted") for _number in range(2)]
    action = {"action": "decide", "_selected_action": [row.pk for row in rows]}
    page = organiser.post(address("registration_changelist"), action, follow=True)
    assert page.context["chosen"]
    decide(organiser, rows, decision="approve")
    assert Registration.objects.approved().count() == 2
    assert AuditEntry.objects.filter(act="registration.approved").count() == 2


def test_a_refusal_without_a_reason_is_refused(organiser: Client) -> None:
    registration = make_registration(status="submitted")
    assert "Say why" in decide(organiser, [registration], decision="reject")
    registration.refresh_from_db()
    assert registration.status == "submitted"


def test_what_is_decided_stays_decided(organiser: Client) -> None:
    registration = make_registration(status="submitted")
    decide(organiser, [registration], decision="reject", reason="No.")
    assert "was decided on" in decide(organiser, [registration], decision="approve")


def test_staff_without_the_right_decide_nothing(client: Client) -> None:
    client.force_login(make_user(is_staff=True))
    registration = make_registration(status="submitted")
    assert client.post(address("registration_decide") + f"?ids={registration.pk}").status_code == 403


def test_a_key_is_revoked_through_the_service(organiser: Client) -> None:
    key, _text = make_key()
    organiser.post(address("evaluationkey_changelist"), {"action": "revoke", "_selected_action": [key.pk]})
    assert EvaluationKey.objects.get().revoked_at is not None
    assert AuditEntry.objects.get().actor_label == "organiser"


def test_a_version_is_withdrawn_through_the_service(organiser: Client) -> None:
    version = make_version()
    for _repeat in range(2):
        data = {"action": "withdraw", "_selected_action": [version.pk]}
        response = organiser.post(address("version_changelist"), data, follow=True)
    assert "was withdrawn on" in response.content.decode()
    assert AuditEntry.objects.filter(act="version.withdrawn").count() == 1


def test_a_cycle_with_registrations_stays(organiser: Client) -> None:
    registration = make_entry().registration
    assert organiser.post(address("cycle_delete", registration.cycle.pk)).status_code == 403
    assert organiser.post(address("cycle_delete", make_cycle().pk), {"post": "yes"}).status_code == 302


def test_dates_out_of_order_are_refused_with_the_rule(organiser: Client) -> None:
    cycle = make_cycle()
    page = organiser.get(address("cycle_change", cycle.pk))
    form = {
        name: page.context["adminform"].form[name].value() for name in page.context["adminform"].form.fields
    }
    dates = {f"{name}_{part}": text for name in form if name.endswith("_at") for part, text in
             (("0", "2026-01-01"), ("1", "00:00:00"))}  # fmt: skip
    data = {name: value for name, value in form.items() if value not in (None, False)} | dates
    response = organiser.post(address("cycle_change", cycle.pk), data | {"limits": "{}"})
    assert "dates must be in order" in response.content.decode()
