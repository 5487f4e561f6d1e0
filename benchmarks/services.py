"""Importing a pack release into the database: whole or not at all, and frozen from then on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from django.db import transaction
from django.utils.translation import gettext as _

from aml.lib.canonical import canonical_json
from aml.web import audit
from aml.web.errors import Refusal
from aml.web.models import User
from benchmarks.models import PackEvent, PackQuestion, PackRelease, PackSample, pack_json
from benchmarks.packs.files import Case, Pack, PackError, open_pack, write_pack
from benchmarks.packs.validation import QUESTIONS, README, SAMPLES
from benchmarks.types import Event, Sample

ROWS_AT_ONCE = 500

Row = TypeVar("Row")


class PackRefused(Refusal):
    """A pack with faults; ``faults`` lists each with file, line and field."""

    def __init__(self, faults: Iterable[object]) -> None:
        self.faults = [str(fault) for fault in faults]
        super().__init__(
            "pack_invalid",
            _("The pack has %(count)d faults. First: %(first)s")
            % {"count": len(self.faults), "first": self.faults[0]},
            hint=_("Correct them and import the pack again; nothing was kept."),
            status=400,
            faults=self.faults,
        )


def import_pack(source: str | Path, *, actor: User | None = None, validate: bool = True) -> PackRelease:
    """Import a folder, zip or shipped pack; the same content again returns the release that is there."""
    pack = _open(source)
    known = PackRelease.objects.filter(hash=pack.hash).first()
    if known is not None:
        return known
    if validate and (faults := pack.validate()):
        raise PackRefused(faults)
    _refuse_other_content(pack)
    with transaction.atomic():
        release = _create_release(pack)
        _write_questions(pack, release)
        _write_samples(pack, release)
        PackRelease.objects.filter(pk=release.pk).update(complete=True)
        audit.record(
            "pack.imported", subject=f"pack:{release.pack}", actor=actor,
            actor_label="organiser" if actor else "platform", version=release.version, hash=release.hash,
        )  # fmt: skip
    release.complete = True
    return release


def _open(source: str | Path) -> Pack:
    try:
        return open_pack(source)
    except PackError as error:
        raise PackRefused(error.faults) from error


def _refuse_other_content(pack: Pack) -> None:
    manifest = pack.manifest
    if PackRelease.objects.filter(pack=manifest.id, version=manifest.version).exists():
        raise Refusal(
            "pack_version_taken",
            _("%(pack)s %(version)s was imported with other content.")
            % {"pack": manifest.id, "version": manifest.version},
            hint=_("A release never changes: give the new content a new version."),
        )


def _create_release(pack: Pack) -> PackRelease:
    manifest = pack.manifest
    return PackRelease.objects.create(
        pack=manifest.id,
        version=manifest.version,
        hash=pack.hash,
        title=manifest.title,
        track=manifest.track,
        visibility=manifest.visibility,
        licence=manifest.licence,
        attribution=manifest.attribution,
        manifest=manifest.model_dump(mode="json"),
        answer_prompt=pack.answer_template,
        judge_prompt=pack.judge_template,
        readme=pack.read(README).decode() if README in manifest.files else "",
    )


def _write_questions(pack: Pack, release: PackRelease) -> None:
    rows = (
        PackQuestion(
            release=release,
            key=question.id,
            sample=question.sample,
            dataset=question.dataset,
            capability=question.capability,
            scorer=question.scorer,
            body=pack_json(question.model_dump_json(exclude_none=True).encode()),
        )
        for question in pack.questions().values()
    )
    for batch in _batches(rows):
        PackQuestion.objects.bulk_create(batch)


def _write_samples(pack: Pack, release: PackRelease) -> None:
    for position, sample in enumerate(pack.samples()):
        row = PackSample.objects.create(
            release=release,
            key=sample.id,
            dataset=sample.dataset,
            position=position,
            adds=sum(event.add is not None for event in sample.events),
            asks=sum(event.ask is not None for event in sample.events),
            content_hash=content_hash(sample),
        )
        for batch in _batches(_event_row(row, index, event) for index, event in enumerate(sample.events)):
            PackEvent.objects.bulk_create(batch)


def _event_row(sample: PackSample, index: int, event: Event) -> PackEvent:
    data = event.model_dump_json(exclude_none=True).encode()
    ask = event.ask
    return PackEvent(
        sample=sample,
        position=index,
        kind=PackEvent.Kind.ASK if ask else PackEvent.Kind.ADD,
        ask=ask.id if ask else "",
        question=ask.question if ask else "",
        body=pack_json(data),
        size=len(data),
    )


def export_pack(release: PackRelease, directory: Path) -> Pack:
    """Write an imported release as a folder that ``open_pack`` opens; ``directory`` must be empty or not there.

    Raises Refusal for a release with files that the database doesn't keep, such as media.
    """
    manifest = release.read_manifest()
    prompts = {manifest.answer.prompt: release.answer_prompt, manifest.judge.prompt: release.judge_prompt}
    unknown = sorted(manifest.files.keys() - prompts.keys() - {SAMPLES, QUESTIONS, README})
    if unknown or not release.complete:
        raise Refusal(
            "pack_not_exportable",
            _("%(pack)s can't be written from the database.") % {"pack": release},
            hint=_("It has files that are not kept there: %(files)s.") % {"files": ", ".join(unknown[:3])}
            if unknown
            else _("It was not imported whole."),
        )
    write_pack(directory, manifest=manifest, cases=_cases(release), prompts=prompts, readme=release.readme)
    return open_pack(directory)


def _cases(release: PackRelease) -> Iterator[Case]:
    for sample in release.samples.order_by("position"):
        events = tuple(event.read() for event in sample.events.order_by("position").iterator())
        questions = release.questions.filter(sample=sample.key).order_by("pk")
        yield Case(
            sample=Sample(id=sample.key, dataset=sample.dataset, events=events),
            questions=[question.read() for question in questions],
        )


def content_hash(sample: Sample) -> str:
    """SHA-256 of what the sample's Adds say, whatever the sample and its sessions are called."""
    digest = hashlib.sha256()
    for event in sample.events:
        if event.add is not None:
            digest.update(canonical_json([message.model_dump(mode="json") for message in event.add.messages]))
    return digest.hexdigest()


def shared_conversations(first: PackRelease, second: PackRelease) -> int:
    """How many samples of ``first`` hold the same conversation as one of ``second``."""
    hashes = PackSample.objects.filter(release=second).values("content_hash")
    return PackSample.objects.filter(release=first, content_hash__in=hashes).count()


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, ROWS_AT_ONCE)):
        yield batch
