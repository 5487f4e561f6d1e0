"""One sample: stories and chatter told over dated sessions, with the questions about them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from benchmarks.packs.chunking import chunk_messages
from benchmarks.packs.files import Case
from benchmarks.packs.textual.asking import Asking, Scene, asking
from benchmarks.packs.textual.casting import Role, cast_sample
from benchmarks.packs.textual.story import CHATTER, Line, Story, stories
from benchmarks.packs.textual.values import Value, Words, fill_slots, render
from benchmarks.types import Add, Ask, Chunking, Event, Message, Sample

FIRST_DAY = datetime(2024, 9, 2, tzinfo=UTC)
CHUNK = Chunking()
SHORT = (6, 14)  # messages of a session that fits one Add
LONG = (24, 34)  # … and of one that takes two
LONG_EVERY = 9


@dataclass(slots=True)
class Block:
    """Lines said in one go; ``source`` is the role's index and the beat, None for chatter."""

    lines: list[Line]
    source: tuple[int, int] | None = None


@dataclass(slots=True)
class Telling:
    """A sample while it is being written."""

    id: str
    language: str
    random: random.Random
    words: Words
    starts: list[datetime]
    roles: list[Role]
    turns: Counter[str]
    values: list[dict[str, Value]] = field(default_factory=list)
    places: dict[tuple[int, int], list[str]] = field(default_factory=dict)  # starred lines
    deck: list[Story] = field(default_factory=list)


def build_case(
    *,
    sample_id: str,
    language: str,
    adds: int,
    asks: Mapping[str, int],
    random: random.Random,
    turns: Counter[str],
) -> Case:
    """A sample of exactly ``adds`` Adds and the given asks by capability, with its questions.

    ``turns`` is one counter for all samples of a pack.
    """
    doubles = adds // LONG_EVERY
    sessions = adds - doubles
    known = stories(language)
    telling = Telling(
        id=sample_id,
        language=language,
        random=random,
        words=Words(language=language, random=random),
        starts=_starts(sessions, random=random),
        turns=turns,
        roles=cast_sample(known, asks=asks, sessions=sessions, random=random, turns=turns),
    )
    telling.values = [_values(telling, role) for role in telling.roles]
    long_ones = set(random.sample(range(sessions), doubles))
    told = [_session(telling, number, long=number in long_ones) for number in range(sessions)]
    return _case(telling, told)


def _starts(count: int, *, random: random.Random) -> list[datetime]:
    """Beginnings of sessions, on different days, at waking hours."""
    longest = max(1, min(11, 1_100 // count))
    day = FIRST_DAY + timedelta(days=random.randrange(300))
    found = []
    for _ in range(count):
        found.append(day + timedelta(minutes=random.randrange(7 * 60, 22 * 60)))
        day += timedelta(days=random.randint(1, longest))
    return found


def _values(telling: Telling, role: Role) -> dict[str, Value]:
    return fill_slots(
        role.story.slots,
        words=telling.words,
        random=telling.random,
        dates=[telling.starts[session].date() for session in role.sessions],
        language=telling.language,
        fresh=True,
    )


def _session(telling: Telling, number: int, *, long: bool) -> list[Message]:
    """The session's messages: its beats among chatter; notes where the evidence came to stand."""
    blocks = [
        Block(_render_lines(telling, role.story.beats[beat], values=telling.values[index]), (index, beat))
        for index, role in enumerate(telling.roles)
        for beat, session in enumerate(role.sessions)
        if session == number
    ]
    low, high = LONG if long else SHORT
    target = telling.random.randint(low, high)
    while (length := sum(len(block.lines) for block in blocks)) < target:
        block = Block(_chatter(telling))
        if not long and length + len(block.lines) > CHUNK.max_messages:
            break
        blocks.append(block)
    telling.random.shuffle(blocks)
    return _messages(telling, blocks, number=number)


def _chatter(telling: Telling) -> list[Line]:
    """The next of the chatter, from a deck that is shuffled anew when it is through."""
    if not telling.deck:
        telling.deck = [story for story in stories(telling.language) if story.capability == CHATTER]
        telling.random.shuffle(telling.deck)
    story = telling.deck.pop()
    values = fill_slots(
        story.slots,
        words=telling.words,
        random=telling.random,
        dates=(),
        language=telling.language,
        fresh=False,
    )
    return _render_lines(telling, story.beats[0], values=values)


def _render_lines(telling: Telling, lines: Sequence[Line], *, values: Mapping[str, Value]) -> list[Line]:
    return [
        Line(line.role, render(line.text, values=values, random=telling.random), line.evidence)
        for line in lines
    ]


def _messages(telling: Telling, blocks: Sequence[Block], *, number: int) -> list[Message]:
    when = telling.starts[number]
    messages: list[Message] = []
    for block in blocks:
        for line in block.lines:
            stamp = int(when.timestamp()) * 1000
            messages.append(Message(role=line.role, content=line.text, timestamp=stamp))
            when += timedelta(seconds=telling.random.randrange(15, 140))
            if line.evidence and block.source:
                telling.places.setdefault(block.source, []).append(f"s{number + 1}:{len(messages)}")
    return messages


def _case(telling: Telling, told: Sequence[Sequence[Message]]) -> Case:
    askings = _askings(telling)
    events: list[Event] = []
    for number, messages in enumerate(told):
        chunks = chunk_messages(messages, chunking=CHUNK)
        events += [Event(add=Add(session=f"s{number + 1}", messages=chunk)) for chunk in chunks]
        events += _asks(item for item in askings if item.session == number)
    events += _asks(item for item in askings if item.session is None)
    questions = {item.question.id: item.question for item in askings}
    sample = Sample(id=telling.id, dataset=f"textual-{telling.language}", events=tuple(events))
    return Case(sample, list(questions.values()))


def _asks(items: Iterable[Asking]) -> list[Event]:
    return [Event(ask=Ask(id=item.ask, question=item.question.id, gold=item.gold)) for item in items]


def _askings(telling: Telling) -> list[Asking]:
    """Every asking of the sample; those at the end are mixed, so that capabilities don't come in blocks."""
    plans = [(index, probe) for index, role in enumerate(telling.roles) for probe in role.probes]
    telling.random.shuffle(plans)
    found: list[Asking] = []
    for number, (index, probe) in enumerate(plans, start=1):
        found += asking(probe, scene=_scene(telling, index), question_id=f"{telling.id}-q{number:02d}")
    return found


def _scene(telling: Telling, index: int) -> Scene:
    return Scene(
        role=telling.roles[index],
        sample=telling.id,
        dataset=f"textual-{telling.language}",
        values=telling.values[index],
        places={beat: where for (role, beat), where in telling.places.items() if role == index},
        sessions=len(telling.starts),
        random=telling.random,
        turns=telling.turns,
    )
