"""One place for every number: the document, the limits and the retry table agree."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from aml.lib.ids import opaque_id
from benchmarks.types import Chunking, Message
from evaluations.engine.contract import (
    OUTCOME_OF,
    PROMISES,
    RETRY_TABLE,
    Limits,
    contract_document,
    retryable,
    user_agent,
)
from evaluations.engine.errors import CODES, Code
from evaluations.engine.types import Fault, Operation


def test_every_code_of_the_participant_stands_in_exactly_one_row() -> None:
    listed = [code for row in RETRY_TABLE.values() for code in row.codes]
    assert sorted(listed) == sorted(code for code in Code if CODES[code].fault is Fault.PARTICIPANT)
    assert set(OUTCOME_OF) == set(listed)


@pytest.mark.parametrize(
    ("code", "again"), [(Code.READ_TIMEOUT, True), (Code.CONFLICT, False), (Code.NOT_JSON, False)]
)
def test_the_table_says_what_is_retried_without_a_history(code: Code, again: bool) -> None:
    assert retryable(code, operation=Operation.ADD) == again


def test_the_document_is_json_and_holds_every_limit_and_code() -> None:
    document = json.loads(
        json.dumps(contract_document(Limits(), agent=user_agent(version="1", site_url="x")))
    )
    assert document["id"] == "memory-api-1"
    promised = {promise.name for promise in PROMISES}
    assert {limit["name"] for limit in document["limits"]} == set(Limits.model_fields) | promised
    assert all(limit["description"] for limit in document["limits"])
    assert {error["code"] for error in document["errors"]} == set(Code)
    assert document["user_agent"] == "aml-evaluator/1 (+x)"


def test_a_cycle_overrides_single_limits() -> None:
    limits = Limits.model_validate({"search_attempts": 3})
    assert (limits.attempts(Operation.SEARCH), limits.attempts(Operation.ADD)) == (3, 32)
    values = {limit["name"]: limit["value"] for limit in contract_document(limits)["limits"]}
    assert values["search_attempts"] == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"add_attempts": 0},
        {"backoff_cap": -1},
        {"add_concurrency": 65},
        {"attempt_total": float("inf")},
        {"x": 1},
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(wrong)


@pytest.mark.parametrize(
    ("operation", "track", "mebibytes"),
    [
        (Operation.ADD, "coding", 1),
        (Operation.SEARCH, "textual", 8),
        (Operation.SEARCH, "coding", 64),
        (Operation.SEARCH, "multimodal", 48),
    ],
)
def test_reply_limits_depend_on_the_track(operation: Operation, track: str, mebibytes: int) -> None:
    assert Limits().reply_bytes(operation=operation, track=track) == mebibytes * 1024 * 1024


def test_what_is_promised_is_what_packs_are_made_and_checked_by() -> None:
    values = {promise.name: promise.value for promise in PROMISES}
    assert (values["chunk_messages"], values["chunk_words"]) == (
        Chunking().max_messages,
        Chunking().max_words,
    )
    with pytest.raises(ValidationError):
        Message(role="user", content="x", timestamp=values["timestamp_highest"] + 1)


def test_ids_are_no_longer_than_promised() -> None:
    properties = contract_document(Limits())["schemas"]["add_request"]["properties"]
    assert len(opaque_id(b"s" * 32, "user", "x" * 200)) <= properties["user_id"]["maxLength"] == 64


def test_a_version_is_called_as_it_declares_and_the_contract_allows() -> None:
    limits = Limits.model_validate({"add_concurrency": 4})
    assert limits.at_once(add=16, search=32) == {"add": 4, "search": 32}


def test_the_request_schemas_leave_no_room_for_null() -> None:
    schemas = contract_document(Limits())["schemas"]
    assert schemas["add_request"]["additionalProperties"] is False
    assert "null" not in json.dumps(schemas["add_request"])
    assert "null" not in json.dumps(schemas["search_request"])
