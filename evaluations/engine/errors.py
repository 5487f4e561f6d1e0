"""Error codes (contract.md, "Error codes") and the exceptions of the engine, split by whose fault.

::

    EngineError                 always carries a Failure
    ├── ParticipantError
    │   ├── ConnectionFailed    no connection: name, address, port, time, TLS
    │   └── ReplyRefused        a reply that breaks the contract
    ├── ProviderError           a model's provider
    └── PlatformError           ours
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict, Unpack

from evaluations.engine.types import Failure, Fault


class Code(StrEnum):
    """One cause each; the names are part of the API and never change."""

    DNS_FAILURE = "DNS_FAILURE"
    ADDRESS_BLOCKED = "ADDRESS_BLOCKED"
    CONNECT_REFUSED = "CONNECT_REFUSED"
    CONNECT_TIMEOUT = "CONNECT_TIMEOUT"
    TLS_FAILURE = "TLS_FAILURE"
    CONNECTION_LOST = "CONNECTION_LOST"
    READ_TIMEOUT = "READ_TIMEOUT"
    REDIRECT_REFUSED = "REDIRECT_REFUSED"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    METHOD_REFUSED = "METHOD_REFUSED"
    CONFLICT = "CONFLICT"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    MEDIA_TYPE_REFUSED = "MEDIA_TYPE_REFUSED"
    REQUEST_INVALID = "REQUEST_INVALID"
    UNEXPECTED_STATUS = "UNEXPECTED_STATUS"
    RATE_LIMITED = "RATE_LIMITED"
    NOT_READY = "NOT_READY"
    SERVER_ERROR = "SERVER_ERROR"
    PROXY_TIMEOUT = "PROXY_TIMEOUT"
    NOT_JSON = "NOT_JSON"
    NOT_UTF8 = "NOT_UTF8"
    RESPONSE_TOO_LARGE = "RESPONSE_TOO_LARGE"
    SCHEMA_MISMATCH = "SCHEMA_MISMATCH"
    SUCCESS_NOT_TRUE = "SUCCESS_NOT_TRUE"
    ECHO_MISMATCH = "ECHO_MISMATCH"
    TOO_MANY_RESULTS = "TOO_MANY_RESULTS"
    ASYNC_NOT_APPROVED = "ASYNC_NOT_APPROVED"
    ASYNC_FAILED = "ASYNC_FAILED"
    MODEL_OUTAGE = "MODEL_OUTAGE"
    MODEL_CREDIT = "MODEL_CREDIT"
    MODEL_REFUSED = "MODEL_REFUSED"
    MODEL_TRUNCATED = "MODEL_TRUNCATED"
    JUDGE_UNPARSABLE = "JUDGE_UNPARSABLE"
    PLATFORM_ERROR = "PLATFORM_ERROR"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    fault: Fault
    title: str  # a few words, for a badge or a heading
    advice: str  # what to do about it, one or two plain sentences


def _participant(title: str, advice: str) -> CodeInfo:
    return CodeInfo(Fault.PARTICIPANT, title, advice)


def _provider(title: str, advice: str) -> CodeInfo:
    return CodeInfo(Fault.PROVIDER, title, advice)


CODES: dict[Code, CodeInfo] = {
    Code.DNS_FAILURE: _participant(
        "Host name not found",
        "Check the host name in the URL and its DNS records; they must resolve on the public internet.",
    ),
    Code.ADDRESS_BLOCKED: _participant(
        "Address not allowed",
        "The name must resolve only to public addresses. Remove private, loopback and other special "
        "addresses from its DNS records, or register another URL.",
    ),
    Code.CONNECT_REFUSED: _participant(
        "Connection refused",
        "Start the service, check the port in the URL, and let our egress addresses through the firewall.",
    ),
    Code.CONNECT_TIMEOUT: _participant(
        "No answer to connecting",
        "Nothing answered at this address. Check that the service runs and that the firewall lets our "
        "egress addresses in instead of dropping their packets.",
    ),
    Code.TLS_FAILURE: _participant(
        "TLS handshake failed",
        "Install a certificate that is valid today, covers the host name, and comes with its intermediate "
        "certificates from a public authority.",
    ),
    Code.CONNECTION_LOST: _participant(
        "Connection lost",
        "The connection ended before a whole HTTP reply arrived. Look for restarts, crashes, worker or proxy "
        "limits, and body size limits at that time.",
    ),
    Code.READ_TIMEOUT: _participant(
        "No reply in time",
        "Answer within the time limit of one attempt: look for a stuck worker or queue, or approve an "
        "Add-status URL for long writes.",
    ),
    Code.REDIRECT_REFUSED: _participant(
        "Redirect refused",
        "Redirects are not followed. Register the final URL, with the right scheme and trailing slash.",
    ),
    Code.UNAUTHORIZED: _participant(
        "Credential refused (401)",
        "Check that the service expects the memory key and the authentication scheme registered here.",
    ),
    Code.FORBIDDEN: _participant(
        "Forbidden (403)",
        "Let our User-Agent and egress addresses through firewalls and bot filters; check the key's rights.",
    ),
    Code.NOT_FOUND: _participant(
        "Not found (404)",
        "Check the path of the registered URL; it is called exactly as written.",
    ),
    Code.METHOD_REFUSED: _participant(
        "Method refused (405)",
        "Add and Search are POST requests; check the path and the trailing slash.",
    ),
    Code.CONFLICT: _participant(
        "Conflict (409)",
        "The same request_id with the same body is a retry and must succeed in the end; "
        "do not answer it with a conflict.",
    ),
    Code.PAYLOAD_TOO_LARGE: _participant(
        "Body too large for the service (413)",
        "Raise the body limit of the service and its proxies above the largest Add printed in the API guide.",
    ),
    Code.MEDIA_TYPE_REFUSED: _participant(
        "Media type refused (415)",
        "Accept Content-Type: application/json, with JSON in UTF-8.",
    ),
    Code.REQUEST_INVALID: _participant(
        "Request called invalid (400 or 422)",
        "The request follows the contract; compare it, as shown here, with what the service validates.",
    ),
    Code.UNEXPECTED_STATUS: _participant(
        "Unexpected status",
        "Answer success with exactly 200, and failures with a status of the contract's table.",
    ),
    Code.RATE_LIMITED: _participant(
        "Rate limited (429)",
        "Declare a lower concurrency for this version, or raise the service's limit.",
    ),
    Code.NOT_READY: _participant(
        "Not ready (408 or 425)",
        "The service asked for another try. Look at request time-outs in the service and its proxies.",
    ),
    Code.SERVER_ERROR: _participant(
        "Server error (5xx)",
        "Look in the service's own log at the time of this attempt; the request_id shown here finds it.",
    ),
    Code.PROXY_TIMEOUT: _participant(
        "Proxy time-out (504, 522 or 524)",
        "A proxy in front of the service gave up waiting. Raise its time-out or answer faster.",
    ),
    Code.NOT_JSON: _participant(
        "Reply is not JSON",
        "Answer one plain JSON document: uncompressed, no NaN or Infinity, no duplicate keys, not too deep.",
    ),
    Code.NOT_UTF8: _participant("Reply is not UTF-8", "Encode the reply's JSON in UTF-8."),
    Code.RESPONSE_TOO_LARGE: _participant(
        "Reply too large",
        "Keep the reply, its head and its media below the size limits printed in the API guide.",
    ),
    Code.SCHEMA_MISMATCH: _participant(
        "Reply does not fit the schema",
        "Correct the value at the JSON pointer shown; one bad item makes the whole reply bad.",
    ),
    Code.SUCCESS_NOT_TRUE: _participant(
        "success is not true",
        'An Add that was stored answers with "success": true, the boolean. Answer a failed one with a 5xx.',
    ),
    Code.ECHO_MISMATCH: _participant(
        "Ids not echoed",
        "Return request_id, user_id and session_id exactly as received, character by character.",
    ),
    Code.TOO_MANY_RESULTS: _participant(
        "More items than asked for",
        "Return at most top_k items; a longer reply is never cut for you.",
    ),
    Code.ASYNC_NOT_APPROVED: _participant(
        "202 without an approved status URL",
        "Answer 200 once the write is durable and searchable, or register an Add-status URL with {task_id}.",
    ),
    Code.ASYNC_FAILED: _participant(
        "Asynchronous Add failed",
        "The status URL reported a failure; look up the task in the service's log.",
    ),
    Code.MODEL_OUTAGE: _provider(
        "Model provider unavailable",
        "Nothing to do for the participant: the call is made again when the provider answers.",
    ),
    Code.MODEL_CREDIT: _provider(
        "Model provider refuses our account",
        "Nothing to do for the participant: the organiser must renew the credit or the key.",
    ),
    Code.MODEL_REFUSED: _provider(
        "Model refused to answer",
        "A content filter of the provider stopped the answer; the ask is not held against the participant.",
    ),
    Code.MODEL_TRUNCATED: _provider(
        "Model output cut off",
        "The output reached its token limit; the organiser should look at the limit.",
    ),
    Code.JUDGE_UNPARSABLE: _provider(
        "Judge's verdict not readable",
        "The judge gave no verdict that can be read; the ask stays unscored until it is judged again.",
    ),
    Code.PLATFORM_ERROR: CodeInfo(
        Fault.PLATFORM,
        "Fault of the platform",
        "Nothing to do for the participant: the run goes on by itself, and the operator is told.",
    ),
}


class EngineError(Exception):
    """Base of everything the engine raises on purpose."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


class ParticipantError(EngineError):
    """The participant's service is at fault."""


class ConnectionFailed(ParticipantError):
    """No connection to the service; nothing of the request was sent."""


class ReplyRefused(ParticipantError):
    """The service answered, and the answer breaks the contract."""


class ProviderError(EngineError):
    """A model's provider is at fault."""


class PlatformError(EngineError):
    """The platform is at fault."""


class FailureFields(TypedDict, total=False):
    """Further fields of a Failure (types.py)."""

    status: int | None
    retry_after: float | None
    reached: bool
    pointer: str | None
    expected: str | None
    found: str | None


def failure(code: Code, *, sentence: str, retryable: bool, **fields: Unpack[FailureFields]) -> Failure:
    """A Failure whose fault is the code's. ``sentence`` names what a person needs to act on."""
    return Failure(code=code, fault=CODES[code].fault, sentence=sentence, retryable=retryable, **fields)
