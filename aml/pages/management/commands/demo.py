"""``make demo``: set up, walk the main job, and serve what came of it."""

from __future__ import annotations

import json
import secrets
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from aml.pages.demo import processes, seed
from aml.pages.demo.progress import Steps
from aml.pages.demo.walk import Walk
from aml.web.errors import Refusal
from evaluations.services.baselines import run_baselines

KEY_VARIABLE = "AML_REFERENCE_KEY"


class Command(BaseCommand):
    help = "Show the whole way to a board row on this machine; --once exits after the row."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--once", action="store_true", help="exit 0 after printing the row as JSON")
        parser.add_argument(
            "--keep", action="store_true", help="serve what an earlier demo left; walk nothing"
        )
        parser.add_argument("--pack", default=seed.FULL_PACK, help="the Full's pack")

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.vendor != "sqlite" or settings.PRODUCTION:
            raise CommandError(
                "the demo runs embedded, on SQLite: unset DATABASE_URL, REDIS_URL and AML_MODE"
            )
        signal.signal(signal.SIGTERM, _interrupt)
        steps = Steps(sys.stderr if options["once"] else sys.stdout)
        try:
            self._demo(steps, options)
        except (processes.DemoFailed, Refusal) as error:
            steps.end()
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            steps.end()
            self.stderr.write("stopped")

    def _demo(self, steps: Steps, options: dict[str, Any]) -> None:
        site = f"http://127.0.0.1:{options['port']}"
        processes.refuse_taken_port(options["port"])
        if not options["keep"]:
            _start_afresh()
        call_command("migrate", verbosity=0)
        steps.report("Database ready", 1, 1)
        ground = seed.seed(full_pack=options["pack"])
        steps.report("Packs imported, cycle open", 1, 1)
        with processes.processes() as children:
            memory, key = _start(children, port=options["port"], site=site)
            if options["keep"]:
                self._serve(steps, site, children)
            run_baselines(contract=ground.contract, report=steps.report)
            row = Walk(ground, site, memory, key, children, steps.report).go()
            steps.end()
            if options["once"]:
                self.stdout.write(json.dumps(row, ensure_ascii=False))
                return
            self.stdout.write(f"\nThe published row:\n{json.dumps(row, ensure_ascii=False, indent=2)}")
            self._serve(steps, site, children)

    def _serve(self, steps: Steps, site: str, children: processes.Processes) -> NoReturn:
        steps.end()
        self.stdout.write(_guide(site))
        while True:
            children.check()
            signal.sigtimedwait([], 1.0)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _start_afresh() -> None:
    """An earlier demo's data go: its participant would be in cooldown. Secrets and logs stay."""
    connection.close()
    name = Path(str(settings.DATABASES["default"]["NAME"]))
    for path in (name, name.with_name(name.name + "-wal"), name.with_name(name.name + "-shm")):
        path.unlink(missing_ok=True)
    for folder in ("bodies", "files", "mail"):
        shutil.rmtree(settings.VAR_DIR / folder, ignore_errors=True)
    for path in settings.VAR_DIR.glob("reference.sqlite3*"):
        path.unlink()


def _start(children: processes.Processes, *, port: int, site: str) -> tuple[str, str]:
    """Start the site, the driver and the reference service; returns the service's address and key."""
    memory_port, key = processes.free_port(), secrets.token_urlsafe(24)
    children.start(
        "site", "-m", "gunicorn", "aml.wsgi:application", "--bind", f"127.0.0.1:{port}", "--worker-class",
        "gthread", "--workers", "1", "--threads", "8", "--no-control-socket", AML_SITE_URL=site,
    )  # fmt: skip
    children.start("driver", "manage.py", "drive", AML_SITE_URL=site)
    children.start(
        "reference-memory", "manage.py", "reference_memory", "--port", str(memory_port), **{KEY_VARIABLE: key}
    )
    memory = f"http://127.0.0.1:{memory_port}"
    processes.wait_for(f"{site}/readyz", children)
    processes.wait_for(f"{memory}/health", children)
    return memory, key


def _guide(site: str) -> str:
    people = "\n".join(
        f"  {email:28} {role}"
        for email, role in (
            (seed.PARTICIPANT, "participant"),
            (seed.REVIEWERS[0], "reviewer"),
            (seed.REVIEWERS[1], "reviewer"),
            (seed.ORGANISER, "organiser (admin)"),
        )
    )
    return (
        f"\nOpen these pages:\n  {site}/leaderboard/textual/open-source/\n  {site}/evaluation/\n  {site}/review/\n"
        f"  {site}/admin/\n\nLog in as (password {seed.PASSWORD}):\n{people}\n\nCtrl-C stops everything."
    )
