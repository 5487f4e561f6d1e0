"""Entering systems, their versions, what an accepted Full freezes, and memory keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import AuditEntry
from registration import services
from registration.crypto import reveal_memory_key
from registration.models import Entry, Registration, Version
from registration.models.entries import FrozenVersion
from registration.signals import withdrawing
from tests.factories import (
    MEMORY_KEY,
    make_cycle,
    make_entry,
    make_member,
    make_organiser,
    make_registration,
    make_user,
    make_version,
    version_values,
)

pytestmark = pytest.mark.django_db


def enter(registration: Registration | None = None, **fields: Any) -> Entry:
    registration = registration or make_registration()
    values: dict[str, Any] = {
        "actor": registration.participant.members.get(role="owner").user,
        "name": "Mnemo",
        "description": "It remembers.",
        "tracks": ["textual"],
        "version": version_values(registration.division),
        "memory_key": MEMORY_KEY,
    }
    return services.create_entry(registration=registration, **{**values, **fields})


def owner_of(version: Version) -> Any:
    return version.entry.registration.participant.members.get(role="owner").user


@pytest.mark.parametrize("division", ["open-source", "commercial"])
def test_a_system_comes_with_its_first_version(division: str) -> None:
    entry = enter(make_registration(division=division), tracks=["textual", "coding"])
    version = entry.versions.get()
    assert (entry.slug, version.number, version.memory_key_last4) == ("mnemo", 1, MEMORY_KEY[-4:])
    assert reveal_memory_key(version) == MEMORY_KEY
    assert set(entry.tracks.values_list("track", flat=True)) == {"textual", "coding"}


def test_a_system_can_be_entered_while_the_application_waits() -> None:
    assert enter(make_registration(status="submitted")).pk


def test_every_wrong_field_is_named_and_nothing_is_left() -> None:
    bad = version_values() | {"add_url": "nonsense", "commit": ""}
    with pytest.raises(FieldRefusal) as caught:
        enter(name="", tracks=[], version=bad, memory_key="")
    assert set(caught.value.extra["errors"]) == {"name", "tracks", "add_url", "commit", "memory_key"}
    assert not Entry.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("add_concurrency", 0), ("search_concurrency", 257), ("contact", "nobody"), ("image_digest", "latest"),
     ("auth_scheme", "basic"), ("body_limit", -1)],
)  # fmt: skip
def test_a_value_out_of_range_is_named(field: str, value: object) -> None:
    with pytest.raises(FieldRefusal) as caught:
        enter(version=version_values() | {field: value})
    assert list(caught.value.extra["errors"]) == [field]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(FieldRefusal, match="frozen_at"):
        enter(version=version_values() | {"frozen_at": None})


def test_a_name_is_entered_once_whatever_its_case() -> None:
    entry = enter()
    with pytest.raises(FieldRefusal) as caught:
        enter(entry.registration, name="MNEMO")
    assert caught.value.field == "name"


def test_a_name_without_latin_letters_gets_an_address_too() -> None:
    assert enter(name="记忆系统").slug.startswith("system-")


def test_two_systems_of_one_name_have_two_addresses() -> None:
    assert enter().slug != enter().slug


def test_a_viewer_enters_nothing() -> None:
    registration, viewer = make_registration(), make_user()
    make_member(participant=registration.participant, user=viewer, role="viewer")
    with pytest.raises(Refusal) as caught:
        enter(registration, actor=viewer)
    assert caught.value.code == "viewer"


@pytest.mark.parametrize("status", ["rejected", "withdrawn"])
def test_nothing_is_entered_without_a_live_registration(status: str) -> None:
    with pytest.raises(Refusal) as caught:
        enter(make_registration(status=status))
    assert caught.value.code == "not_approved"


def test_nothing_is_entered_after_the_evaluation_stopped() -> None:
    day, now = timedelta(days=1), timezone.now()
    cycle = make_cycle(
        opens_at=now - 9 * day, registration_closes_at=now - 8 * day, full_closes_at=now - 7 * day,
        evaluation_stops_at=now - day, results_at=now,
    )  # fmt: skip
    with pytest.raises(Refusal, match="stopped") as caught:
        enter(make_registration(cycle=cycle))
    assert caught.value.code == "cycle_closed"


def test_the_next_version_starts_as_a_copy_without_name_and_key() -> None:
    version = make_version(rate_limit="20 a second")
    start = services.version_start(version.entry)
    assert start["rate_limit"] == "20 a second"
    assert "label" not in start
    made = services.new_version(
        actor=owner_of(version),
        entry=version.entry,
        values=start | {"label": "2.0"},
        memory_key="another-key-1",
    )
    assert (made.number, reveal_memory_key(made)) == (2, "another-key-1")


def test_a_label_is_used_once_in_a_system() -> None:
    version = make_version(label="1.0")
    with pytest.raises(FieldRefusal) as caught:
        services.new_version(
            actor=owner_of(version), entry=version.entry, values=version_values(), memory_key=MEMORY_KEY
        )
    assert caught.value.field == "label"


def test_a_version_can_be_changed_until_a_full_is_accepted() -> None:
    version = make_version()
    services.update_version(
        actor=owner_of(version), version=version, values={"add_url": "https://new.example.com/add"}
    )
    version.refresh_from_db()
    assert version.add_url == "https://new.example.com/add"
    assert AuditEntry.objects.get().data == {"fields": ["add_url"]}


def test_a_frozen_version_refuses_by_name_and_changes_nothing() -> None:
    version = make_version(frozen_at=timezone.now())
    with pytest.raises(Refusal, match="Add URL, pinned commit") as caught:
        services.update_version(
            actor=owner_of(version), version=version,
            values={"add_url": "https://new.example.com/add", "commit": "f" * 40, "contact": "a@example.org"},
        )  # fmt: skip
    assert caught.value.extra["fields"] == ["add_url", "commit"]
    version.refresh_from_db()
    assert version.contact == "team@example.org"


def test_contacts_of_a_frozen_version_stay_open() -> None:
    version = make_version(frozen_at=timezone.now())
    services.update_version(
        actor=owner_of(version),
        version=version,
        values={"contact": "new@example.org", "public_fields": ["contact"]},
    )
    version.refresh_from_db()
    assert version.contact == "new@example.org"


def test_the_model_itself_refuses_a_frozen_field() -> None:
    version = make_version(frozen_at=timezone.now())
    version.add_url = "https://new.example.com/add"
    with pytest.raises(FrozenVersion):
        version.save()


def test_a_memory_key_rotates_during_a_full_and_is_logged_without_it() -> None:
    version = make_version(frozen_at=timezone.now())
    services.set_memory_key(actor=owner_of(version), version=version, key="rotated-key-42ab")
    version.refresh_from_db()
    assert reveal_memory_key(version) == "rotated-key-42ab"
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.data) == ("memory_key.rotated", {"frozen": True})


def test_the_key_of_a_change_is_stored_with_it() -> None:
    version = make_version(auth_scheme="none")
    services.update_version(
        actor=owner_of(version), version=version, values={"auth_scheme": "token"}, memory_key="fresh-key-123"
    )
    version.refresh_from_db()
    assert reveal_memory_key(version) == "fresh-key-123"


def test_turning_to_no_authentication_drops_the_stored_key() -> None:
    version = make_version()
    services.update_version(actor=owner_of(version), version=version, values={"auth_scheme": "none"})
    version.refresh_from_db()
    assert (version.memory_key_encrypted, version.memory_key_last4) == (None, "")


def test_a_withdrawn_version_changes_no_more() -> None:
    version = make_version()
    services.withdraw_version(actor=owner_of(version), version=version)
    acts: list[Callable[[], Version]] = [
        lambda: services.withdraw_version(actor=owner_of(version), version=version),
        lambda: services.update_version(actor=owner_of(version), version=version, values={"label": "9"}),
        lambda: services.set_memory_key(actor=owner_of(version), version=version, key="whatever-1"),
    ]
    for act in acts:
        with pytest.raises(Refusal) as caught:
            act()
        assert caught.value.code == "version_withdrawn"


def test_a_withdrawn_system_takes_no_new_version() -> None:
    entry = make_entry()
    actor = entry.registration.participant.members.get().user
    services.withdraw_entry(actor=actor, entry=entry)
    with pytest.raises(Refusal) as caught:
        services.new_version(actor=actor, entry=entry, values=version_values(), memory_key=MEMORY_KEY)
    assert caught.value.code == "version_withdrawn"


def test_another_app_may_object_to_a_withdrawal() -> None:
    def object_to_it(**kwargs: Any) -> None:
        raise Refusal("active_run", "A run needs it.")

    version = make_version()
    withdrawing.connect(object_to_it)
    try:
        with pytest.raises(Refusal, match="needs it"):
            services.withdraw_version(actor=owner_of(version), version=version)
    finally:
        withdrawing.disconnect(object_to_it)
    version.refresh_from_db()
    assert version.withdrawn_at is None


def test_an_organiser_withdraws_but_does_not_change() -> None:
    version, organiser = make_version(), make_organiser()
    with pytest.raises(Refusal):
        services.update_version(actor=organiser, version=version, values={"label": "9"})
    services.withdraw_version(actor=organiser, version=version)
    assert AuditEntry.objects.get().actor_label == "organiser"
