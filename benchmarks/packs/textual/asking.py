"""A story's probe turned into a question of the pack, with its askings."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.packs.textual.casting import Role
from benchmarks.packs.textual.story import Moment, Probe
from benchmarks.packs.textual.values import Value, render
from benchmarks.types import Option, Question

Places = Mapping[int, Sequence[str]]  # beat (from 0) to the references of its starred lines


class Asking(NamedTuple):
    ask: str
    question: Question
    session: int | None  # after which session; None: at the end
    gold: Any = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What a story became in one sample: its words, the places of its starred lines, and the chance used."""

    role: Role
    sample: str
    dataset: str
    values: Mapping[str, Value]
    places: Places
    sessions: int
    random: random.Random
    turns: Counter[str]  # over all samples of a pack


def asking(probe: Probe, *, scene: Scene, question_id: str) -> Iterator[Asking]:
    """One asking a moment, all of one question."""
    role, values, random = scene.role, scene.values, scene.random
    options, gold = _options(probe, values=values, random=random, turns=scene.turns)
    question = Question(
        id=question_id,
        sample=scene.sample,
        dataset=scene.dataset,
        capability=role.story.capability,
        leaf=probe.leaf or role.story.leaf,
        query=render(probe.query, values=values, random=random),
        options=options,
        scorer=probe.scorer,
        gold=_golds(probe.gold, values=values) if probe.gold else gold,
        evidence=_evidence(probe, places=scene.places),
    )
    for number, moment in enumerate(probe.moments, start=1):
        yield Asking(
            ask=question_id if len(probe.moments) == 1 else f"{question_id}-{number}",
            question=question,
            session=_session(moment, role=role, sessions=scene.sessions, random=random),
            gold=_golds(moment.gold, values=values) if moment.gold else None,
        )


def _golds(text: str, *, values: Mapping[str, Value]) -> str | list[str]:
    """A gold as written: one string, or several accepted ones with bars between."""
    parts = [part.strip().format_map(values) for part in text.split("|")]
    return parts[0] if len(parts) == 1 else parts


def _options(
    probe: Probe, *, values: Mapping[str, Value], random: random.Random, turns: Counter[str]
) -> tuple[tuple[Option, ...] | None, str | list[str] | None]:
    """Shuffled options, and the letter of the first written or the letters in the written order.

    The right option stands at each place equally often, question by question, so that a guess
    is right as often as chance and no letter is worth a preference.
    """
    written = [text.format_map(values) for text in probe.options or probe.order]
    if not written:
        return None, None
    shown = list(written)
    while probe.order and shown == written:  # the right order must not be the one that is shown
        random.shuffle(shown)
    if probe.options:
        wrong = shown[1:]
        random.shuffle(wrong)
        place = turns[probe.query] % len(shown)
        turns[probe.query] += 1
        shown = [*wrong[:place], written[0], *wrong[place:]]
    letters = {text: chr(ord("A") + index) for index, text in enumerate(shown)}
    options = tuple(Option(letter=letter, text=text) for text, letter in letters.items())
    return options, letters[written[0]] if probe.options else [letters[text] for text in written]


def _evidence(probe: Probe, *, places: Places) -> tuple[str, ...] | None:
    """References of the starred lines. What can't be answered has no evidence unless it says so."""
    if probe.scorer == "abstain" and not probe.evidence:
        return None
    beats = [beat - 1 for beat in probe.evidence] or sorted(places)
    return tuple(reference for beat in beats for reference in places.get(beat, ())) or None


def _session(moment: Moment, *, role: Role, sessions: int, random: random.Random) -> int | None:
    """Some session from that of the moment's beat on, and before the story's next beat."""
    if moment.beat is None:
        return None
    first = role.sessions[moment.beat - 1]
    after = role.sessions[moment.beat] if moment.beat < len(role.sessions) else sessions
    return random.randint(first, after - 1)
