"""A whole platform of real processes: site, worker, beat and a memory service, on a database of their own.

The tests talk to it as people and scripts do, over HTTP. What they must know of its database they ask in SQL
or through ``tests.e2e.ground``: this process is connected to another one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg2

from aml.pages.demo.processes import Processes, free_port, wait_for

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "aml_e2e"
REDIS_NUMBER = "9"  # other tests use 0
MEMORY_KEY = "memory-key-of-the-stage-5d1e"
PASSWORD = "memory-demo-2026"  # of the demo's people


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """``site`` and ``memory`` are addresses; ``helper`` is the ground's program."""

    site: str
    memory: str
    folder: Path
    environment: Mapping[str, str]
    processes: Processes
    helper: subprocess.Popen[str]

    def sql(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with contextlib.closing(psycopg2.connect(self.environment["DATABASE_URL"])) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(query, values)
                return list(cursor.fetchall()) if cursor.description else []

    def count(self, table: str) -> int:
        return int(self.sql(f"SELECT count(*) FROM {table}")[0][0])  # noqa: S608 - a name of ours

    def ground(self, act: str, *arguments: str) -> Any:
        """What ``tests.e2e.ground`` answers."""
        asked, answers = self.helper.stdin, self.helper.stdout
        assert asked is not None
        assert answers is not None
        asked.write(json.dumps([act, *arguments]) + "\n")
        asked.flush()
        reply = json.loads(answers.readline())
        assert "error" not in reply, reply["error"]
        return reply["answer"]

    def logs(self) -> dict[str, str]:
        """What each process has printed."""
        paths = self.processes.logs.glob("*.log")
        return {path.stem: path.read_text(errors="replace") for path in paths}

    def mails(self) -> str:
        """Every mail that was sent, as it was written to files."""
        paths = sorted((self.folder / "mail").glob("*.log"), key=lambda path: path.stat().st_mtime)
        return "\n".join(path.read_text(errors="replace") for path in paths)

    def api(self, key: str = "") -> httpx2.Client:
        """A script; with an Evaluation Key, a participant's."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx2.Client(base_url=f"{self.site}/api/v1/", headers=headers, timeout=30, trust_env=False)


@contextlib.contextmanager
def running(folder: Path, *, database_url: str, redis_url: str) -> Iterator[Stage]:
    """The stage with an open cycle and its people; all of its processes have ended afterwards."""
    site, memory = (f"http://127.0.0.1:{free_port()}" for _number in range(2))
    environment = {
        "DATABASE_URL": _fresh_database(database_url),
        "REDIS_URL": f"{redis_url.rpartition('/')[0]}/{REDIS_NUMBER}",
        "AML_VAR_DIR": str(folder),
        "AML_SITE_URL": site,
        "AML_RECONCILE_SECONDS": "1",
        "AML_REFERENCE_KEY": MEMORY_KEY,
        "OPENAI_API_KEY": "",
        "OPENAI_BASE_URL": "",
        "PYTHONUNBUFFERED": "1",
    }
    processes = Processes(logs=folder / "logs")
    with _helper(environment, folder / "ground.log") as helper:
        stage = Stage(
            site=site,
            memory=memory,
            folder=folder,
            environment=environment,
            processes=processes,
            helper=helper,
        )
        try:
            stage.ground("migrate")
            _start(stage)
            stage.ground("seed")
            _wait(stage)
            yield stage
        finally:
            processes.stop()


@contextlib.contextmanager
def _helper(environment: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.e2e.ground"]
    with log.open("ab") as errors, subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "DJANGO_SETTINGS_MODULE": "aml.settings", **environment},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
    ) as helper:  # fmt: skip
        yield helper


def _start(stage: Stage) -> None:
    """By the commands of docker-compose.yml, except that one worker serves both queues."""
    start, environment = stage.processes.start, stage.environment
    schedule = str(stage.folder / "beat")
    start("site", "-m", "gunicorn", "aml.wsgi:application", "--bind", urlsplit(stage.site).netloc,
          "--worker-class", "gthread", "--workers", "1", "--threads", "8", "--access-logfile", "-",
          "--no-control-socket", **environment)  # fmt: skip
    start("worker", "-m", "celery", "-A", "aml", "worker", "--queues", "aml,smoke", "--concurrency", "3",
          "--loglevel", "INFO", **environment)  # fmt: skip
    start("beat", "-m", "celery", "-A", "aml", "beat", "--schedule", schedule, "--pidfile", f"{schedule}.pid",
          "--loglevel", "INFO", **environment)  # fmt: skip
    port = str(urlsplit(stage.memory).port)
    start("memory", "manage.py", "reference_memory", "--port", port, **environment)


def _wait(stage: Stage) -> None:
    wait_for(f"{stage.site}/readyz", stage.processes)
    wait_for(f"{stage.memory}/health", stage.processes)


def _fresh_database(url: str) -> str:
    """An empty database on the server of ``url``."""
    with contextlib.closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            cursor.execute(f"CREATE DATABASE {DATABASE}")
    return f"{url.rpartition('/')[0]}/{DATABASE}"
