"""Every fault of a pack in one pass over its files.

Order: manifest, files and hashes, questions, samples, counts. Nothing stops at the first fault,
but samples are only checked line by line: a pack of any size is validated in flat memory.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchmarks.packs.container import (
    Container,
    ContainerError,
    ReadLimits,
    lines,
    reading,
)
from benchmarks.packs.faults import Fault, schema_faults
from benchmarks.packs.golds import GOLD_SHAPES, OPTION_SCORERS, gold_problem
from benchmarks.packs.samplecheck import SampleCheck
from benchmarks.types import Manifest, Question, Sample

MANIFEST, SAMPLES, QUESTIONS, README = (
    "pack.json",
    "samples.jsonl",
    "questions.jsonl",
    "README.md",
)
Model = TypeVar("Model", bound=BaseModel)
Report = Callable[[Fault], None]


@dataclass(slots=True)
class Checked:
    """What the passes learn from one another."""

    manifest: Manifest
    questions: dict[str, Question] = field(default_factory=dict)
    question_lines: dict[str, int] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    asks: set[str] = field(default_factory=set)
    samples: set[str] = field(default_factory=set)
    sample_total: int = 0
    adds: int = 0
    ask_total: int = 0
    question_total: int = 0


def strict_json(data: bytes) -> Any:
    """Parsed JSON; ``ValueError`` also for duplicate keys, NaN, bad UTF-8 and absurd nesting."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        double = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {double!r} is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def validate_files(*, container: Container, manifest: Manifest, limits: ReadLimits) -> list[Fault]:
    """Faults of everything but the manifest's own schema, in reading order."""
    faults: list[Fault] = []
    checked = Checked(manifest)
    _check_manifest(manifest, report=faults.append)
    _check_files(container, manifest=manifest, report=faults.append)
    _check_questions(container, checked=checked, limits=limits, report=faults.append)
    _check_samples(container, checked=checked, limits=limits, report=faults.append)
    _check_closure(checked, report=faults.append)
    return faults


def _check_manifest(manifest: Manifest, *, report: Report) -> None:
    for name, ids in (
        ("capabilities", [capability.id for capability in manifest.capabilities]),
        ("datasets", [dataset.id for dataset in manifest.datasets]),
    ):
        for double in (item for item, count in Counter(ids).items() if count > 1):
            report(Fault(MANIFEST, None, name, f"the id {double!r} is there twice"))
    for role, use in (("answer", manifest.answer), ("judge", manifest.judge)):
        if use.role != role:
            report(
                Fault(
                    MANIFEST,
                    None,
                    f"{role}.role",
                    f"expected {role!r}, found {use.role!r}",
                )
            )
        if use.prompt not in manifest.files:
            report(Fault(MANIFEST, None, f"{role}.prompt", f"{use.prompt} is not in 'files'"))


def _check_files(container: Container, *, manifest: Manifest, report: Report) -> None:
    present = set(container.names()) - {MANIFEST}
    for name in (SAMPLES, QUESTIONS, README):
        if name not in manifest.files:
            report(Fault(MANIFEST, None, "files", f"{name} is missing from the list"))
    for name in sorted(present - set(manifest.files)):
        report(Fault(name, None, "", "is not listed in the manifest's 'files'"))
    for name, expected in sorted(manifest.files.items()):
        if name not in present:
            report(Fault(name, None, "", "is listed in 'files' but not there"))
            continue
        try:
            found = file_sha256(container, name=name)
        except ContainerError as error:
            report(Fault(name, None, "", str(error)))
            continue
        if found != expected:
            report(Fault(name, None, "", f"SHA-256 is {found}, the manifest says {expected}"))


def file_sha256(container: Container, *, name: str) -> str:
    digest = hashlib.sha256()
    with reading(name), container.open(name) as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _records(
    container: Container,
    *,
    name: str,
    model: type[Model],
    limits: ReadLimits,
    report: Report,
) -> Iterator[tuple[int, Model | None]]:
    """Each line's number with its record, or None where the line is no such record (reported)."""
    try:
        for number, line in lines(container, name=name, limits=limits):
            yield (
                number,
                _record(line, number=number, name=name, model=model, report=report),
            )
    except KeyError:
        report(Fault(name, None, "", "is missing"))
    except ContainerError as error:
        report(Fault(name, None, "", str(error)))


def _record(line: bytes, *, number: int, name: str, model: type[Model], report: Report) -> Model | None:
    try:
        return model.model_validate(strict_json(line))
    except ValidationError as error:  # a ValueError too, so it comes first
        for fault in schema_faults(error, file=name, line=number):
            report(fault)
    except ValueError as error:
        report(Fault(name, number, "", f"not valid JSON: {error}"))
    return None


def _check_questions(container: Container, *, checked: Checked, limits: ReadLimits, report: Report) -> None:
    for number, question in _records(container, name=QUESTIONS, model=Question, limits=limits, report=report):
        checked.question_total += 1
        if question is None:
            continue
        if question.id in checked.questions:
            report(Fault(QUESTIONS, number, "id", f"the id {question.id!r} is there twice"))
            continue
        checked.questions[question.id] = question
        checked.question_lines[question.id] = number
        for where, message in question_problems(question, manifest=checked.manifest):
            report(Fault(QUESTIONS, number, where, message))


def question_problems(question: Question, *, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Field and sentence for each thing wrong with one question, its sample apart."""
    capabilities = {capability.id: capability for capability in manifest.capabilities}
    capability = capabilities.get(question.capability)
    if capability is None:
        yield "capability", f"the manifest has no capability {question.capability!r}"
    elif question.leaf is not None and question.leaf not in capability.leaves:
        yield "leaf", f"capability {capability.id} has no leaf {question.leaf!r}"
    if question.dataset not in {dataset.id for dataset in manifest.datasets}:
        yield "dataset", f"the manifest has no data set {question.dataset!r}"
    if isinstance(question.query, str) and not question.query.strip():
        yield "query", "is empty after trimming"
    if question.scorer not in GOLD_SHAPES:
        yield "scorer", f"there is no scorer {question.scorer!r}"
        return
    yield from _option_problems(question)
    problem = gold_problem(scorer=question.scorer, gold=question.gold, letters=option_letters(question))
    # A Streaming question may have a gold at each ask and none of its own.
    if problem and question.gold is not None:
        yield "gold", f"{question.scorer}: {problem}"


def option_letters(question: Question) -> frozenset[str]:
    return frozenset(option.letter for option in question.options or ())


def _option_problems(question: Question) -> Iterator[tuple[str, str]]:
    options = question.options or ()
    if question.scorer not in OPTION_SCORERS:
        if options:
            yield "options", f"{question.scorer} takes no options"
        return
    expected = [chr(ord("A") + index) for index in range(len(options))]
    if [option.letter for option in options] != expected:
        yield "options", "letters must run A, B, C, … without a gap"
    if len({option.text.strip() for option in options}) != len(options):
        yield "options", "two options have the same text"
    if len(options) < 2:
        yield "options", f"{question.scorer} needs at least two options"


def _check_samples(container: Container, *, checked: Checked, limits: ReadLimits, report: Report) -> None:
    files = frozenset(checked.manifest.files)
    for number, sample in _records(container, name=SAMPLES, model=Sample, limits=limits, report=report):
        checked.sample_total += 1
        if sample is None:
            continue
        if sample.id in checked.samples:
            report(Fault(SAMPLES, number, "id", f"the id {sample.id!r} is there twice"))
        checked.samples.add(sample.id)
        check = SampleCheck(
            sample=sample,
            manifest=checked.manifest,
            questions=checked.questions,
            files=files,
        )
        for where, message in check.problems():
            report(Fault(SAMPLES, number, where, message))
        _note_asks(check, number=number, checked=checked, report=report)


def _note_asks(check: SampleCheck, *, number: int, checked: Checked, report: Report) -> None:
    checked.adds += check.adds
    for ask in check.asks:
        checked.ask_total += 1
        checked.asked[ask.question] += 1
        if ask.id in checked.asks:
            report(Fault(SAMPLES, number, "events", f"the ask id {ask.id!r} is there twice"))
        checked.asks.add(ask.id)
    for question in check.own_questions():
        line = checked.question_lines[question.id]
        for where, message in check.evidence_problems(question):
            report(Fault(QUESTIONS, line, where, message))


def _check_closure(checked: Checked, *, report: Report) -> None:
    for name, question in checked.questions.items():
        line = checked.question_lines[name]
        if question.sample not in checked.samples:
            report(Fault(QUESTIONS, line, "sample", f"there is no sample {question.sample!r}"))
        if not checked.asked[name]:
            report(Fault(QUESTIONS, line, "id", f"the question {name!r} is never asked"))
    found: Mapping[str, int] = {
        "samples": checked.sample_total,
        "adds": checked.adds,
        "asks": checked.ask_total,
        "questions": checked.question_total,
    }
    for name, count in found.items():
        stated = getattr(checked.manifest.counts, name)
        if stated != count:
            report(Fault(MANIFEST, None, f"counts.{name}", f"says {stated}, found {count}"))
