"""A small valid pack that tests take apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from aml.lib.tracks import Track
from benchmarks.packs.capabilities import capability
from benchmarks.packs.files import Case, write_pack
from benchmarks.types import (
    Add,
    Ask,
    Counts,
    Dataset,
    Event,
    Manifest,
    Message,
    ModelUse,
    Question,
    Sample,
    Visibility,
)

PROMPTS = {"prompts/answer.txt": "Answer {question}", "prompts/judge.txt": "Judge {question}"}


def outline() -> Manifest:
    return Manifest(
        id="small",
        version="1.0.0",
        title="Small",
        track=Track.TEXTUAL,
        visibility=Visibility.PUBLIC,
        licence="CC-BY-4.0",
        attribution="Us",
        source="a test",
        language="en",
        capabilities=(capability("A", weight=1.0, leaves=("fact",)),),
        datasets=(Dataset(id="d", title="D", licence="CC-BY-4.0"),),
        answer=ModelUse(prompt="prompts/answer.txt", role="answer", max_output_tokens=64),
        judge=ModelUse(prompt="prompts/judge.txt", role="judge", max_output_tokens=64),
        counts=Counts(samples=0, adds=0, asks=0, questions=0),
        files={},
    )


def question(**changes: Any) -> Question:
    values: dict[str, Any] = {
        "id": "q1",
        "sample": "t1",
        "dataset": "d",
        "capability": "A",
        "leaf": "fact",
        "query": "What is the boat called?",
        "scorer": "exact",
        "gold": "Tern",
        "evidence": ("s1:1",),
    }
    return Question(**values | changes)


def case(*, content: str = "The boat is called Tern.", **changes: Any) -> Case:
    asked = question(**changes)
    add = Add(session="s1", messages=(Message(role="user", content=content, timestamp=1_700_000_000_000),))
    events = (Event(add=add), Event(ask=Ask(id="a1", question=asked.id)))
    return Case(Sample(id="t1", dataset="d", events=events), [asked])


def write_small(folder: Path, *cases: Case) -> Path:
    write_pack(folder, manifest=outline(), cases=cases or (case(),), prompts=PROMPTS, readme="# Small\n")
    return folder


def edit_json(path: Path, **changes: Any) -> None:
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | changes))
