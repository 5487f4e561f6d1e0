"""Which evaluation contract a cycle's track is scored under, and which of them take runs."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from aml.web import audit
from aml.web.errors import FieldRefusal
from aml.web.models import User
from evaluations.models import CycleTrack
from registration.models import Cycle
from registration.services import guards


def open_tracks(cycle: Cycle) -> dict[str, CycleTrack]:
    """The cycle's tracks that are open and ready to be evaluated, with their contract and packs."""
    found = CycleTrack.objects.filter(
        cycle=cycle, is_open=True, contract__full_pack__complete=True, contract__smoke_pack__complete=True
    )
    return {one.track: one for one in found.select_related("contract__full_pack", "contract__smoke_pack")}


def save_track(*, actor: User, track: CycleTrack) -> CycleTrack:
    """Open, close or bind a track. Runs keep the contract under which they were accepted."""
    guards.organiser(actor)
    if problem := track_problem(track):
        raise FieldRefusal("contract", problem)
    with transaction.atomic():
        track.save()
        audit.record(
            "track.set", subject=f"cycle:{track.cycle.slug}:{track.track}", actor=actor,
            actor_label="organiser", public=True, is_open=track.is_open,
            contract=track.contract.hash if track.contract else None,
        )  # fmt: skip
    return track


def track_problem(track: CycleTrack) -> str | None:
    if track.contract is None or track.contract.track == track.track:
        return None
    return _("This contract is one of %(other)s; expected one of %(track)s.") % {
        "other": track.contract.get_track_display(),
        "track": track.get_track_display(),
    }
