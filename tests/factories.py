"""Rows for tests: small functions with sensible defaults; anything can be overridden by keyword."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

from django.utils import timezone

from aml.web.models import User
from registration.crypto import digest_of, encrypt_memory_key, last_characters, new_evaluation_key
from registration.models import (
    Cycle,
    Entry,
    EntryTrack,
    EvaluationKey,
    Member,
    Membership,
    Participant,
    Registration,
    Version,
)

PASSWORD = "correct horse battery"
MEMORY_KEY = "memory-key-of-tests-9f3c"
COMMIT = "0123456789abcdef0123456789abcdef01234567"

_numbers = itertools.count(1)


def make_user(**fields: Any) -> User:
    number = next(_numbers)
    fields = {"email": f"person{number}@example.org", "name": f"Person {number}", **fields}
    return User.objects.create_user(fields.pop("email"), fields.pop("password", PASSWORD), **fields)


def make_organiser(**fields: Any) -> User:
    return make_user(is_staff=True, is_superuser=True, **fields)


def make_cycle(**fields: Any) -> Cycle:
    """Open since yesterday, for two months; public."""
    number, now = next(_numbers), timezone.now()
    defaults: dict[str, Any] = {
        "slug": f"cycle-{number}",
        "title": f"Cycle {number}",
        "is_public": True,
        "opens_at": now - timedelta(days=1),
        "registration_closes_at": now + timedelta(days=20),
        "full_closes_at": now + timedelta(days=30),
        "evaluation_stops_at": now + timedelta(days=50),
        "results_at": now + timedelta(days=60),
    }
    return Cycle.objects.create(**{**defaults, **fields})


def make_participant(*, owner: User | None = None, **fields: Any) -> Participant:
    defaults = {"name": f"Team {next(_numbers)}", **fields}
    participant = Participant.objects.create(**defaults)
    make_member(participant=participant, user=owner or make_user(), role=Member.Role.OWNER)
    return participant


def make_member(
    *, participant: Participant, user: User | None = None, role: str = Member.Role.ENGINEER
) -> Member:
    return Member.objects.create(participant=participant, user=user or make_user(), role=role)


def make_registration(
    *,
    participant: Participant | None = None,
    cycle: Cycle | None = None,
    owner: User | None = None,
    status: str = Registration.Status.APPROVED,
    **fields: Any,
) -> Registration:
    """Approved, in the open-source division, with a membership of everybody."""
    participant = participant or make_participant(owner=owner)
    decided = {"decided_at": timezone.now()} if status in ("approved", "rejected") else {}
    registration = Registration.objects.create(
        participant=participant,
        cycle=cycle or make_cycle(),
        status=status,
        **{"division": "open-source", "statement": "A system.", **decided, **fields},
    )
    for member in participant.members.all():
        Membership.objects.create(registration=registration, user_id=member.user_id, cycle=registration.cycle)
    return registration


def make_entry(
    *, registration: Registration | None = None, tracks: tuple[str, ...] = ("textual",), **fields: Any
) -> Entry:
    number = next(_numbers)
    defaults = {"name": f"System {number}", "slug": f"system-{number}", "description": "It remembers."}
    entry = Entry.objects.create(registration=registration or make_registration(), **{**defaults, **fields})
    for track in tracks:
        EntryTrack.objects.create(entry=entry, track=track)
    return entry


def make_version(*, entry: Entry | None = None, memory_key: str = MEMORY_KEY, **fields: Any) -> Version:
    entry = entry or make_entry()
    number = entry.versions.count() + 1
    division = entry.registration.division
    values = {**version_values(division), "label": f"1.{number}", "number": number, **fields}
    version = Version(entry=entry, **values)
    if memory_key and version.auth_scheme != "none":
        version.memory_key_encrypted = encrypt_memory_key(memory_key, version_id=version.public_id)
        version.memory_key_last4 = last_characters(memory_key)
        version.memory_key_set_at = timezone.now()
    version.save()
    return version


def make_key(*, registration: Registration | None = None, **fields: Any) -> tuple[EvaluationKey, str]:
    """The row and the key's text."""
    registration, parsed = registration or make_registration(), new_evaluation_key()
    slot = 1 + registration.keys.filter(revoked_at__isnull=True).count()
    defaults = {"slot": min(slot, 2), "key_id": parsed.key_id, "digest": digest_of(parsed)}
    return EvaluationKey.objects.create(registration=registration, **{**defaults, **fields}), parsed.text


def version_values(division: str = "open-source") -> dict[str, Any]:
    """Everything a version of the division must say, and nothing else."""
    values: dict[str, Any] = {
        "label": "1.0",
        "add_url": "https://memory.example.com/add",
        "search_url": "https://memory.example.com/search",
        "auth_scheme": "bearer",
        "add_concurrency": 8,
        "search_concurrency": 16,
        "runtime_environment": "Two cores, SQLite.",
        "documentation": "https://memory.example.com/docs",
        "models_and_dependencies": "none",
        "contact": "team@example.org",
    }
    if division == "commercial":
        return values | {"product_version": "2026.11", "capacity_statement": "64 Adds at once for ten days."}
    return values | {
        "repository": "https://github.com/example/memory",
        "commit": COMMIT,
        "original_authors": "We ourselves.",
        "provenance": "Our own work.",
        "changes": "none",
        "licence": "Apache-2.0",
        "implementation_notes": "Full-text search.",
    }
