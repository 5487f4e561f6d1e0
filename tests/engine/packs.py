"""A small pack on disk for tests of the command line."""

from __future__ import annotations

from pathlib import Path

from aml.lib.tracks import Track
from benchmarks.packs.capabilities import capability
from benchmarks.packs.files import Case, write_pack
from benchmarks.packs.prompts import default_prompts
from benchmarks.types import Counts, Dataset, Manifest, ModelUse, Sample, Visibility
from tests.engine.samples import questions


def small_pack(folder: Path, *samples: Sample, scorer: str = "token_f1") -> Path:
    manifest = Manifest(
        id="small",
        version="1.0.0",
        title="Small",
        track=Track.TEXTUAL,
        visibility=Visibility.PUBLIC,
        licence="CC0-1.0",
        attribution="own",
        source="own",
        language="en",
        capabilities=(capability("A", weight=0.25), capability("B", weight=0.75)),
        datasets=(Dataset(id="d", title="D", licence="CC0-1.0"),),
        answer=ModelUse(prompt="prompts/answer.txt", role="answer", max_output_tokens=256),
        judge=ModelUse(prompt="prompts/judge.txt", role="judge", max_output_tokens=256),
        counts=Counts(samples=0, adds=0, asks=0, questions=0),
        files={},
    )
    asked = questions(*samples, scorer=scorer).values()
    cases = [Case(one, [q for q in asked if q.sample == one.id]) for one in samples]
    write_pack(folder, manifest=manifest, cases=cases, prompts=default_prompts(), readme="Small.")
    return folder
