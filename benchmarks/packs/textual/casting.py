"""Choosing which stories a sample tells, and which of their questions it asks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.packs.textual.sizes import STREAMING
from benchmarks.packs.textual.story import CHATTER, Moment, Probe, Story

LIMITS = "H"
LINES_PER_SESSION = 18  # of stories: with them alone a session still fits one Add


@dataclass(slots=True)
class Role:
    """A story as one sample tells it: its questions, and the session of each beat."""

    story: Story
    probes: list[Probe] = field(default_factory=list)
    sessions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Cast:
    """Roles chosen so far, the claims they make, and the room in lines left in each session."""

    random: random.Random
    room: list[int]
    turns: Counter[str]  # over all samples of a pack, so that alternatives come equally often
    roles: list[Role] = field(default_factory=list)
    claims: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)

    def take(self, story: Story) -> Role | None:
        """The story with its beats placed, or None where it clashes or doesn't fit."""
        if story.key in self.keys or story.claims & self.claims:
            return None
        sessions = self._place([len(beat) for beat in story.beats])
        if sessions is None:
            return None
        for session, beat in zip(sessions, story.beats, strict=True):
            self.room[session] -= len(beat)
        self.keys.add(story.key)
        self.claims |= story.claims
        role = Role(story, sessions=sessions)
        self.roles.append(role)
        return role

    def _place(self, beats: Sequence[int]) -> list[int] | None:
        """A session for each beat, in order; ``beats`` holds their lengths in lines."""
        free = [session for session, room in enumerate(self.room) if room >= max(beats)]
        return sorted(self.random.sample(free, len(beats))) if len(free) >= len(beats) else None


def cast_sample(
    stories: Sequence[Story],
    *,
    asks: Mapping[str, int],
    sessions: int,
    random: random.Random,
    turns: Counter[str],
) -> list[Role]:
    """Roles with their questions, as many per capability as ``asks`` says, then some without any."""
    cast = Cast(random, [LINES_PER_SESSION] * sessions, turns)
    # Streaming first: its stories need the most sessions.
    for capability in sorted(asks, key=lambda name: (name != STREAMING, name)):
        _cast_capability(cast, stories=stories, capability=capability, wanted=asks[capability])
    _cast_extras(cast, stories=stories, wanted=sessions // 3)
    return cast.roles


def _cast_capability(cast: Cast, *, stories: Sequence[Story], capability: str, wanted: int) -> None:
    left = wanted
    for story in _shuffled(stories, capability=capability, random=cast.random):
        if left <= 0:
            return
        role = cast.take(story)
        if role is None:
            continue
        role.probes = _choose(story, left=left, cast=cast)
        left -= sum(len(probe.moments) for probe in role.probes)
    # Few sessions, many asks: a story told already can answer a second question.
    for role in cast.roles:
        if left > 0 and role.story.capability == capability:
            spare = [_at_end(probe) for probe in role.story.probes if not _used(role, probe)]
            role.probes += spare[:left]
            left -= len(spare[:left])
    if left > 0:
        raise ValueError(f"no room for {left} more asks of capability {capability}")


def _shuffled(stories: Sequence[Story], *, capability: str, random: random.Random) -> Iterator[Story]:
    """Stories of a capability, one of each leaf before a second of any."""
    found = [story for story in stories if story.capability == capability]
    random.shuffle(found)
    seen: dict[str, int] = {}
    ranked: list[tuple[int, int, Story]] = []
    for story in found:
        seen[story.leaf] = seen.get(story.leaf, 0) + 1
        ranked.append((seen[story.leaf], len(ranked), story))
    return (story for _, _, story in sorted(ranked, key=lambda item: item[:2]))


def _choose(story: Story, *, left: int, cast: Cast) -> list[Probe]:
    if story.capability == STREAMING:
        return _series(story, left=left)
    if story.capability == LIMITS:
        # Each of these stories has one question to decline and one to answer: half of each.
        probe = story.probes[cast.turns[LIMITS] % len(story.probes)]
        cast.turns[LIMITS] += 1
        return [_at_end(probe)]
    return [_at_end(cast.random.choice(story.probes))]


def _series(story: Story, *, left: int) -> list[Probe]:
    """The story's questions with all their moments, as far as ``left`` allows, the latest first.

    The later moments are the telling ones: that is where an old value could be given.
    """
    chosen: list[Probe] = []
    for probe in reversed(story.probes):
        moments = probe.moments[-left:] if left > 0 else []
        if moments:
            chosen.append(replace(probe, moments=moments))
            left -= len(moments)
    return chosen[::-1]


def _at_end(probe: Probe) -> Probe:
    return replace(probe, moments=probe.moments or [Moment()])


def _used(role: Role, probe: Probe) -> bool:
    return any(used.query == probe.query for used in role.probes)


def _cast_extras(cast: Cast, *, stories: Sequence[Story], wanted: int) -> None:
    """Stories nobody asks about: what a memory has to tell apart from the rest."""
    found = [story for story in stories if story.capability not in (CHATTER, LIMITS)]
    cast.random.shuffle(found)
    for story in found:
        if wanted <= 0:
            return
        if cast.take(story):
            wanted -= 1
