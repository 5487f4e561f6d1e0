"""Packs for measurements: Adds of a given size in lanes of a given length, one ask at each lane's end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aml.lib.tracks import Track
from benchmarks.packs.files import Case, write_pack
from benchmarks.packs.prompts import default_prompts
from benchmarks.types import (
    Add,
    Ask,
    Capability,
    Counts,
    Dataset,
    Event,
    Manifest,
    Message,
    ModelUse,
    Question,
    Sample,
    Title,
    Visibility,
)

WORDS = "the kettle on the stove is blue and the cup beside it is green while rain falls on the roof "


def write(directory: Path, *, lanes: list[int], asks: int, body: int) -> None:
    """``lanes`` holds the number of Adds of each sample; ``body`` is the size of an Add's text in bytes."""
    write_pack(
        directory, manifest=_manifest(), cases=_cases(lanes, asks=asks, body=body), prompts=default_prompts(),
        readme="Made for a measurement.",
    )  # fmt: skip


def _cases(lanes: list[int], *, asks: int, body: int) -> Iterator[Case]:
    per_lane = -(-asks // len(lanes))
    left = asks
    for number, adds in enumerate(lanes):
        count = min(per_lane, left)
        left -= count
        yield _case(f"s{number}", adds=adds, asks=count, body=body)


def _case(name: str, *, adds: int, asks: int, body: int) -> Case:
    text = (WORDS * (body // len(WORDS) + 1))[: min(body, 7900)]
    messages = tuple(Message(role="user", content=text) for _ in range(max(1, body // 7900)))
    events = [Event(add=Add(session="a", messages=messages)) for _ in range(adds)]
    questions = [_question(f"{name}-q{n}", sample=name) for n in range(asks)]
    events += [Event(ask=Ask(id=question.id, question=question.id)) for question in questions]
    return Case(Sample(id=name, dataset="bench", events=tuple(events)), questions)


def _question(key: str, *, sample: str) -> Question:
    return Question(
        id=key, sample=sample, dataset="bench", capability="A", query="Which colour is the kettle?",
        scorer="token_f1", gold="blue",
    )  # fmt: skip


def _manifest() -> Manifest:
    both = Title(en="Facts", zh="事实")
    return Manifest(
        id="bench", version="1.0.0", title="Bench", track=Track.TEXTUAL, visibility=Visibility.PUBLIC,
        licence="CC0-1.0", attribution="ours", source="generated", language="en",
        capabilities=(Capability(id="A", title=both, rubric=both, weight=1.0),),
        datasets=(Dataset(id="bench", title="Bench", licence="CC0-1.0"),),
        answer=ModelUse(prompt="prompts/answer.txt", role="answer", max_output_tokens=512),
        judge=ModelUse(prompt="prompts/judge.txt", role="judge", max_output_tokens=512),
        counts=Counts(samples=0, adds=0, asks=0, questions=0), files={},
    )  # fmt: skip
