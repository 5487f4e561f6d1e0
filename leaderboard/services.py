"""What changes a board: a run's publication, a baseline, a name. Every change leaves a snapshot.

``settle`` brings one run's row in line with the run's publication; it is idempotent, so a lost or repeated
message does no harm. Boards of one cycle change one after the other, under the cycle's row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop

from aml.lib.canonical import canonical_hash
from aml.web import audit, clock, outbox
from aml.web.guarding import guarded
from aml.web.models import User
from evaluations.models import CycleTrack, EvaluationContract, Run
from evaluations.records.transitions import PLATFORM, Why, lock, publish_move
from evaluations.states import Publication, RunStatus
from leaderboard.builder import build, run_cells
from leaderboard.models import BoardRow, Snapshot
from leaderboard.types import Board
from registration.models import Cycle, acting_people
from registration.models.participants import DivisionChoice

PUBLISHED = gettext_noop("Published on the board.")
NOT_OFFICIAL = gettext_noop(
    "Withheld: this cycle is official, and the result was made under an offline or uncalibrated model."
)
NO_SCORE = gettext_noop("Withheld: the run has no score that could be shown.")


@dataclass(frozen=True, slots=True)
class Change:
    """A board whose present rows give another document than its newest snapshot."""

    cycle: Cycle
    track: str
    division: str
    contract: EvaluationContract
    board: Board
    hash: str
    snapshot: Snapshot | None  # the newest there is


def settle(run_id: int, *, actor: User | None = None) -> bool:
    """Publish an approved run, show a published one, take any other down; True if something changed."""
    prepared = _prepared(run_id)
    with transaction.atomic():
        cycle = _lock_boards(run_id)
        run = lock(run_id)
        if run.publication == Publication.APPROVED:
            return _publish(run, cycle=cycle, cells=prepared, actor=actor)
        if run.publication == Publication.PUBLISHED:
            return _show(run, cycle=cycle, cells=prepared, actor=actor)
        return _take_down(run, cycle=cycle, actor=actor)


def publish_pending() -> int:
    """Settle every run whose row and publication disagree, such as after a lost message; returns how many.

    One run's trouble stops no other.
    """
    return sum(guarded(settle, run_id) for run_id in unsettled().values_list("pk", flat=True))


def refresh(*, cycle: Cycle, track: str, division: str, reason: str) -> list[Snapshot]:
    """Write a snapshot of each contract's board that has changed. The caller holds the boards' lock."""
    changes = list(_changes(cycle=cycle, track=track, division=division))
    return [_snapshot(change, reason=reason) for change in changes]


def refresh_contract(contract_id: int, *, reason: str) -> list[Snapshot]:
    """Boards under one contract, after its baselines were measured."""
    written: list[Snapshot] = []
    for cycle_track in CycleTrack.objects.filter(contract=contract_id).select_related("cycle"):
        with transaction.atomic():
            cycle = Cycle.objects.select_for_update(no_key=True).get(pk=cycle_track.cycle_id)
            for division in DivisionChoice.values:
                written += refresh(cycle=cycle, track=cycle_track.track, division=division, reason=reason)
    return written


def stale_boards() -> list[Change]:
    """Every board whose newest snapshot isn't what its rows give; empty when all is well."""
    places = CycleTrack.objects.select_related("cycle").order_by("cycle_id", "track")
    return [
        change
        for place in places
        for division in DivisionChoice.values
        for change in _changes(cycle=place.cycle, track=place.track, division=division)
    ]


def rebuild(*, reason: str = "rebuilt") -> list[Snapshot]:
    """Write what ``stale_boards`` finds."""
    written: list[Snapshot] = []
    for cycle_id in CycleTrack.objects.values_list("cycle_id", flat=True).distinct():
        with transaction.atomic():
            cycle = Cycle.objects.select_for_update(no_key=True).get(pk=cycle_id)
            for track in CycleTrack.objects.filter(cycle=cycle).values_list("track", flat=True):
                for division in DivisionChoice.values:
                    written += refresh(cycle=cycle, track=track, division=division, reason=reason)
    return written


def _prepared(run_id: int) -> list[list[object]] | None:
    """The row's cells, computed before any lock is taken; None where no row will be written."""
    run = Run.objects.select_related("pack").get(pk=run_id)
    wanted = run.publication in (Publication.APPROVED, Publication.PUBLISHED)
    if not wanted or BoardRow.objects.filter(run=run).exists():
        return None
    return run_cells(run)


def _lock_boards(run_id: int) -> Cycle:
    """The cycle's row; no new key, so that runs may be accepted meanwhile."""
    return Cycle.objects.select_for_update(no_key=True).get(runs=run_id)


def _publish(run: Run, *, cycle: Cycle, cells: list[list[object]] | None, actor: User | None) -> bool:
    refused = _why_not(run, cycle=cycle)
    if refused:
        return publish_move(
            run.pk, Publication.WITHHELD, why=Why(actor=PLATFORM, sentence=refused), reason=refused
        )
    publish_move(run.pk, Publication.PUBLISHED, why=Why(actor=PLATFORM, sentence=PUBLISHED, user=actor))
    _show(run, cycle=cycle, cells=cells, actor=actor)
    _tell(run, on_board=BoardRow.objects.current().filter(run=run).exists())
    return True


def _why_not(run: Run, *, cycle: Cycle) -> str:
    """What stands against publication although it was approved; empty if nothing does."""
    if cycle.is_official and not run.contract.official:
        return NOT_OFFICIAL
    score = getattr(run, "score", None)
    return NO_SCORE if score is None or score.overall is None else ""


def _show(run: Run, *, cycle: Cycle, cells: list[list[object]] | None, actor: User | None) -> bool:
    row = BoardRow.objects.filter(run=run).first() or _new_row(run, cells=cells)
    if row.is_current or Run.objects.filter(_beaten(), pk=run.pk).exists():
        return False
    BoardRow.objects.filter(entry=row.entry, track=row.track, is_current=True).update(is_current=False)
    row.is_current = True
    row.save(update_fields=["is_current"])
    _record("row.published", row, actor=actor)
    refresh(cycle=cycle, track=row.track, division=row.division, reason=f"published: {row.entry.name}")
    return True


def _new_row(run: Run, *, cells: list[list[object]] | None) -> BoardRow:
    return BoardRow.objects.create(
        cycle_id=run.cycle_id,
        track=run.track,
        division=run.registration.division,
        contract_id=run.contract_id,
        entry=run.version.entry,
        run=run,
        is_current=False,
        cells=run_cells(run) if cells is None else cells,
        published_at=clock.now(),
    )


def _beaten() -> Q:
    """Runs before which another Full of the entry stands, on the board or taken down since.

    The newest accepted that succeeded counts, not the best; a partial one gives way to any that succeeded and
    stands (product.md, rule 8).
    """
    others = BoardRow.objects.filter(entry=OuterRef("version__entry"), track=OuterRef("track"))
    later = Q(run__accepted_at__gt=OuterRef("accepted_at")) | Q(
        run__accepted_at=OuterRef("accepted_at"), run__pk__gt=OuterRef("pk")
    )
    succeeded = Q(run__status=RunStatus.SUCCEEDED)
    before_partial = later | (succeeded & Q(is_current=True))
    return Q(Exists(others.filter(later & succeeded))) | (
        ~Q(status=RunStatus.SUCCEEDED) & Q(Exists(others.filter(before_partial)))
    )


def _take_down(run: Run, *, cycle: Cycle, actor: User | None) -> bool:
    row = BoardRow.objects.filter(run=run, is_current=True).select_related("entry").first()
    if row is None:
        return False
    row.is_current = False
    row.save(update_fields=["is_current"])
    _record("row.removed", row, actor=actor, publication=run.publication)
    refresh(
        cycle=cycle, track=row.track, division=row.division, reason=f"{run.publication}: {row.entry.name}"
    )
    return True


def _record(act: str, row: BoardRow, *, actor: User | None, **data: str) -> None:
    audit.record(
        act, subject=f"run:{row.run.public_id}", actor=actor, public=True, system=row.entry.name,
        version=row.run.version.label, track=row.track, division=row.division,
        contract_hash=row.contract.hash, **data,
    )  # fmt: skip


def _tell(run: Run, *, on_board: bool) -> None:
    """``on_board``: False where another Full of the entry stands before this one."""
    outbox.enqueue(
        f"run:{run.public_id}:published", users=acting_people(run.registration_id), template="run_published",
        label=run.label, run=run.public_id, track=run.track, division=run.registration.division,
        system=run.version.entry.name, slug=run.version.entry.slug, on_board=on_board,
    )  # fmt: skip


def unsettled() -> QuerySet[Run]:
    """Runs whose row may disagree with their publication."""
    shown = Q(publication=Publication.PUBLISHED)
    return (
        Run.objects.fulls()
        .filter(
            Q(publication=Publication.APPROVED)
            | (shown & Q(board_row__isnull=True))
            | (shown & Q(board_row__is_current=False) & ~_beaten())
            | (~shown & Q(board_row__is_current=True))
        )
        .order_by("accepted_at", "pk")
    )


def _changes(*, cycle: Cycle, track: str, division: str) -> Iterator[Change]:
    for contract in _contracts(cycle=cycle, track=track, division=division):
        board = build(cycle=cycle, track=track, division=division, contract=contract)
        newest = _newest(cycle=cycle, track=track, division=division).filter(contract=contract).first()
        digest = canonical_hash(board.as_json())
        if newest is None and board.is_empty:
            continue
        if newest is None or newest.hash != digest:
            yield Change(cycle, track, division, contract, board, digest, newest)


def _contracts(*, cycle: Cycle, track: str, division: str) -> QuerySet[EvaluationContract]:
    """What the board's rows, its snapshots and its track name."""
    of_board = {"cycle": cycle, "track": track, "division": division}
    return EvaluationContract.objects.filter(
        Q(pk__in=BoardRow.objects.filter(**of_board).values("contract"))
        | Q(pk__in=Snapshot.objects.filter(**of_board).values("contract"))
        | Q(pk__in=CycleTrack.objects.filter(cycle=cycle, track=track).values("contract"))
    ).select_related("full_pack")


def _newest(*, cycle: Cycle, track: str, division: str) -> QuerySet[Snapshot]:
    return Snapshot.objects.of_board(cycle=cycle, track=track, division=division).newest_first()


def _snapshot(change: Change, *, reason: str) -> Snapshot:
    of_board = {"cycle": change.cycle, "track": change.track, "division": change.division}
    last = Snapshot.objects.filter(**of_board).aggregate(last=Max("number"))["last"] or 0
    return Snapshot.objects.create(
        **of_board, number=last + 1, contract=change.contract, data=change.board.as_json(), hash=change.hash,
        reason=reason[:200], created_at=clock.now(),
    )  # fmt: skip
