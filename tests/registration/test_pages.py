"""The pages: who sees them, what they refuse, and that two clicks make one object."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aml.web.models import AuditEntry, IdempotencyRecord
from registration.crypto import reveal_memory_key
from registration.models import Entry, EvaluationKey, Participant, Registration, Version
from tests.factories import (
    MEMORY_KEY,
    make_cycle,
    make_entry,
    make_key,
    make_member,
    make_participant,
    make_registration,
    make_user,
    make_version,
    version_values,
)

pytestmark = pytest.mark.django_db
NONCE = "nonce-of-this-form"


def page(name: str, *args: object) -> str:
    return reverse(f"registration:{name}", args=args)


@pytest.fixture
def registration() -> Registration:
    return make_registration()


@pytest.fixture
def owner(registration: Registration, client: Client) -> Client:
    """Logged in as the owner of ``registration``."""
    client.force_login(registration.participant.members.get().user)
    return client


def system_form(**changed: Any) -> dict[str, Any]:
    return {
        "name": "Mnemo", "description": "It remembers.", "tracks": ["textual"], "memory_key": MEMORY_KEY,
        "nonce": NONCE, **version_values(), **changed,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["participant_new", "participant_join", "register", "entry_new", "keys"])
def test_strangers_are_sent_to_the_log_in(name: str, client: Client) -> None:
    response = client.get(page(name))
    assert response.status_code == 302
    assert "login" in response["Location"]


@pytest.mark.parametrize("name", ["participant_new", "participant_join", "register", "entry_new", "keys"])
def test_somebody_new_sees_what_to_do_next_on_every_page(name: str, client: Client) -> None:
    make_cycle()
    client.force_login(make_user())
    assert client.get(page(name)).status_code == 200


def test_without_a_cycle_the_register_page_says_so(client: Client) -> None:
    client.force_login(make_user())
    assert "No cycle is announced" in client.get(page("register")).content.decode()


def test_creating_a_participant_twice_makes_one(client: Client) -> None:
    client.force_login(make_user())
    form = {"name": "Mnemosyne", "kind": "team", "nonce": NONCE}
    answers = [client.post(page("participant_new"), form) for _click in range(2)]
    assert Participant.objects.count() == 1
    assert answers[0]["Location"] == answers[1]["Location"]


def test_a_taken_name_keeps_what_was_typed(client: Client) -> None:
    make_participant(name="Mnemosyne")
    client.force_login(make_user())
    form = {"name": "mnemosyne", "kind": "team", "organisation": "Lab of Ours", "nonce": NONCE}
    response = client.post(page("participant_new"), form)
    assert response.status_code == 422
    assert "Lab of Ours" in response.content.decode()


def test_joining_with_a_wrong_code_says_why(client: Client) -> None:
    client.force_login(make_user())
    response = client.post(page("participant_join"), {"code": "wrong"})
    assert response.status_code == 422
    assert "no participant with this code" in response.content.decode()


def test_the_join_code_is_the_owners(owner: Client, registration: Registration) -> None:
    participant = registration.participant
    engineer = make_member(participant=participant)
    address = page("participant", participant.public_id)
    assert participant.join_code in owner.get(address).content.decode()
    owner.force_login(engineer.user)
    assert participant.join_code not in owner.get(address).content.decode()


def test_registering_twice_makes_one_application(client: Client) -> None:
    user = make_user()
    participant, _cycle = make_participant(owner=user), make_cycle()
    client.force_login(user)
    form = {
        "participant": participant.public_id, "division": "commercial", "statement": "Ours.", "nonce": NONCE,
    }  # fmt: skip
    first = client.post(page("register"), form)
    assert first["Location"] == page("registration", Registration.objects.get().public_id)
    assert client.post(page("register"), form)["Location"] == first["Location"]
    assert client.post(page("register"), form | {"nonce": "nonce-of-another"}).status_code == 422
    assert Registration.objects.count() == 1


def test_a_foreign_participant_can_not_be_registered(client: Client) -> None:
    foreign, _cycle = make_participant(), make_cycle()
    client.force_login(make_participant().members.get().user)
    form = {"participant": foreign.public_id, "division": "commercial", "statement": "Ours.", "nonce": NONCE}
    assert client.post(page("register"), form).status_code == 422
    assert not Registration.objects.exists()


def test_a_refused_applicant_reads_why_and_applies_again(owner: Client, registration: Registration) -> None:
    Registration.objects.update(status="rejected", decision_reason="Which system is it?")
    address = page("registration", registration.public_id)
    assert "Which system is it?" in owner.get(address).content.decode()
    form = {"division": "open-source", "statement": "Mnemo.", "nonce": NONCE}
    assert owner.post(page("reapply", registration.public_id), form)["Location"] == address
    registration.refresh_from_db()
    assert registration.status == "submitted"


def test_entering_a_system_twice_makes_one(owner: Client) -> None:
    answers = [owner.post(page("entry_new"), system_form()) for _click in range(2)]
    assert Entry.objects.count() == Version.objects.count() == 1
    assert answers[0]["Location"] == answers[1]["Location"] == page("entry", Entry.objects.get().public_id)


def test_an_empty_form_names_every_missing_field_at_once(owner: Client) -> None:
    response = owner.post(page("entry_new"), {"nonce": NONCE})
    assert response.status_code == 422
    named = set(response.context["form"].errors)
    assert {"name", "tracks", "label", "add_url", "search_url", "commit", "licence", "contact"} <= named
    assert not Entry.objects.exists()


def test_errors_of_form_and_rules_show_together_and_values_stay(owner: Client) -> None:
    form = system_form(add_url="ftp://memory.example.com/x1y2", commit="main", add_concurrency="many")
    response = owner.post(page("entry_new"), form)
    assert {"add_url", "commit", "add_concurrency"} <= set(response.context["form"].errors)
    assert "ftp://memory.example.com/x1y2" in response.content.decode()


def test_a_memory_key_is_never_in_a_page_or_a_record(owner: Client) -> None:
    shown = owner.post(page("entry_new"), system_form(commit="main")).content.decode()
    owner.post(page("entry_new"), system_form())
    version = Version.objects.get()
    for name in ("version", "version_edit", "version_memory_key"):
        shown += owner.get(page(name, version.public_id)).content.decode()
    shown += str([*AuditEntry.objects.values(), *IdempotencyRecord.objects.values()])
    assert reveal_memory_key(version) == MEMORY_KEY
    assert MEMORY_KEY not in shown


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "{{ settings }}", "x" * 5000, "a\u202eb"])
def test_hostile_text_is_shown_as_text_or_refused(text: str, owner: Client) -> None:
    response = owner.post(page("entry_new"), system_form(name=text), follow=True)
    assert response.status_code in (200, 422)
    assert "<script>alert" not in response.content.decode()


def test_a_form_without_its_nonce_is_refused(owner: Client) -> None:
    form = system_form()
    del form["nonce"]
    assert owner.post(page("entry_new"), form).status_code == 422


def test_a_form_without_a_csrf_token_is_refused(registration: Registration) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(registration.participant.members.get().user)
    assert strict.post(page("entry_new"), system_form()).status_code == 403


def foreign_pages() -> list[tuple[str, str]]:
    """Every page that names something, with ids of somebody else."""
    key, _text = make_key()
    version = make_version(entry=make_entry(registration=key.registration))
    ids = {
        key.registration.participant.public_id: ["participant"],
        key.registration.public_id: ["registration", "reapply"],
        version.entry.public_id: ["entry", "entry_withdraw", "version_new"],
        version.public_id: ["version", "version_edit", "version_memory_key", "version_withdraw"],
    }
    return [(name, public_id) for public_id, names in ids.items() for name in names]


def test_foreign_ids_are_404_on_every_page(owner: Client) -> None:
    assert {owner.get(page(name, public_id)).status_code for name, public_id in foreign_pages()} == {404}


def test_foreign_ids_are_404_for_every_act(owner: Client) -> None:
    key, _text = make_key()
    foreign = key.registration
    addresses = [
        page("key_revoke", key.key_id),
        page("key_new", foreign.public_id),
        page("participant_join_code", foreign.participant.public_id),
        page("entry_new") + f"?registration={foreign.public_id}",
    ]
    assert {owner.post(address).status_code for address in addresses} == {404}
    assert EvaluationKey.objects.get().revoked_at is None


def test_a_viewer_reads_everything_and_changes_nothing(client: Client, registration: Registration) -> None:
    version = make_version(entry=make_entry(registration=registration))
    key, _text = make_key(registration=registration)
    client.force_login(make_member(participant=registration.participant, role="viewer").user)
    read = [
        page("participant", registration.participant.public_id), page("registration", registration.public_id),
        page("entry", version.entry.public_id), page("version", version.public_id), page("keys"),
    ]  # fmt: skip
    assert {client.get(address).status_code for address in read} == {200}
    acts = [
        page("version_edit", version.public_id), page("version_memory_key", version.public_id),
        page("version_withdraw", version.public_id), page("version_new", version.entry.public_id),
        page("entry_withdraw", version.entry.public_id), page("key_revoke", key.key_id), page("entry_new"),
        page("key_new", registration.public_id),
    ]  # fmt: skip
    answers = [client.post(address, {"registration": registration.public_id}) for address in acts]
    assert {answer.status_code for answer in answers} == {403}
    assert "you are a viewer" in answers[0].content.decode()


def test_acts_answer_to_post_only(owner: Client, registration: Registration) -> None:
    key, _text = make_key(registration=registration)
    addresses = [
        page("key_revoke", key.key_id),
        page("key_new", registration.public_id),
        page("participant_join_code", registration.participant.public_id),
    ]
    assert {owner.get(address).status_code for address in addresses} == {405}


def test_a_new_key_is_shown_once_and_kept_nowhere(owner: Client, registration: Registration) -> None:
    response = owner.post(page("key_new", registration.public_id), {"nonce": NONCE})
    text = response.context["secret"]
    assert text in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    kept = owner.get(page("keys")).content.decode() + str(dict(owner.session))
    kept += str([*IdempotencyRecord.objects.values(), *AuditEntry.objects.values()])
    assert text.split("_")[3] not in kept


def test_a_double_click_makes_one_key_and_shows_one_that_works(
    owner: Client, registration: Registration
) -> None:
    answers = [owner.post(page("key_new", registration.public_id), {"nonce": NONCE}) for _click in range(2)]
    assert EvaluationKey.objects.count() == 1
    assert all(answer.context["secret"].startswith("aml_live_") for answer in answers)


def test_the_third_key_is_refused_with_the_reason(owner: Client, registration: Registration) -> None:
    for _number in range(2):
        make_key(registration=registration)
    response = owner.post(page("key_new", registration.public_id), {"nonce": NONCE})
    assert response.status_code == 409
    assert "Two keys are live" in response.content.decode()


def test_a_revoked_key_is_listed_as_revoked(owner: Client, registration: Registration) -> None:
    key, _text = make_key(registration=registration)
    response = owner.post(page("key_revoke", key.key_id), follow=True)
    assert "Revoked" in response.content.decode()


def test_a_version_is_changed_on_its_page(owner: Client, registration: Registration) -> None:
    version = make_version(entry=make_entry(registration=registration))
    form = version_values() | {"label": "1.1", "nonce": NONCE}
    assert owner.post(page("version_edit", version.public_id), form).status_code == 302
    version.refresh_from_db()
    assert version.label == "1.1"
    assert reveal_memory_key(version) == MEMORY_KEY


def test_a_frozen_version_shows_only_its_open_fields(owner: Client, registration: Registration) -> None:
    version = make_version(entry=make_entry(registration=registration), frozen_at=timezone.now())
    form = owner.get(page("version_edit", version.public_id)).context["form"]
    assert set(form.fields) == {
        "documentation", "contact", "maintenance_contact", "organisation", "public_fields", "nonce",
    }  # fmt: skip


def test_a_page_opened_before_the_freeze_is_refused_by_name(
    owner: Client, registration: Registration
) -> None:
    version = make_version(entry=make_entry(registration=registration), frozen_at=timezone.now())
    form = version_values() | {"label": version.label, "add_url": "https://x.example.com/add", "nonce": NONCE}
    response = owner.post(page("version_edit", version.public_id), form)
    assert response.status_code == 422
    assert "Add URL" in str(response.context["form"].non_field_errors())


def test_the_next_version_is_made_once(owner: Client, registration: Registration) -> None:
    version = make_version(entry=make_entry(registration=registration))
    address = page("version_new", version.entry.public_id)
    assert "https://memory.example.com/add" in owner.get(address).content.decode()
    form = version_values() | {"label": "2.0", "memory_key": MEMORY_KEY, "nonce": NONCE}
    answers = [owner.post(address, form) for _click in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert version.entry.versions.count() == 2


def test_the_memory_key_is_replaced_on_its_page(owner: Client, registration: Registration) -> None:
    version = make_version(entry=make_entry(registration=registration))
    response = owner.post(
        page("version_memory_key", version.public_id), {"memory_key": "replaced-key-77xy"}, follow=True
    )
    version.refresh_from_db()
    assert reveal_memory_key(version) == "replaced-key-77xy"
    assert "77xy" in response.content.decode()


def test_withdrawing_asks_first(owner: Client, registration: Registration) -> None:
    version = make_version(entry=make_entry(registration=registration))
    address = page("version_withdraw", version.public_id)
    assert "can't be undone" in owner.get(address).content.decode().replace("&#x27;", "'")
    version.refresh_from_db()
    assert version.withdrawn_at is None
    owner.post(address, {"reason": "Wrong build."})
    version.refresh_from_db()
    assert version.withdrawn_at is not None
