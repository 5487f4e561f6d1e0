"""A real Celery worker on PostgreSQL and Redis: killed, stopped, frozen, flushed, cut off."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from redis import Redis

from evaluations import states
from evaluations.models import Attempt, Run
from tests.celery.checks import assert_whole
from tests.celery.processes import (
    CHECKOUT,
    Process,
    beat,
    ending,
    environment,
    redis,
    url_of_test_database,
    wait_for,
    worker,
)
from tests.celery.stage import MANY, prepare, report
from tests.fakes.service import FakeService

pytestmark = [
    pytest.mark.celery,
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="needs DATABASE_URL of a PostgreSQL server"),
    pytest.mark.timeout(240),
]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[int]:
    server, port = redis(tmp_path)
    with ending(server):
        yield port


@pytest.fixture
def env(tmp_path: Path, broker: int, transactional_db: None) -> dict[str, str]:
    url = f"redis://127.0.0.1:{broker}/0"
    return environment(tmp_path / "var", DATABASE_URL=url_of_test_database(), REDIS_URL=url)


@pytest.fixture
def ticking(env: dict[str, str], tmp_path: Path) -> Iterator[None]:
    """Beat, which sends reconcile every second."""
    clock = beat(env, tmp_path)
    with ending(clock):
        yield


def until_final(run_id: int, log: Path, *, seconds: float = 90) -> dict[str, Any]:
    final = Run.objects.filter(pk=run_id, status__in=states.FINAL)
    wait_for(final.exists, seconds=seconds, tell=log)
    return report(run_id)


def hits(service: FakeService, number: int, log: Path, *, seconds: float = 60) -> None:
    """Wait for so many more calls."""
    aim = len(service.hits) + number
    wait_for(lambda: len(service.hits) >= aim, seconds=seconds, tell=log)


@pytest.mark.usefixtures("ticking")
def test_a_worker_killed_twice_in_mid_run_changes_no_score(
    env: dict[str, str], tmp_path: Path, service: FakeService, expected: dict[str, Any]
) -> None:
    run_id, log = prepare(service.port, shapes=MANY), tmp_path / "worker.log"
    for number in (10, 15):
        killed = worker(env, log)
        with ending(killed):
            hits(service, number, log)
    last = worker(env, log)
    with ending(last):
        found = until_final(run_id, log)
    assert_whole(found, service, figures=expected, kills=2)
    assert found["repeated_calls"] > 0


@pytest.mark.usefixtures("ticking")
def test_a_worker_told_to_end_lets_its_calls_end_and_loses_nothing(
    env: dict[str, str], tmp_path: Path, service: FakeService, expected: dict[str, Any]
) -> None:
    run_id, log = prepare(service.port, shapes=MANY), tmp_path / "worker.log"
    service.switch("ok", seconds=0.5)
    stopped = worker(env, log)
    with ending(stopped):
        hits(service, 12, log)
        assert stopped.terminate(seconds=40) < 30
    assert not Attempt.objects.filter(run=run_id, state__in=["intent", "unknown"]).exists()
    service.switch("ok", seconds=0.05)
    again = worker(env, log)
    with ending(again):
        found = until_final(run_id, log)
    assert_whole(found, service, figures=expected, kills=0)


@pytest.mark.usefixtures("ticking")
def test_a_flushed_broker_costs_no_call_and_little_time(
    env: dict[str, str], tmp_path: Path, broker: int, service: FakeService, expected: dict[str, Any]
) -> None:
    run_id, log = prepare(service.port, shapes=MANY), tmp_path / "worker.log"
    # Drives of a second, so that the messages of their successors are among what is lost.
    busy = worker({**env, "AML_DRIVE_SECONDS": "1"}, log)
    with ending(busy), Redis(port=broker) as client:
        for _ in range(4):
            hits(service, 8, log)
            client.flushall()
        found = until_final(run_id, log)
    assert_whole(found, service, figures=expected, kills=0)


@pytest.mark.usefixtures("ticking")
def test_a_worker_frozen_past_the_end_of_its_claims_changes_nothing(
    env: dict[str, str], tmp_path: Path, service: FakeService, expected: dict[str, Any]
) -> None:
    run_id, log = prepare(service.port, shapes=MANY), tmp_path / "worker.log"
    frozen = worker(env, log, name="frozen")
    with ending(frozen):
        hits(service, 15, log)
        frozen.signal_all(signal.SIGSTOP)
        other = worker(env, tmp_path / "other.log", name="other")
        with ending(other):
            hits(service, 15, tmp_path / "other.log")
            frozen.signal_all(signal.SIGCONT)
            found = until_final(run_id, log)
            time.sleep(1.0)
    assert_whole(found, service, figures=expected, kills=1)
    assert report(run_id)["figures"] == expected


@pytest.mark.usefixtures("ticking")
def test_a_process_frozen_inside_a_transaction_does_not_keep_a_run_for_ever(
    env: dict[str, str], tmp_path: Path, service: FakeService
) -> None:
    run_id, log = prepare(service.port, shapes=("+?",)), tmp_path / "worker.log"
    holding = "import django; django.setup()\nfrom django.db import transaction\nimport time\n" + (
        f"from evaluations.records.transitions import lock\nwith transaction.atomic():\n lock({run_id})\n"
        " print('held', flush=True)\n time.sleep(600)"
    )
    frozen = Process(sys.executable, "-c", holding, env=env, log=tmp_path / "frozen.log")
    with ending(frozen):
        wait_for(lambda: "held" in frozen.log.read_text(), seconds=30)
        frozen.signal_all(signal.SIGSTOP)
        with ending(worker(env, log)):
            assert until_final(run_id, log, seconds=50)["status"] == "succeeded"


@pytest.mark.usefixtures("ticking")
def test_dropped_database_connections_lose_nothing(
    env: dict[str, str], tmp_path: Path, service: FakeService, expected: dict[str, Any]
) -> None:
    run_id, log = prepare(service.port, shapes=MANY), tmp_path / "worker.log"
    busy = worker(env, log)
    with ending(busy):
        for _ in range(3):
            hits(service, 10, log)
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
        found = until_final(run_id, log)
    assert_whole(found, service, figures=expected, kills=3)


@pytest.mark.usefixtures("ticking")
@pytest.mark.skipif(not os.environ.get("AML_TEST_SERVICES"), reason="no server of ours to restart: make test")
def test_a_restarted_postgresql_loses_nothing(
    env: dict[str, str], tmp_path: Path, service: FakeService, expected: dict[str, Any]
) -> None:
    run_id, log = prepare(service.port, shapes=MANY), tmp_path / "worker.log"
    busy = worker(env, log)
    with ending(busy):
        hits(service, 12, log)
        connection.close()
        script = CHECKOUT / "scripts" / "test_services.py"
        subprocess.run([sys.executable, f"{script}", "restart", "postgres"], check=True, timeout=60)
        found = until_final(run_id, log)
    assert_whole(found, service, figures=expected, kills=1)


def test_a_start_by_message_needs_no_beat(env: dict[str, str], tmp_path: Path, service: FakeService) -> None:
    run_id, log = prepare(service.port, shapes=("+?",)), tmp_path / "worker.log"
    alone: Process = worker(env, log)
    with ending(alone):
        assert until_final(run_id, log)["status"] == "succeeded"
