"""Opening, checking and writing packs: a folder, or a zip of it (``packs.md``).

pack = open_pack("tiny")            # a shipped name, a folder, or a zip
faults = pack.validate()            # every fault, [] if there is none
for sample in pack.samples(): ...   # streams; a Full fits in flat memory
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from aml.lib.canonical import canonical_hash
from benchmarks.packs.chunking import chunk_messages, split_long_message, word_count
from benchmarks.packs.container import (
    Container,
    ContainerError,
    ReadLimits,
    lines,
    open_container,
    read_file,
)
from benchmarks.packs.faults import Fault, PackError, schema_faults
from benchmarks.packs.validation import (
    MANIFEST,
    QUESTIONS,
    README,
    SAMPLES,
    strict_json,
    validate_files,
)
from benchmarks.types import Counts, Manifest, Message, Question, Sample

__all__ = [
    "Case",
    "Fault",
    "Pack",
    "PackError",
    "chunk_messages",
    "evidence_messages",
    "open_pack",
    "schemas",
    "split_long_message",
    "validate_pack",
    "word_count",
    "write_pack",
]


Record = TypeVar("Record", bound=BaseModel)


class Case(NamedTuple):
    """One sample with the questions that belong to it."""

    sample: Sample
    questions: Sequence[Question]


class Pack:
    """One frozen release. ``hash`` is SHA-256 over the canonical JSON of ``pack.json`` as parsed."""

    def __init__(self, *, container: Container, limits: ReadLimits) -> None:
        self._container = container
        self._limits = limits
        raw = _read_manifest(container)
        self.manifest = _parse_manifest(raw)
        self.hash = canonical_hash(raw)

    @property
    def answer_template(self) -> str:
        return self._text(self.manifest.answer.prompt)

    @property
    def judge_template(self) -> str:
        return self._text(self.manifest.judge.prompt)

    def samples(self) -> Iterator[Sample]:
        """Samples in file order, one in memory at a time; ``PackError`` at a line that is none."""
        return self._read(SAMPLES, Sample)

    def questions(self) -> dict[str, Question]:
        return {question.id: question for question in self._read(QUESTIONS, Question)}

    def read(self, name: str) -> bytes:
        """One file's bytes, 16 MiB at most; ``PackError`` where it is missing or larger."""
        try:
            return read_file(self._container, name=name)
        except KeyError as error:
            raise PackError([Fault(name, None, "", "is missing")]) from error
        except ContainerError as error:
            raise PackError([Fault(name, None, "", str(error))]) from error

    def validate(self) -> list[Fault]:
        """Every fault of the pack; an empty list means that it can be run."""
        try:
            return validate_files(container=self._container, manifest=self.manifest, limits=self._limits)
        except ContainerError as error:
            return [Fault("", None, "", str(error))]

    def _text(self, name: str) -> str:
        try:
            return self.read(name).decode()
        except UnicodeDecodeError as error:
            raise PackError([Fault(name, None, "", "is not UTF-8")]) from error

    def _read(self, name: str, model: type[Record]) -> Iterator[Record]:
        try:
            for number, line in lines(self._container, name=name, limits=self._limits):
                yield _parse_line(line, number=number, name=name, model=model)
        except KeyError as error:
            raise PackError([Fault(name, None, "", "is missing")]) from error
        except ContainerError as error:
            raise PackError([Fault(name, None, "", str(error))]) from error


def _parse_line(line: bytes, *, number: int, name: str, model: type[Record]) -> Record:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise PackError(schema_faults(error, file=name, line=number)) from error


def _read_manifest(container: Container) -> Any:
    try:
        return strict_json(read_file(container, name=MANIFEST))
    except KeyError as error:
        raise PackError([Fault(MANIFEST, None, "", "is missing: this is no pack")]) from error
    except ValueError as error:
        raise PackError([Fault(MANIFEST, None, "", f"not valid JSON: {error}")]) from error


def _parse_manifest(raw: Any) -> Manifest:
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        raise PackError(schema_faults(error, file=MANIFEST)) from error


def open_pack(source: str | Path, *, limits: ReadLimits | None = None) -> Pack:
    """A folder, a zip, or the name of a shipped pack, which is generated on first use.

    An existing path wins over a shipped name. Raises ``PackError`` when there is no such pack,
    the container isn't safe, or the manifest can't be read.
    """
    path = Path(source)
    if not path.exists():
        path = _shipped(str(source))
    bounds = limits or ReadLimits()
    try:
        return Pack(container=open_container(path, limits=bounds), limits=bounds)
    except ContainerError as error:
        raise PackError([Fault(path.name, None, "", str(error))]) from error


def _shipped(name: str) -> Path:
    # Imported here: the generators write their packs with this module.
    from benchmarks.packs.shipped import SHIPPED, cached

    if name not in SHIPPED:
        known = ", ".join(sorted(SHIPPED))
        raise PackError([Fault(name, None, "", f"no such file, and no shipped pack ({known})")])
    return cached(name)


def validate_pack(source: str | Path) -> list[Fault]:
    """Every fault of a pack, a broken container or manifest among them."""
    try:
        return open_pack(source).validate()
    except PackError as error:
        return error.faults


class _Lines:
    """A JSONL file being written, with its SHA-256 and line count."""

    def __init__(self, path: Path) -> None:
        self._stream: IO[bytes] = path.open("wb")
        self._digest = hashlib.sha256()
        self.count = 0

    def write(self, record: BaseModel) -> None:
        line = orjson.dumps(record.model_dump(mode="json", exclude_none=True)) + b"\n"
        self._stream.write(line)
        self._digest.update(line)
        self.count += 1

    def sha256(self) -> str:
        return self._digest.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stream.close()


def write_pack(
    directory: Path,
    *,
    manifest: Manifest,
    cases: Iterable[Case],
    prompts: Mapping[str, str],
    readme: str,
    files: Mapping[str, bytes] | None = None,
) -> Manifest:
    """Write a pack to ``directory``, which must not exist or be empty, and return its manifest.

    ``cases`` is streamed. ``prompts`` holds texts by file name (``"prompts/answer.txt"``),
    ``files`` anything else by name (media, repositories). The manifest's ``counts`` and ``files``
    are replaced by what was written. The folder appears whole or not at all.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    extras = {name: text.encode() for name, text in prompts.items()} | {README: readme.encode()}
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".pack-") as scratch:
        staged = Path(scratch) / "pack"
        staged.mkdir()
        written = _write_into(staged, manifest=manifest, cases=cases, extras=extras | dict(files or {}))
        if directory.exists():
            directory.rmdir()  # fails, as it should, on a folder that holds something
        shutil.move(staged, directory)
    return written


def _write_into(
    folder: Path,
    *,
    manifest: Manifest,
    cases: Iterable[Case],
    extras: Mapping[str, bytes],
) -> Manifest:
    adds = asks = 0
    with _Lines(folder / SAMPLES) as samples, _Lines(folder / QUESTIONS) as questions:
        for case in cases:
            samples.write(case.sample)
            for question in case.questions:
                questions.write(question)
            adds += sum(1 for event in case.sample.events if event.add)
            asks += sum(1 for event in case.sample.events if event.ask)
    hashes = {SAMPLES: samples.sha256(), QUESTIONS: questions.sha256()}
    for name, data in extras.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        hashes[name] = hashlib.sha256(data).hexdigest()
    counts = Counts(samples=samples.count, adds=adds, asks=asks, questions=questions.count)
    written = manifest.model_copy(update={"counts": counts, "files": dict(sorted(hashes.items()))})
    (folder / MANIFEST).write_bytes(
        orjson.dumps(written.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n"
    )
    return written


def schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema by the name of the file whose content (or whose line) it describes."""
    models: Mapping[str, type[BaseModel]] = {
        MANIFEST: Manifest,
        SAMPLES: Sample,
        QUESTIONS: Question,
    }
    return {name: model.model_json_schema() for name, model in models.items()}


def evidence_messages(sample: Sample, question: Question, *, before: str | None = None) -> list[Message]:
    """The messages that ``question.evidence`` names, in the order of the evidence.

    ``before`` is the id of an ask: only what was added before it is given, because in Streaming
    a question's evidence grows from one ask to the next.

    A reference is ``session:n``: the n-th message, from 1, of that session of the sample,
    counted over all its Adds. References to nothing are left out: ``validate`` reports them.
    """
    sessions: dict[str, list[Message]] = {}
    for event in sample.events:
        if event.ask and event.ask.id == before:
            break
        if event.add:
            sessions.setdefault(event.add.session, []).extend(event.add.messages)
    found = []
    for reference in question.evidence or ():
        session, _, position = reference.rpartition(":")
        messages = sessions.get(session, [])
        if position.isdecimal() and 1 <= int(position) <= len(messages):
            found.append(messages[int(position) - 1])
    return found
