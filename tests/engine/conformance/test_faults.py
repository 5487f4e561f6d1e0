"""One switchable fault at a time: exactly the checks that are about it fail or warn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluations.engine.types import AuthScheme, Secret
from evaluations.reference.faults import FAULTS
from tests.engine.conformance.checking import QUICK, check_faults, codes, untested, wrong

FAIL, WARNING = "fail", "warning"

TABLE: dict[str, dict[str, str]] = {
    "bad-dates": {"created_at": WARNING},
    "down": {"health": WARNING, "read_your_write": FAIL},
    "echo": {"add.echo": FAIL},
    "flaky": {"burst": WARNING},
    "forgets": {"read_your_write": FAIL},
    "garbled": {"text": FAIL},
    "html": {"auth.refuses": FAIL, "add.schema": FAIL, "search.schema": FAIL},
    "ingest-dates": {"created_at": WARNING},
    "integer-ids": {"id_types": WARNING},
    "last-session": {"sessions": FAIL},
    "leak": {"isolation": FAIL, "empty_user": FAIL, "answers": WARNING},
    "no-auth": {"auth.refuses": FAIL},
    "no-old-dates": {"timestamps": WARNING},
    "no-options": {"options": FAIL},
    "not-json": {"add.schema": FAIL, "search.schema": FAIL},
    "parrots": {"answers": WARNING},
    "rate-limit": {"burst": WARNING},
    "redirect": {"health": WARNING, "read_your_write": FAIL},
    "refuses-replay": {"replay.accepted": FAIL},
    "replay-twice": {"replay.single": WARNING},
    "same-id": {"id_types": WARNING},
    "shuffled": {"order": WARNING},
    "slow:0.01": {},
    "small-body:40000": {"body_limit": FAIL},
    "stale": {"read_your_write": FAIL},
    "success-string": {"add.schema": FAIL},
    "too-many": {"top_k": FAIL},
}
ELSEWHERE = {"hangs", "printed-parts"}


@pytest.mark.parametrize("fault", TABLE)
def test_a_fault_shows_in_its_own_checks_only(fault: str) -> None:
    report = check_faults(fault)
    assert wrong(report) == TABLE[fault]
    assert report.gates_passed is (FAIL not in TABLE[fault].values())


def test_every_fault_of_the_reference_service_is_in_the_table() -> None:
    assert {name.partition(":")[0] for name in TABLE} | ELSEWHERE == set(FAULTS)


def test_a_sound_service_passes_everything() -> None:
    report = check_faults()
    assert report.gates_passed
    assert wrong(report) == {}
    assert untested(report) == set()


def test_a_sound_multimodal_service_passes_everything() -> None:
    report = check_faults(track="multimodal", media=frozenset({"audio", "video"}))
    assert wrong(report) == {}
    assert report.result("parts").outcome == "pass"


def test_printed_parts_show_in_multimodal() -> None:
    report = check_faults("printed-parts", track="multimodal")
    assert wrong(report) == {"parts": FAIL}


def test_what_depends_on_reading_back_is_not_tested() -> None:
    report = check_faults("forgets")
    assert untested(report) >= {"isolation", "sessions", "timestamps", "order", "answers"}
    assert report.result("empty_user").outcome == "pass"


def test_a_refused_key_is_the_business_of_auth_accepts() -> None:
    report = check_faults(key=Secret("old-key"))
    assert wrong(report) == {"auth.accepts": FAIL}
    assert codes(report, ["auth.accepts"]) == {"auth.accepts": ("UNAUTHORIZED",)}


@pytest.mark.parametrize(
    ("fault", "name", "code"),
    [
        ("down", "read_your_write", "SERVER_ERROR"),
        ("redirect", "read_your_write", "REDIRECT_REFUSED"),
        ("not-json", "add.schema", "NOT_JSON"),
        ("small-body:40000", "body_limit", "PAYLOAD_TOO_LARGE"),
        ("refuses-replay", "replay.accepted", "CONFLICT"),
        ("no-options", "options", "REQUEST_INVALID"),
        ("too-many", "top_k", "TOO_MANY_RESULTS"),
    ],
)
def test_a_failed_check_names_the_code(fault: str, name: str, code: str) -> None:
    assert code in check_faults(fault).result(name).codes


def test_a_service_that_never_answers_is_told_its_time_limit() -> None:
    report = check_faults("hangs", budget=replace(QUICK, attempt=1.0))
    assert "READ_TIMEOUT" in report.result("read_your_write").codes
    assert report.seconds < 10


def test_a_check_that_runs_out_of_time_decides_nothing() -> None:
    report = check_faults("slow:0.3", budget=replace(QUICK, total=1.5))
    assert not report.complete
    assert not report.gates_passed
    assert "median call took 0.3 s" in report.result("burst").sentence


def test_what_does_not_apply_is_not_called_untested() -> None:
    report = check_faults("down", auth=AuthScheme.NONE, key=None)
    assert report.result("parts").outcome == "not_applicable"
    assert report.result("auth.refuses").outcome == "not_applicable"
    assert report.result("extra_fields").outcome == "not_tested"
