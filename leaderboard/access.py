"""What the public may see: boards of public cycles, their snapshots, and systems with a published run."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from aml.lib.text import whole_number
from aml.web import clock
from evaluations.models import CycleTrack, EvaluationContract
from leaderboard.builder import build
from leaderboard.models import BoardRow, Snapshot
from leaderboard.types import Board, board_of
from registration.models import Cycle, Entry
from registration.models.entries import TrackChoice
from registration.models.participants import DivisionChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a board stands; ``is_current``: in the cycle that addresses needn't name."""

    cycle: Cycle
    track: str
    division: str
    is_current: bool

    def snapshots(self) -> QuerySet[Snapshot]:
        found = Snapshot.objects.of_board(cycle=self.cycle, track=self.track, division=self.division)
        return found.newest_first()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A board and the snapshot that it comes from; both None where the track has no contract yet."""

    place: Place
    board: Board | None
    snapshot: Snapshot | None
    is_newest: bool = True


def current_cycle() -> Cycle | None:
    return Cycle.objects.current_at(clock.now())


def place_or_404(*, track: str, division: str, cycle: str = "") -> Place:
    """``cycle`` is a slug; without one it is the current cycle."""
    if track not in TrackChoice.values or division not in DivisionChoice.values:
        raise Http404
    current = current_cycle()
    found = Cycle.objects.public().filter(slug=cycle).first() if cycle else current
    if found is None:
        raise Http404
    return Place(cycle=found, track=track, division=division, is_current=found == current)


def shown_or_404(place: Place, *, number: str = "") -> Shown:
    """The board as it is, or as its snapshot ``number`` kept it."""
    if number:
        snapshot = get_object_or_404(place.snapshots(), number=whole_number(number))
        newest = place.snapshots().filter(contract=snapshot.contract).first()
        return Shown(
            place=place, board=board_of(snapshot.data), snapshot=snapshot, is_newest=snapshot == newest
        )
    contract = _contract(place)
    if contract is None:
        return Shown(place=place, board=None, snapshot=None)
    newest = place.snapshots().filter(contract=contract).first()
    board = board_of(newest.data) if newest else build(
        cycle=place.cycle, track=place.track, division=place.division, contract=contract
    )  # fmt: skip
    return Shown(place=place, board=board, snapshot=newest)


def other_boards(shown: Shown) -> list[Snapshot]:
    """The newest snapshot of each other contract with rows: never in one table with this one."""
    here = shown.board.contract_hash if shown.board else ""
    others = shown.place.snapshots().exclude(contract__hash=here)
    numbers = others.order_by().values("contract").annotate(newest=Max("number")).values("newest")
    return [one for one in others.filter(number__in=numbers) if one.data["rows"]]


def entry_or_404(slug: str) -> Entry:
    """An entry that has been on a board of a public cycle; any other is nobody's business."""
    entries = Entry.objects.select_related("registration__participant", "registration__cycle")
    published = BoardRow.objects.filter(cycle__is_public=True)
    return get_object_or_404(entries, slug=slug, pk__in=published.values("entry"))


def row_counts(cycle: Cycle, *, division: str) -> dict[str, int]:
    """Rows on the boards, by track."""
    rows = BoardRow.objects.current().filter(cycle=cycle, division=division).values_list("track", flat=True)
    counts = dict.fromkeys(TrackChoice.values, 0)
    for track in rows:
        counts[track] += 1
    return counts


def _contract(place: Place) -> EvaluationContract | None:
    """The track's present contract, else that of the newest snapshot."""
    entered = CycleTrack.objects.filter(cycle=place.cycle, track=place.track, contract__isnull=False)
    found = entered.select_related("contract__full_pack").first()
    if found is not None:
        return found.contract
    newest = place.snapshots().first()
    return newest.contract if newest else None
