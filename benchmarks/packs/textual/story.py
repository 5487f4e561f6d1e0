"""Stories: what a person tells over several sessions, and what can be asked about it afterwards.

They are written as text, in ``en/*.txt`` and ``zh/*.txt``, so that they read like what they become:

    == sister-job | A people | sister          key, capability and leaf, claims
    p = woman                                  a slot, and how it is filled (values.py)
    --                                         a beat: beats fall into different sessions, in order
    U* My sister {p} [works|has a job] at …    a line of the user; * marks it as evidence
    A  Good for her!                           a line of the assistant
    ?? Where does my sister work?              a question
    gold: {firm}                               its gold, or options: / order: / abstain

``[a|b]`` picks one of the wordings. Two stories with a common claim ("sister") never meet in one
sample, so that nothing a sample says contradicts or doubles what another story says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal

CHATTER = "-"


class StoryError(Exception):
    """A story file doesn't follow the notation; the message says where."""


@dataclass(frozen=True, slots=True)
class Line:
    role: Literal["user", "assistant"]
    text: str
    evidence: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """One asking: after beat ``beat`` (from 1; None: at the end), with the gold of that time."""

    beat: int | None = None
    gold: str | None = None


@dataclass(slots=True)
class Probe:
    """A question. ``options`` and ``order`` hold texts, the right one first, or in the right order."""

    query: str
    scorer: str = "judge_binary"
    gold: str | None = None
    options: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    moments: list[Moment] = field(default_factory=list)
    evidence: tuple[int, ...] = ()  # beats; empty: all
    leaf: str | None = None


@dataclass(slots=True)
class Story:
    key: str
    capability: str
    leaf: str
    claims: frozenset[str]
    slots: dict[str, str] = field(default_factory=dict)
    beats: list[list[Line]] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)


def parse(text: str, *, name: str) -> Iterator[Story]:
    """The stories of one file, in its order."""
    story: Story | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("== "):
            if story:
                yield story
            story = _head(line)
            continue
        if story is None or not _take(story, line):
            raise StoryError(f"{name} line {number}: {line!r} is out of place")
    if story:
        yield story


def _head(line: str) -> Story:
    key, _, rest = line[3:].partition("|")
    kind, _, claims = rest.partition("|")
    capability, _, leaf = kind.strip().partition(" ")
    return Story(key.strip(), capability or CHATTER, leaf.strip(), frozenset(claims.split()))


def _take(story: Story, line: str) -> bool:
    if line == "--":
        story.beats.append([])
        return True
    if line.startswith("?? "):
        story.probes.append(Probe(line[3:].strip()))
        return True
    if story.probes:
        return _take_probe(story.probes[-1], line)
    if story.beats:
        return _take_line(story.beats[-1], line)
    name, equals, how = line.partition("=")
    story.slots[name.strip()] = how.strip()
    return bool(equals)


def _take_line(beat: list[Line], line: str) -> bool:
    mark, _, text = line.partition(" ")
    if mark not in {"U", "U*", "A", "A*"}:
        return False
    beat.append(Line("user" if mark[0] == "U" else "assistant", text.strip(), mark.endswith("*")))
    return True


def _take_probe(probe: Probe, line: str) -> bool:
    """One line below a question: ``gold:``, ``options:``, ``order:``, ``at N:``, ``abstain`` and so on."""
    name, _, value = line.partition(":")
    value = value.strip()
    if name == "abstain":
        probe.scorer = "abstain"
    elif name == "gold":
        probe.gold = value
    elif name == "options":
        probe.scorer, probe.options = "choice", tuple(part.strip() for part in value.split("|"))
    elif name == "order":
        probe.scorer, probe.order = "ordering", tuple(part.strip() for part in value.split("|"))
    elif name in ("scorer", "leaf"):
        setattr(probe, name, value)
    elif name == "evidence":
        probe.evidence = tuple(int(part) for part in value.split())
    elif name.startswith("at "):
        probe.moments.append(Moment(int(name[3:]), value or None))
    else:
        return False
    return True


@cache
def stories(language: str) -> tuple[Story, ...]:
    """Every story of a language, by file name and then by place in the file."""
    folder = files(__package__) / language
    found: list[Story] = []
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".txt") and entry.name != "pools.txt":
            found += parse(entry.read_text(encoding="utf-8"), name=f"{language}/{entry.name}")
    return tuple(found)


@cache
def pools(language: str) -> Mapping[str, tuple[str, ...]]:
    """Word lists by name: ``name: a, b, c`` (Chinese files use the same commas); lines add up."""
    text = (files(__package__) / language / "pools.txt").read_text(encoding="utf-8")
    found: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        name, colon, words = line.partition(":")
        if colon and not line.startswith("#"):
            found[name.strip()] = found.get(name.strip(), ()) + tuple(
                word.strip() for word in words.split(",") if word.strip()
            )
    return found
