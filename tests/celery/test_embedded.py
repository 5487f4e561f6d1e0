"""The embedded driver on SQLite: the same engine beside the site, killed and stopped the same way."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.celery.checks import assert_whole
from tests.celery.processes import CHECKOUT, embedded_driver, ending, environment, wait_for
from tests.fakes.service import FakeService

pytestmark = pytest.mark.timeout(180)


class Installation:
    """A data directory with one planned run."""

    def __init__(self, folder: Path, service: FakeService, *, migrated: Path) -> None:
        self.env, self.log = environment(folder / "var"), folder / "drive.log"
        self._database = folder / "var" / "aml.sqlite3"
        shutil.copytree(migrated, folder / "var")
        self.run_id = int(self._stage("prepare", f"{service.port}"))

    def _stage(self, action: str, argument: str) -> str:
        command = [sys.executable, "-m", "tests.celery.stage", action, argument]
        done = subprocess.run(
            command, env=self.env, cwd=CHECKOUT, check=True, capture_output=True, text=True, timeout=120
        )
        return done.stdout.splitlines()[-1]

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._stage("report", f"{self.run_id}"))
        return found

    def until_final(self) -> dict[str, Any]:
        wait_for(self._is_final, seconds=90, tell=self.log)
        return self.report()

    def _is_final(self) -> bool:
        with closing(sqlite3.connect(self._database, timeout=20)) as reading:
            (status,) = reading.execute("SELECT status FROM evaluations_run").fetchone()
        return status in ("succeeded", "partial", "failed")


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory whose database has its tables and nothing else."""
    var = tmp_path_factory.mktemp("migrated") / "var"
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, env=environment(var), cwd=CHECKOUT, check=True, timeout=120)
    return var


@pytest.fixture
def installation(tmp_path: Path, service: FakeService, migrated: Path) -> Installation:
    return Installation(tmp_path, service, migrated=migrated)


def hits(service: FakeService, number: int, log: Path) -> None:
    aim = len(service.hits) + number
    wait_for(lambda: len(service.hits) >= aim, seconds=60, tell=log)


def test_a_run_on_sqlite_ends_in_the_figures_of_the_command_line(
    installation: Installation, service: FakeService, expected: dict[str, Any]
) -> None:
    with ending(embedded_driver(installation.env, installation.log)):
        found = installation.until_final()
    assert_whole(found, service, figures=expected, kills=0)


def test_an_embedded_driver_killed_twice_changes_no_score(
    installation: Installation, service: FakeService, expected: dict[str, Any]
) -> None:
    for number in (10, 15):
        with ending(embedded_driver(installation.env, installation.log)):
            hits(service, number, installation.log)
    with ending(embedded_driver(installation.env, installation.log)):
        found = installation.until_final()
    assert_whole(found, service, figures=expected, kills=2)


def test_an_embedded_driver_told_to_end_loses_nothing(
    installation: Installation, service: FakeService, expected: dict[str, Any]
) -> None:
    service.switch("ok", seconds=0.5)
    stopped = embedded_driver(installation.env, installation.log)
    with ending(stopped):
        hits(service, 12, installation.log)
        assert stopped.terminate(seconds=40) < 30
    assert set(installation.report()["attempts"]) == {"done"}
    service.switch("ok", seconds=0.05)
    with ending(embedded_driver(installation.env, installation.log)):
        found = installation.until_final()
    assert_whole(found, service, figures=expected, kills=0)
