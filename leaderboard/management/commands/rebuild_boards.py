"""``manage.py rebuild_boards [--dry-run]``: are the boards what the published runs give?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from leaderboard import services


class Command(BaseCommand):
    help = "Settle publications that got lost, and write a snapshot of each board that differs from its rows."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="show the differences, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"]:
            self._show()
            return
        settled = services.publish_pending()
        written = services.rebuild()
        self.stdout.write(f"{settled} runs settled, {len(written)} snapshots written")

    def _show(self) -> None:
        for run in services.unsettled():
            self.stdout.write(f"run {run.public_id}: publication {run.publication}, its row disagrees")
        stale = services.stale_boards()
        for change in stale:
            self.stdout.write("\n".join(_difference(change)))
        if not stale:
            self.stdout.write("Every board is what its rows give.")


def _difference(change: services.Change) -> Iterator[str]:
    name = f"{change.cycle.slug}/{change.track}/{change.division} under {change.contract}"
    before = change.snapshot.data if change.snapshot else {}
    yield from unified_diff(
        _text(before),
        _text(change.board.as_json()),
        f"{name}: newest snapshot",
        f"{name}: its rows",
        lineterm="",
    )


def _text(document: dict[str, Any]) -> list[str]:
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True).splitlines()
