"""``manage.py import_benchmark NAME PATH --licence-confirmed``: data in its source's form becomes a pack."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aml.web.errors import Refusal
from benchmarks.importers import IMPORTERS
from benchmarks.importers.base import ImportRefused, Report, importer
from benchmarks.services import import_pack


class Command(BaseCommand):
    help = "Read a benchmark in its source's form, make a pack of it, and import that."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=sorted(IMPORTERS))
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--licence-confirmed", action="store_true", help="you have read the licence and may use the data"
        )
        parser.add_argument("--out", type=Path, help="keep the pack in this folder too")

    def handle(self, *args: Any, **options: Any) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            target = options["out"] or Path(scratch) / "pack"
            try:
                report = importer(options["name"])(
                    options["path"], target, licence_confirmed=options["licence_confirmed"]
                )
                release = import_pack(target)
            except (ImportRefused, Refusal, OSError) as error:
                raise CommandError(str(error)) from error
        self.stdout.write(f"{release}: {release.hash}")
        for line in _lines(report):
            self.stdout.write(line)


def _lines(report: Report) -> list[str]:
    evidence = (
        f"evidence: {report.evidence_kept} kept, {report.evidence_repaired} repaired, "
        f"{report.evidence_dropped} dropped"
    )
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    categories = ", ".join(f"{name}: {count}" for name, count in report.categories.items())
    return [counts, f"questions by the source's category: {categories}", evidence, *report.notes]
