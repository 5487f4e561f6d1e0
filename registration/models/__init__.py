from registration.models.cycles import Cycle
from registration.models.entries import Entry, EntryTrack, Version
from registration.models.keys import EvaluationKey
from registration.models.participants import (
    Member,
    Membership,
    Participant,
    Registration,
    acting_people,
)

__all__ = [
    "Cycle",
    "Entry",
    "EntryTrack",
    "EvaluationKey",
    "Member",
    "Membership",
    "Participant",
    "Registration",
    "Version",
    "acting_people",
]
