"""LoCoMo's ``locomo10.json`` as a pack: 10 conversations, 1,986 questions.

The two speakers become the roles ``user`` and ``assistant``, with the name at the head of each
message; a picture stays as its caption in words. Each session is one session of the pack, dated
by its ``date_time`` read as UTC. Categories are mapped to capabilities by ``CATEGORIES``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.importers.base import ImportRefused, Report, require_licence
from benchmarks.importers.locomo_pack import locomo_manifest, locomo_readme
from benchmarks.packs.chunking import chunk_messages, split_long_message
from benchmarks.packs.files import Case, open_pack, write_pack
from benchmarks.packs.prompts import default_prompts
from benchmarks.types import Add, Ask, Chunking, Event, Message, Question, Sample

Scorer = Literal["token_f1", "judge_binary"]


class Category(NamedTuple):
    name: str
    capability: str
    in_full_file: int


CATEGORIES: Mapping[int, Category] = {
    1: Category("multi-hop", "B", 282),
    2: Category("temporal", "C", 321),
    3: Category("open-domain", "B", 96),
    4: Category("single-hop", "A", 841),
    5: Category("adversarial", "H", 446),
}
ADVERSARIAL = 5
CONVERSATIONS_IN_FULL_FILE = 10
DATE_FORMAT = "%I:%M %p on %d %B, %Y"
_REFERENCE = re.compile(r"D:?0*(\d+):0*(\d+)")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(slots=True)
class Tally:
    """What is counted on the way, for the report."""

    categories: Counter[int] = field(default_factory=Counter)
    kept: int = 0
    repaired: int = 0
    dropped: list[str] = field(default_factory=list)
    without_evidence: int = 0
    adversarial_with_answer: int = 0


def import_locomo(
    path: Path, directory: Path, *, licence_confirmed: bool, scorer: Scorer = "token_f1"
) -> Report:
    """Write a private pack from ``path`` to ``directory``.

    ``scorer`` grades the answerable categories; the adversarial ones are graded as abstention.
    Raises ``ImportRefused`` without the licence's confirmation, for another layout, and where the
    full file's counts by category are not the published ones.
    """
    require_licence(
        confirmed=licence_confirmed, name="LoCoMo", licence="CC-BY-NC-4.0", terms="not for commercial use"
    )
    conversations = _load(Path(path))
    counts = _category_counts(conversations)
    tally = Tally()
    shares = {category.name: counts[number] for number, category in CATEGORIES.items()}
    write_pack(
        directory,
        manifest=locomo_manifest(counts=_capability_counts(counts), scorer=scorer),
        cases=(_case(entry, scorer=scorer, tally=tally) for entry in conversations),
        prompts=default_prompts(),
        readme=locomo_readme(categories=shares, scorer=scorer),
    )
    return _report(directory, tally=tally)


def _load(path: Path) -> list[dict[str, Any]]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ImportRefused(f"{path.name} can't be read as JSON: {error}") from error
    if not isinstance(data, list) or not data or not all(_looks_right(entry) for entry in data):
        raise ImportRefused(
            f"{path.name} has another layout: expected a list of objects "
            "with 'sample_id', 'conversation' and 'qa'"
        )
    return data


def _looks_right(entry: Any) -> bool:
    if not isinstance(entry, dict) or not {"sample_id", "conversation", "qa"} <= set(entry):
        return False
    conversation, questions = entry["conversation"], entry["qa"]
    return (
        isinstance(conversation, dict)
        and {"speaker_a", "speaker_b"} <= set(conversation)
        and isinstance(questions, list)
        and all(isinstance(item, dict) and item.get("category") in CATEGORIES for item in questions)
    )


def _category_counts(conversations: Sequence[Mapping[str, Any]]) -> Counter[int]:
    """Questions by category; the full file must have the published counts (they get mislabelled)."""
    counts = Counter(item["category"] for entry in conversations for item in entry["qa"])
    expected = {number: category.in_full_file for number, category in CATEGORIES.items()}
    if len(conversations) == CONVERSATIONS_IN_FULL_FILE and dict(counts) != expected:
        raise ImportRefused(
            f"ten conversations, but the counts by category are {dict(sorted(counts.items()))} "
            f"instead of {expected}: this is not the published locomo10.json"
        )
    return counts


def _capability_counts(counts: Mapping[int, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, category in sorted(CATEGORIES.items(), key=lambda item: item[1].capability):
        found[category.capability] = found.get(category.capability, 0) + counts[number]
    return {capability: count for capability, count in found.items() if count}


def _case(entry: Mapping[str, Any], *, scorer: Scorer, tally: Tally) -> Case:
    sample_id = str(entry["sample_id"])
    adds: list[Event] = []
    places: dict[str, list[str]] = {}
    for number, turns, when in _sessions(entry["conversation"]):
        messages = _messages(turns, number=number, when=when, entry=entry, places=places)
        chunks = chunk_messages(messages, chunking=Chunking())
        adds += [Event(add=Add(session=f"s{number}", messages=chunk)) for chunk in chunks]
    questions = [
        _question(item, number=number, sample=sample_id, scorer=scorer, places=places, tally=tally)
        for number, item in enumerate(entry["qa"], start=1)
    ]
    asks = [Event(ask=Ask(id=question.id, question=question.id)) for question in questions]
    return Case(Sample(id=sample_id, dataset="locomo10", events=(*adds, *asks)), questions)


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[int, list[Any], datetime]]:
    """Sessions that hold turns, by number; a date without turns is common in the file and skipped."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        turns = conversation[f"session_{number}"]
        if turns:
            yield number, turns, _when(conversation.get(f"session_{number}_date_time"), session=number)


def _when(text: object, *, session: int) -> datetime:
    try:
        return datetime.strptime(str(text), DATE_FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise ImportRefused(
            f"session {session} has the date {text!r}, expected '1:56 pm on 8 May, 2023'"
        ) from error


def _messages(
    turns: Sequence[Mapping[str, Any]],
    *,
    number: int,
    when: datetime,
    entry: Mapping[str, Any],
    places: dict[str, list[str]],
) -> list[Message]:
    """The session's messages; ``places`` learns which of them each dialogue id became."""
    messages: list[Message] = []
    for turn in turns:
        role: Literal["user", "assistant"] = (
            "user" if turn["speaker"] == entry["conversation"]["speaker_a"] else "assistant"
        )
        whole = Message(role=role, content=_text(turn), timestamp=int(when.timestamp() * 1000))
        for piece in split_long_message(whole):
            messages.append(piece)
            places.setdefault(turn["dia_id"], []).append(f"s{number}:{len(messages)}")
    return messages


def _text(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    picture = f" [shares a picture: {caption}]" if caption else ""
    return f"{turn['speaker']}: {turn['text']}{picture}"


def _question(
    item: Mapping[str, Any],
    *,
    number: int,
    sample: str,
    scorer: Scorer,
    places: Mapping[str, Sequence[str]],
    tally: Tally,
) -> Question:
    category = CATEGORIES[item["category"]]
    adversarial = item["category"] == ADVERSARIAL
    tally.categories[item["category"]] += 1
    tally.adversarial_with_answer += adversarial and "answer" in item
    return Question(
        id=f"{sample}:q{number}",
        sample=sample,
        dataset="locomo10",
        capability=category.capability,
        leaf=category.name,
        query=str(item["question"]),
        scorer="abstain" if adversarial else scorer,
        gold=None if adversarial else str(item["answer"]),
        # The source names what an adversarial question was twisted from: that doesn't answer it.
        evidence=None
        if adversarial
        else _evidence(item.get("evidence", ()), sample=sample, places=places, tally=tally),
    )


def _evidence(
    written: Sequence[str], *, sample: str, places: Mapping[str, Sequence[str]], tally: Tally
) -> tuple[str, ...] | None:
    found: list[str] = []
    for text in written:
        names = [f"D{session}:{turn}" for session, turn in _REFERENCE.findall(text)]
        known = [name for name in names if name in places]
        if len(known) < max(len(names), 1):
            tally.dropped.append(f"{sample} {text!r}")
        tally.kept += len(known)
        tally.repaired += len(known) if known and known != [text] else 0
        found += [place for name in known for place in places[name] if place not in found]
    tally.without_evidence += not found
    return tuple(found) or None


def _report(directory: Path, *, tally: Tally) -> Report:
    pack = open_pack(directory)
    return Report(
        directory=directory,
        pack_hash=pack.hash,
        counts=pack.manifest.counts.model_dump(),
        categories={CATEGORIES[number].name: count for number, count in sorted(tally.categories.items())},
        evidence_kept=tally.kept,
        evidence_repaired=tally.repaired,
        evidence_dropped=len(tally.dropped),
        notes=tuple(_notes(tally, samples=pack.manifest.counts.samples)),
    )


def _notes(tally: Tally, *, samples: int) -> Iterator[str]:
    if samples != CONVERSATIONS_IN_FULL_FILE:
        yield f"{samples} conversations: not the full file of ten, so counts by category were not asserted"
    if tally.repaired:
        yield f"{tally.repaired} evidence references were written in another form and understood"
    if tally.dropped:
        yield f"{len(tally.dropped)} evidence references name no message: {', '.join(tally.dropped)}"
    if tally.without_evidence:
        yield f"{tally.without_evidence} answerable questions have no evidence"
    if tally.adversarial_with_answer:
        yield (
            f"{tally.adversarial_with_answer} adversarial questions also have an answer in the source "
            '("No"); they are graded as abstention like the others'
        )
