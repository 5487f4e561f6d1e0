"""The offline answerer and judge behind an OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import Any

import uvicorn
from django.core.management.base import BaseCommand, CommandParser

from evaluations.engine.offline.app import app


class Command(BaseCommand):
    help = "Serve the deterministic offline models at http://127.0.0.1:PORT/v1 (unofficial, for trying things out)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8200)

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"offline models on http://127.0.0.1:{options['port']}/v1 – Ctrl-C stops them")
        uvicorn.run(app, host="127.0.0.1", port=options["port"], log_level="warning", access_log=False)
