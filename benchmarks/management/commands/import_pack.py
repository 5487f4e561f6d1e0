"""``manage.py import_pack PATH``: a folder, a zip, or the name of a shipped pack."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aml.web.errors import Refusal
from benchmarks.services import PackRefused, import_pack


class Command(BaseCommand):
    help = "Import a pack release: whole or not at all. The same content again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", metavar="PATH|NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            release = import_pack(options["source"])
        except PackRefused as refusal:
            raise CommandError("\n".join([refusal.reason, *refusal.faults[:50], refusal.hint])) from refusal
        except Refusal as refusal:
            raise CommandError(f"{refusal.reason} {refusal.hint}") from refusal
        counts = release.read_manifest().counts
        self.stdout.write(
            f"{release}: {counts.samples} samples, {counts.adds} Adds, {counts.questions} questions, "
            f"{counts.asks} asks; {release.visibility}; {release.hash}"
        )
