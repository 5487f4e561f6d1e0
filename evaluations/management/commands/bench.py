"""Measurements: each on a database of its own, printing ratios within one run."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from bench.database import run_child

NAMES = ("engine",)


class Command(BaseCommand):
    help = "Measure: bench engine [--adds N --asks N --lanes N --body BYTES --delays MS…]."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=NAMES)

    def run_from_argv(self, argv: list[str]) -> None:
        """Everything after the name is the measurement's own."""
        if len(argv) > 2 and argv[2] in NAMES:
            sys.exit(run_child(f"bench.{argv[2]}", *argv[3:]))
        super().run_from_argv(argv)

    def handle(self, *args: Any, **options: Any) -> None:
        sys.exit(run_child(f"bench.{options['name']}"))
