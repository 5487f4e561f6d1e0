"""The audit log: rows are written in the act's transaction, and sealed in sequence afterwards."""

from __future__ import annotations

from datetime import UTC, date
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from aml.lib.canonical import canonical_hash
from aml.web import clock
from aml.web.models import AuditEntry, AuditRoot, PlatformState, User

GENESIS = "0" * 64

#: Who acts, as it is written down: a role, no name.
PLATFORM = "platform"
PARTICIPANT = "participant"
ORGANISER = "organiser"
REVIEWER = "reviewer"


def record(
    act: str,
    *,
    subject: str,
    actor: User | None = None,
    actor_label: str = PLATFORM,
    reason: str = "",
    public: bool = False,
    **data: Any,
) -> AuditEntry:
    """Write one act. Call it inside the transaction of the act itself."""
    return AuditEntry.objects.create(
        at=clock.now(), actor=actor, actor_key=actor.public_id if actor else "", actor_label=actor_label, act=act,
        subject=subject, reason=reason, data=data, public=public,
    )  # fmt: skip


def seal(*, limit: int = 1000) -> int:
    """Chain up to ``limit`` unsealed rows in the order of their ids; returns how many.

    One sealer at a time: the platform's row is locked first, so the next one sees what this one sealed.
    """
    with transaction.atomic():
        _take_turn()
        rows = list(AuditEntry.objects.filter(sequence__isnull=True).order_by("pk")[:limit])
        if not rows:
            return 0
        sequence, previous = _head()
        for row in rows:
            sequence += 1
            row.sequence, row.previous_hash = sequence, previous
            row.entry_hash = previous = entry_hash(row)
        AuditEntry.objects.bulk_update(rows, ["sequence", "previous_hash", "entry_hash"])
        _write_root(sequence, previous)
    return len(rows)


def _take_turn() -> None:
    PlatformState.objects.get_or_create(pk=1)
    PlatformState.objects.select_for_update().get(pk=1)


def entry_hash(row: AuditEntry) -> str:
    """SHA-256 of the canonical JSON of everything the row says, its place, and the row before."""
    return canonical_hash(_hashed(row))


def _hashed(row: AuditEntry) -> dict[str, Any]:
    return {
        "sequence": row.sequence,
        "previous": row.previous_hash,
        "at": row.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": row.actor_label,
        "actor_key": row.actor_key,
        "act": row.act,
        "subject": row.subject,
        "reason": row.reason,
        "data": row.data,
        "public": row.public,
    }


def public_rows() -> QuerySet[AuditEntry]:
    """Sealed rows that everybody may read."""
    return AuditEntry.objects.filter(public=True, sequence__isnull=False)


def public_form(row: AuditEntry) -> dict[str, Any]:
    """A row with all that ``entry_hash`` is over, so that anyone can compute it again; no person's name."""
    return {**_hashed(row), "entry_hash": row.entry_hash}


def roots(*, limit: int = 400) -> list[dict[str, Any]]:
    """The chain's head at the end of each day, newest first."""
    rows = AuditRoot.objects.order_by("-day")[:limit]
    return [
        {"day": row.day.isoformat(), "sequence": row.sequence, "entry_hash": row.entry_hash} for row in rows
    ]


def verify() -> list[str]:
    """Walk the chain; each sentence names a row that was edited, deleted or moved. Empty: intact."""
    faults: list[str] = []
    expected, previous = 1, GENESIS
    rows = AuditEntry.objects.filter(sequence__isnull=False).select_related("actor")
    for row in rows.order_by("sequence").iterator():
        if row.sequence != expected:
            faults.append(f"row {expected} is missing; the next one is {row.sequence}")
        if row.previous_hash != previous:
            faults.append(f"row {row.sequence} does not follow the row before it")
        if entry_hash(row) != row.entry_hash:
            faults.append(f"row {row.sequence} was edited")
        if row.actor is not None and row.actor.public_id != row.actor_key:
            faults.append(f"row {row.sequence} names another person than it was sealed with")
        expected, previous = (row.sequence or expected) + 1, row.entry_hash
    return faults + _root_faults()


def _root_faults() -> list[str]:
    hashes = dict(
        AuditEntry.objects.filter(sequence__in=AuditRoot.objects.values("sequence")).values_list(
            "sequence", "entry_hash"
        )
    )
    return [
        f"the root of {root.day} names row {root.sequence}, which is gone or differs"
        for root in AuditRoot.objects.order_by("day")
        if hashes.get(root.sequence) != root.entry_hash
    ]


def _head() -> tuple[int, str]:
    last = AuditEntry.objects.aggregate(last=Max("sequence"))["last"]
    if last is None:
        return 0, GENESIS
    return last, AuditEntry.objects.values_list("entry_hash", flat=True).get(sequence=last)


def _write_root(sequence: int, entry_hash: str) -> None:
    day: date = clock.now().astimezone(UTC).date()
    AuditRoot.objects.update_or_create(day=day, defaults={"sequence": sequence, "entry_hash": entry_hash})
