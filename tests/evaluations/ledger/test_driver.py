"""The driver over real HTTP: whatever the service does, the ledger ends right."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from aml.web import bodies
from evaluations.engine.steps import UnitExecutor
from evaluations.models import Attempt, Result, Run, Unit
from evaluations.records.transitions import PARTICIPANT, Why, transition
from evaluations.runner import recording
from evaluations.runner.driver import Driver
from registration.crypto import encrypt_memory_key
from tests.celery.stage import BRISK, command_line_figures, prepare, report
from tests.evaluations.ledger.driving import drive, final, first
from tests.fakes.service import FakeService, threaded

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    # A test database of SQLite lies in memory and has one thread; tests/celery/test_embedded.py is for it.
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the driver's threads need a server"),
]


@pytest.fixture(autouse=True)
def _brisk(settings: Settings) -> None:
    settings.RECONCILE_SECONDS = 1


@pytest.fixture
def service() -> Iterator[FakeService]:
    with threaded() as running:
        yield running


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """What an undisturbed run of the command line gives."""
    with threaded() as service:
        return command_line_figures(service)


def now_of(run_id: int) -> Run:
    return Run.objects.get(pk=run_id)


def moves(run_id: int) -> list[str]:
    events = now_of(run_id).events.filter(kind="status").order_by("number")
    return list(events.values_list("status_to", flat=True))


def test_a_run_ends_in_the_figures_of_the_command_line(
    service: FakeService, expected: dict[str, Any]
) -> None:
    run_id = prepare(service.port)
    drive(final(run_id))
    found = report(run_id)
    assert (found["status"], found["figures"]) == ("succeeded", expected)
    assert found["ok_attempts"] == found["done"]
    assert found["results"] == found["results_due"]
    assert moves(run_id) == ["running", "succeeded"]


def test_a_lane_of_its_own_is_not_slowed_down_by_looking_for_work(service: FakeService) -> None:
    run_id = prepare(service.port, shapes=("+" * 40 + "?",))
    begun = time.monotonic()
    drive(final(run_id))
    assert time.monotonic() - begun < 40 * 0.25


@pytest.mark.parametrize("behaviour", ["down", "reset"])
def test_a_service_away_for_a_while_pauses_the_run_and_costs_nothing(
    service: FakeService, expected: dict[str, Any], behaviour: str
) -> None:
    run_id = prepare(service.port)
    service.switch("ok", seconds=0.05)

    def fail() -> bool:
        if len(service.hits) < 10:
            return False
        service.switch(behaviour)
        return True

    def mend() -> bool:
        if now_of(run_id).pause_reason != "endpoint":
            return False
        service.switch("ok")
        return True

    drive(first(fail, mend, then=final(run_id)))
    assert moves(run_id) == ["running", "paused", "running", "succeeded"]
    assert report(run_id)["figures"] == expected


def test_a_closed_listener_ends_in_the_same_figures(service: FakeService, expected: dict[str, Any]) -> None:
    run_id = prepare(service.port)
    service.switch("ok", seconds=0.05)

    def close() -> bool:
        if len(service.hits) < 10:
            return False
        service.go_away(2.0)
        return True

    drive(first(close, then=final(run_id)))
    found = report(run_id)
    assert found["figures"] == expected
    assert found["codes"]


def test_a_storm_of_429_is_waited_out(service: FakeService, expected: dict[str, Any]) -> None:
    service.switch("overload", most=1, retry_after=1, seconds=0.01)
    run_id = prepare(service.port)
    drive(final(run_id), seconds=90)
    found = report(run_id)
    assert found["figures"] == expected
    assert found["codes"] == ["RATE_LIMITED"]


def test_an_add_too_large_closes_its_lane_and_the_run_is_partial(service: FakeService) -> None:
    service.switch("status", operation="add", status=413, times=1)
    run_id = prepare(service.port, shapes=("+?",) * 6, add=1)
    drive(final(run_id))
    run = now_of(run_id)
    assert (run.status, run.code, run.fault) == ("partial", "PAYLOAD_TOO_LARGE", "participant")
    assert run.score.zero_by_failure == 1
    assert run.lanes.exclude(closed_code="").count() == 1


def test_a_key_refused_everywhere_fails_the_run_by_the_participant(service: FakeService) -> None:
    service.key = "another"
    run_id = prepare(service.port)
    drive(final(run_id))
    run = now_of(run_id)
    assert (run.status, run.code, run.fault) == ("failed", "UNAUTHORIZED", "participant")
    assert report(run_id)["quota"] == ["reserve", "consume"]


def test_a_run_cancelled_under_way_makes_no_further_calls(service: FakeService) -> None:
    service.switch("ok", seconds=0.1)
    run_id = prepare(service.port)
    counted: list[int] = []

    def cancel() -> bool:
        if len(service.hits) < 8:
            return False
        return transition(run_id, "cancelled", why=Why(actor=PARTICIPANT, sentence="Enough."))

    def settle() -> bool:
        if Unit.objects.filter(run=run_id, status="claimed").exists():
            return False
        counted.append(len(service.hits))
        return len(counted) > 10

    drive(first(cancel, then=settle))
    assert counted[0] == counted[-1] < 25
    assert now_of(run_id).status == "cancelled"
    assert not Attempt.objects.filter(run=run_id, state="intent").exists()


def test_a_rotated_memory_key_is_used_from_the_next_call_on(service: FakeService) -> None:
    service.switch("ok", seconds=0.05)
    run_id = prepare(service.port)

    def rotate() -> bool:
        if len(service.hits) < 8:
            return False
        version = now_of(run_id).version
        version.memory_key_encrypted = encrypt_memory_key("fresh-key-1234567", version_id=version.public_id)
        version.memory_key_set_at = now_of(run_id).accepted_at
        version.save()
        return True

    drive(first(rotate, then=final(run_id)))
    keys = [hit.headers["authorization"] for hit in service.hits]
    assert now_of(run_id).status == "succeeded"
    assert keys[0] != keys[-1] == "Bearer fresh-key-1234567"


def test_what_breaks_round_a_call_is_ours_and_the_run_goes_on(
    service: FakeService, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    search, calls = UnitExecutor.search, iter(range(1000))

    async def breaks_first(self: UnitExecutor, *args: Any, **kwargs: Any) -> Any:
        if next(calls) < 2:
            raise RuntimeError("nobody expected this")
        return await search(self, *args, **kwargs)

    monkeypatch.setattr(UnitExecutor, "search", breaks_first)
    run_id = prepare(service.port)
    drive(final(run_id))
    ours = Attempt.objects.filter(run=run_id, code="PLATFORM_ERROR")
    assert set(ours.values_list("kind", "fault")) == {("search", "platform")}
    assert report(run_id)["figures"] == expected


def test_a_result_that_cannot_be_recorded_holds_up_no_other(
    service: FakeService, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    finished, poisoned = recording._finished, set[int]()

    def spoiled(done: Any, **kwargs: Any) -> Any:
        made = finished(done, **kwargs)
        if done.work.unit.kind == "answer" and done.work.attempt.number == 1 and done.fault is None:
            poisoned.add(done.work.unit.pk)
            made.data["text"] = "\0"  # PostgreSQL stores no NUL
        return made

    monkeypatch.setattr(recording, "_finished", spoiled)
    run_id = prepare(service.port, shapes=("+?", "+?"))
    drive(final(run_id))
    assert len(poisoned) == 2
    assert now_of(run_id).status == "succeeded"
    assert Attempt.objects.filter(run=run_id, code="PLATFORM_ERROR").count() == 2


def test_a_lost_body_holds_up_its_own_answer_only(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    get, lost = bodies.get, set[str]()

    def get_but_one(digest: str) -> bytes:
        lost.update({digest} - lost if not lost else set())
        if digest in lost:
            raise bodies.MissingBody(digest)
        return get(digest)

    monkeypatch.setattr(bodies, "get", get_but_one)
    run_id = prepare(service.port, shapes=("+?", "+++?"))
    done = Unit.objects.filter(run=run_id, kind="answer", status="done")
    drive(lambda: done.count() == 1 and Attempt.objects.filter(run=run_id, code="PLATFORM_ERROR").count() > 2)
    assert now_of(run_id).status == "running"
    monkeypatch.setattr(bodies, "get", get)
    drive(final(run_id))
    assert now_of(run_id).status == "succeeded"


def test_memories_with_bytes_that_no_database_likes_end_in_a_code(service: FakeService) -> None:
    service.switch("nul", operation="search")
    run_id = prepare(service.port, shapes=("+?", "+?"))
    drive(final(run_id))
    assert now_of(run_id).status in ("succeeded", "failed")
    assert "PLATFORM_ERROR" not in report(run_id)["codes"]


def test_a_driver_told_to_stop_returns_what_it_never_sent(service: FakeService) -> None:
    service.switch("ok", seconds=0.5)
    run_id = prepare(service.port, shapes=("+?",) * 12, add=4)
    drive(lambda: len(service.hits) >= 4)
    found = report(run_id)
    assert set(found["units"]) <= {"ready", "waiting", "done"}
    assert set(found["attempts"]) == {"done"}
    assert found["repeated_calls"] == 0
    assert found["done_calls"] == len(service.hits)


def test_calls_that_outlast_the_drain_are_given_back_as_unknown(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluations.runner.driver.DRAIN", 0.5)
    service.switch("hang", seconds=30)
    run_id = prepare(service.port, shapes=("+?",) * 3)
    drive(lambda: len(service.hits) >= 3)
    found = report(run_id)
    assert found["attempts"] == {"unknown": 3}
    assert found["repeated_calls"] == 3
    service.switch("ok")
    drive(final(run_id))
    assert now_of(run_id).status == "succeeded"
    assert len({hit.request_id for hit in service.hits if hit.path == "/add"}) == 3


def test_a_driver_that_hands_over_records_the_calls_it_still_holds(service: FakeService) -> None:
    service.switch("ok", seconds=1.0)
    run_id = prepare(service.port, shapes=("+?",) * 4)
    handed: list[bool] = []
    asyncio.run(Driver(seconds=0.7, on_handover=lambda: handed.append(True)).run())
    found = report(run_id)
    assert handed == [True]
    assert (found["attempts"], found["repeated_calls"]) == ({"done": 4}, 0)


def test_two_drivers_at_once_record_every_unit_once(service: FakeService, expected: dict[str, Any]) -> None:
    service.switch("ok", seconds=0.02)
    run_id = prepare(service.port)
    other = Driver()

    async def both() -> None:
        helping = asyncio.create_task(other.run())
        await asyncio.to_thread(drive, final(run_id))
        other.stop()
        await helping

    asyncio.run(both())
    found = report(run_id)
    assert found["figures"] == expected
    assert len(service.hits) == found["done_calls"]


def test_answers_are_stored_whole(service: FakeService) -> None:
    run_id = prepare(service.port, shapes=("+?",))
    drive(final(run_id))
    answer = Result.objects.get(run=run_id, kind="answer")
    assert "blue0" in str(answer.data)
    assert BRISK["outage_after"] == now_of(run_id).spec["limits"]["outage_after"]
