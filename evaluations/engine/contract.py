"""The memory contract's numbers and tables, once: engine, API, admin and guide read them from here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from aml.lib.ids import MAX_ID_LENGTH
from aml.lib.tracks import Track
from benchmarks.types import CHUNK_MESSAGES, CHUNK_WORDS, MAX_CHARACTERS, MAX_TIMESTAMP_MS
from evaluations.engine.errors import CODES, Code
from evaluations.engine.types import Operation
from evaluations.engine.wire import schemas

CONTRACT_ID = "memory-api-1"
AGENT_NAME = "aml-evaluator"
KIB = 1024
MIB = 1024 * KIB

Seconds = Annotated[float, Field(gt=0, json_schema_extra={"unit": "seconds"})]
Bytes = Annotated[int, Field(gt=0, json_schema_extra={"unit": "bytes"})]
Count = Annotated[int, Field(gt=0)]


def user_agent(*, version: str, site_url: str) -> str:
    """``aml-evaluator/<version> (+<site url>)``, as printed in the API guide."""
    return f"{AGENT_NAME}/{version} (+{site_url})"


class Limits(BaseModel):
    """Every number that a cycle may override, with ``Limits.model_validate({...})``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    add_attempts: Count = Field(default=32, description="Counted attempts of one Add.")
    search_attempts: Count = Field(default=6, description="Counted attempts of one Search.")
    backoff_base: Seconds = Field(default=0.5, description="Shortest wait before a retry.")
    backoff_cap: Seconds = Field(default=60.0, description="Longest wait before a retry.")
    retry_after_cap: Seconds = Field(default=60.0, description="Retry-After is honoured up to this.")
    rate_limit_wait: Seconds = Field(default=60.0, description="Wait after a 429 without Retry-After.")
    poisoned_failures: Count = Field(
        default=32, description="The same 5xx this often ends one call, if also:"
    )
    poisoned_window: Seconds = Field(default=1800.0, description="over at least this time.")
    conflict_window: Seconds = Field(default=600.0, description="How long an Add's 409 is retried.")

    attempt_total: Seconds = Field(
        default=1800.0, description="One attempt, connecting and polling included."
    )
    connect_total: Seconds = Field(default=10.0, description="Resolving, connecting and TLS.")
    idle_close: Seconds = Field(default=4.0, description="An unused connection is closed after this.")
    connect_ramp: Annotated[float, Field(ge=0, json_schema_extra={"unit": "seconds"})] = Field(
        default=0.02, description="Gap between two connections being opened."
    )
    poll_shortest: Seconds = Field(default=1.0, description="First wait between two status polls.")
    poll_longest: Seconds = Field(default=30.0, description="Longest wait between two status polls.")
    task_id_length: Count = Field(default=255, description="Characters of a task_id.")

    add_reply: Bytes = Field(default=MIB, description="Largest Add reply.")
    search_reply_textual: Bytes = Field(default=8 * MIB, description="Largest Search reply in Textual.")
    search_reply_coding: Bytes = Field(default=64 * MIB, description="Largest Search reply in Coding.")
    search_reply_multimodal: Bytes = Field(
        default=48 * MIB, description="Largest Search reply in Multimodal."
    )
    reply_head: Bytes = Field(default=100 * KIB, description="Largest reply head: status line and headers.")
    reply_nesting: Count = Field(default=64, description="Deepest nesting of a reply's JSON.")
    reply_nodes: Count = Field(default=1_000_000, description="Most values in a reply's JSON.")
    reply_excerpt: Bytes = Field(default=2 * KIB, description="What is kept of an error reply's body.")
    byte_budget: Bytes = Field(default=128 * MIB, description="Reply bytes held by one process at a time.")
    large_request: Bytes = Field(
        default=MIB, description="From here a lost connection's sentence mentions size."
    )

    add_concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        default=64, description="Most Adds in flight."
    )
    search_concurrency: Annotated[int, Field(ge=1, le=256)] = Field(
        default=256, description="Most Searches in flight."
    )
    halve_after: Count = Field(
        default=5, description="Retryable failures in a row that halve the concurrency."
    )
    regrow_every: Seconds = Field(default=10.0, description="Time between two steps back up.")
    regrow_factor: Annotated[float, Field(gt=1)] = Field(
        default=1.1, description="One step back up, at least 1 call."
    )
    breaker_after: Count = Field(
        default=5, description="Retryable failures in a row across the run that stop claiming."
    )
    probe_base: Seconds = Field(default=1.0, description="First wait before a probe.")
    probe_cap: Seconds = Field(default=300.0, description="Longest wait before a probe.")
    outage_after: Seconds = Field(
        default=300.0, description="Time without a success until a run shows as paused."
    )
    outage_end: Seconds = Field(
        default=86400.0, description="Time until the cycle's policy ends a paused run."
    )

    top_k: Count = Field(default=100, description="Items asked for by a Search.")
    media_each: Bytes = Field(default=10 * MIB, description="One medium, decoded.")
    media_total: Bytes = Field(
        default=30 * MIB, description="All media of one Add or one Search reply, decoded."
    )

    @field_validator("*")
    @classmethod
    def _finite(cls, value: object) -> object:
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            raise ValueError("must be finite")
        return value

    def attempts(self, operation: Operation) -> int:
        return self.add_attempts if operation is Operation.ADD else self.search_attempts

    def concurrency(self, operation: Operation) -> int:
        return self.add_concurrency if operation is Operation.ADD else self.search_concurrency

    def at_once(self, *, add: int, search: int) -> dict[str, int]:
        """Most calls in flight where a version declares ``add`` and ``search``."""
        return {"add": min(add, self.add_concurrency), "search": min(search, self.search_concurrency)}

    def reply_bytes(self, *, operation: Operation, track: str) -> int:
        """Largest decoded reply of ``operation`` in ``track`` ("textual", "coding", "multimodal")."""
        if operation is not Operation.SEARCH:
            return self.add_reply
        by_track = {"coding": self.search_reply_coding, "multimodal": self.search_reply_multimodal}
        return by_track.get(track, self.search_reply_textual)


@dataclass(frozen=True, slots=True)
class Promise:
    """A number of the contract that no cycle overrides: packs and ids are made to keep it."""

    name: str
    value: int
    description: str
    unit: str | None = None


PROMISES: tuple[Promise, ...] = (
    Promise("message_textual", MAX_CHARACTERS[Track.TEXTUAL], "Characters of one message in Textual."),
    Promise("message_coding", MAX_CHARACTERS[Track.CODING], "Characters of one message in Coding."),
    Promise("chunk_messages", CHUNK_MESSAGES, "Messages of one Textual Add."),
    Promise("chunk_words", CHUNK_WORDS, "Words of one Textual Add."),
    Promise("timestamp_highest", MAX_TIMESTAMP_MS, "Latest message time.", "milliseconds"),
    Promise("id_length", MAX_ID_LENGTH, "Characters of user_id, session_id and request_id."),
)


class Decision(StrEnum):
    RETRY = "retry"
    CONFLICT = "retry for a while if an earlier attempt may have arrived, else final"
    FINAL = "final"


class Outcome(StrEnum):
    """Rows of the retry table."""

    TRANSIENT = "transient"
    CONFLICT = "conflict"
    REFUSED = "refused"
    OTHER_SUCCESS = "other_success"
    BAD_BODY = "bad_body"


@dataclass(frozen=True, slots=True)
class RetryRow:
    when: str
    add: Decision
    search: Decision
    codes: frozenset[Code]

    def decision(self, operation: Operation) -> Decision:
        return self.add if operation is Operation.ADD else self.search


def _codes(names: str) -> frozenset[Code]:
    return frozenset(Code(name) for name in names.split())


RETRY_TABLE: dict[Outcome, RetryRow] = {
    Outcome.TRANSIENT: RetryRow(
        "network failure, time-out, 408, 425, 429, every 5xx",
        Decision.RETRY,
        Decision.RETRY,
        _codes(
            "DNS_FAILURE ADDRESS_BLOCKED CONNECT_REFUSED CONNECT_TIMEOUT TLS_FAILURE "
            "CONNECTION_LOST READ_TIMEOUT RATE_LIMITED NOT_READY SERVER_ERROR PROXY_TIMEOUT"
        ),
    ),
    Outcome.CONFLICT: RetryRow("409", Decision.CONFLICT, Decision.FINAL, _codes("CONFLICT")),
    Outcome.REFUSED: RetryRow(
        "400, 401, 403, 404, 405, 413, 415, 422, other 4xx, any 3xx",
        Decision.FINAL,
        Decision.FINAL,
        _codes(
            "REDIRECT_REFUSED UNAUTHORIZED FORBIDDEN NOT_FOUND METHOD_REFUSED PAYLOAD_TOO_LARGE "
            "MEDIA_TYPE_REFUSED REQUEST_INVALID UNEXPECTED_STATUS"
        ),
    ),
    Outcome.OTHER_SUCCESS: RetryRow(
        "2xx other than 200, except an Add's approved 202",
        Decision.FINAL,
        Decision.FINAL,
        _codes("ASYNC_NOT_APPROVED ASYNC_FAILED"),
    ),
    Outcome.BAD_BODY: RetryRow(
        "200 with a bad body",
        Decision.FINAL,
        Decision.FINAL,
        _codes(
            "NOT_JSON NOT_UTF8 RESPONSE_TOO_LARGE SCHEMA_MISMATCH SUCCESS_NOT_TRUE ECHO_MISMATCH "
            "TOO_MANY_RESULTS"
        ),
    ),
}

OUTCOME_OF: dict[Code, Outcome] = {
    code: outcome for outcome, row in RETRY_TABLE.items() for code in row.codes
}


def decision_for(code: str, *, operation: Operation) -> Decision | None:
    """The table's decision; None for codes that are not the participant's, which it says nothing of."""
    outcome = OUTCOME_OF.get(Code(code))
    return None if outcome is None else RETRY_TABLE[outcome].decision(operation)


def retryable(code: Code, *, operation: Operation) -> bool:
    """Whether the table says retry without looking at the call's history."""
    return decision_for(code, operation=operation) is Decision.RETRY


def notes(limits: Limits) -> list[str]:
    """What else an implementer should know of how the platform calls."""
    return [
        f"A connection is closed after a reply other than 2xx, and after {limits.idle_close:g} s idle.",
        f"Connections are opened one after the other, {1000 * limits.connect_ramp:g} ms apart.",
        "request_id is unique over the whole run; a retry sends the same id and the same body.",
        "Fields without a value are left out, never sent as null; nothing but the schema's fields is sent.",
        "Requests carry Content-Length and are never chunked; Expect: 100-continue is not used.",
        "Replies may be chunked, HTTP/1.0 with Connection: close, or without Content-Length; not compressed.",
        "An early reply (401, 413 before the body was read) is read and is the outcome.",
        "created_at may have Z, an offset, fractions or no zone, or be null or absent; else it is a warning.",
        f"Slow is not down: one attempt may take {limits.attempt_total:g} s; a first call may load a model.",
    ]


def contract_document(limits: Limits, *, agent: str = AGENT_NAME) -> dict[str, Any]:
    """The whole contract as JSON: what ``GET /api/v1/contract`` and the guide page show.

    ``agent`` is the whole User-Agent (``user_agent(...)``) of the installation.
    """
    return {
        "id": CONTRACT_ID,
        "user_agent": agent,
        "limits": [
            *(_limit(limits=limits, name=name) for name in Limits.model_fields),
            *(asdict(promise) for promise in PROMISES),
        ],
        "retry": [
            {"outcome": row.when, "codes": sorted(row.codes), "add": row.add, "search": row.search}
            for row in RETRY_TABLE.values()
        ],
        "errors": [
            {"code": code, "fault": info.fault, "title": info.title, "advice": info.advice}
            for code, info in CODES.items()
        ],
        "schemas": schemas(),
        "notes": notes(limits),
    }


def _limit(*, limits: Limits, name: str) -> dict[str, Any]:
    field = Limits.model_fields[name]
    extra = field.json_schema_extra
    unit = extra.get("unit") if isinstance(extra, dict) else None
    return {
        "name": name,
        "value": getattr(limits, name),
        "unit": unit,
        "description": field.description,
    }
