"""The trace of a Smoke: failing first, filtered, with the place of the fault marked."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.urls import reverse
from django.utils import timezone

from aml.web import bodies
from evaluations.models import Attempt, Lane, Run, Unit
from evaluations.services import failing_exchanges
from evaluations.services.traces import attempts_after, codes_met
from evaluations.views.wire import marked_lines
from registration.models import Version
from tests.evaluations.conftest import page_of
from tests.run_factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_store(settings: Any, tmp_path: Any) -> None:
    options = {"location": str(tmp_path)}
    settings.STORAGES = {**settings.STORAGES, "bodies": {**settings.STORAGES["bodies"], "OPTIONS": options}}


@pytest.fixture
def smoke(version: Version) -> Run:
    return make_run(version=version, kind="smoke")


def attempt(run: Run, *, kind: str, code: str = "", pointer: str = "") -> Attempt:
    sample, _made = run.pack.samples.get_or_create(
        key="s", defaults={"dataset": "d", "position": 0, "adds": 1, "asks": 1, "content_hash": "h"}
    )
    place = run.units.count()
    event = sample.events.create(position=place, kind="add", body=b"", size=0)
    lane, _made = Lane.objects.get_or_create(
        run=run, position=0, defaults={"sample": "s", "dataset": "d", "steps": 9, "remaining": 9}
    )
    ask = "" if kind == "add" else f"ask {place}"
    unit = Unit.objects.create(run=run, lane=lane, kind=kind, position=place, step=0, event=event, ask=ask)
    exchange = {
        "operation": kind, "method": "POST", "url": f"https://memory.example.com/{kind}", "status": 200,
        "request_headers": [["Authorization", "•••"]], "request_body": '{"user_id": "aml:u"}',
        "response_headers": [], "response_body": '{"data": [{"id": ""}]}', "warnings": [],
        "failure": {"code": code, "pointer": pointer} if code else None,
    }  # fmt: skip
    return Attempt.objects.create(
        unit=unit, run=run, kind=kind, number=1, claim_token="t", state="done", ok=not code, code=code,
        fault="participant" if code else "", sentence="It came back empty." if code else "", pointer=pointer,
        started_at=timezone.now(), finished_at=timezone.now(), http_status=200,
        exchange=bodies.put(orjson.dumps(exchange)),
    )  # fmt: skip


def shown(run: Run, query: str = "") -> str:
    address = reverse("evaluations:exchanges", args=[run.public_id]) + query
    return page_of(run.version).get(address).content.decode()


def test_failing_ones_come_first(smoke: Run) -> None:
    attempt(smoke, kind="add")
    attempt(smoke, kind="search", code="SCHEMA_MISMATCH", pointer="/data/0/id")
    page = shown(smoke)
    assert page.index("memory.example.com/search") < page.index("memory.example.com/add")


def test_the_place_of_the_fault_is_marked_and_what_to_do_is_said(smoke: Run) -> None:
    attempt(smoke, kind="search", code="SCHEMA_MISMATCH", pointer="/data/0/id")
    page = shown(smoke)
    assert "<mark>      &quot;id&quot;: &quot;&quot;</mark>" in page
    assert "Correct the value at the JSON pointer" in page


def test_filters_by_code_and_operation(smoke: Run) -> None:
    attempt(smoke, kind="add")
    attempt(smoke, kind="search", code="NOT_JSON")
    assert codes_met(smoke) == [("NOT_JSON", 1)]
    assert "memory.example.com/add" not in shown(smoke, "?code=NOT_JSON")
    assert "memory.example.com/search" not in shown(smoke, "?operation=add")


def test_wrong_filters_are_ignored(smoke: Run) -> None:
    attempt(smoke, kind="add")
    assert "memory.example.com/add" in shown(smoke, "?code=NO_SUCH&operation=delete&page=99")


def test_adds_and_searches_continue_in_one_order(smoke: Run) -> None:
    made = [attempt(smoke, kind=kind).pk for kind in ("search", "add", "add", "search", "add")]
    first = [one.pk for one in attempts_after(smoke, 0, limit=3)]
    assert first == made[:3]
    assert [one.pk for one in attempts_after(smoke, first[-1], limit=3)] == made[3:]


def test_failing_exchanges_of_a_full_have_no_content(version: Version) -> None:
    full = make_run(version=version)
    attempt(full, kind="search", code="NOT_JSON")
    (found,) = failing_exchanges(full)
    assert (found.code, found.exchange, found.sentence) == ("NOT_JSON", None, "")
    assert found.advice


def test_what_is_no_json_is_shown_as_it_came() -> None:
    lines = [line.text for line in marked_lines("<html>\n502", pointer="")]
    assert lines == ["<html>", "502"]


def test_pointers_with_slashes_are_found() -> None:
    lines = list(marked_lines('{"a/b": {"c~d": 1}, "x": [2]}', pointer="/a~1b/c~0d"))
    assert [line.text.strip() for line in lines if line.marked] == ['"c~d": 1']
