"""The reference memory service: conformant, durable, and on request faulty in ways one can name."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluations.reference.app import serve
from evaluations.reference.faults import build, describe

KEY_VARIABLE = "AML_REFERENCE_KEY"


class Command(BaseCommand):
    help = "Serve the reference memory (full-text search). Faults: " + "; ".join(
        f"{name}: {text}" for name, text in describe().items()
    ).replace("%", "%%")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8100)
        parser.add_argument(
            "--fault", action="append", default=[], metavar="NAME", help="may be given several times"
        )
        parser.add_argument(
            "--path", help="the SQLite file; by default reference.sqlite3 in the data directory"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Asks for the key in AML_REFERENCE_KEY where that is set."""
        try:
            build(options["fault"])
        except (KeyError, ValueError) as error:
            raise CommandError(f"--fault: {error}; expected one of {', '.join(describe())}") from error
        path = options["path"] or str(settings.VAR_DIR / "reference.sqlite3")
        key = os.environ.get(KEY_VARIABLE) or None
        serve(options["port"], path=path, host="127.0.0.1", key=key, faults=options["fault"])
