"""What the engine's parts hand to each other: frozen dataclasses and protocols, no behaviour.

Times are Unix seconds, durations are seconds, sizes are bytes, unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class UnitKind(StrEnum):
    """Kinds of ledger units (interfaces.md, "Formats that stay")."""

    ADD = "add"
    SEARCH = "search"
    ANSWER = "answer"
    JUDGE = "judge"
    TEST = "test"


class Operation(StrEnum):
    ADD = "add"
    SEARCH = "search"
    HEALTH = "health"
    STATUS = "status"


class Fault(StrEnum):
    PARTICIPANT = "participant"
    PROVIDER = "provider"
    PLATFORM = "platform"


class AuthScheme(StrEnum):
    BEARER = "bearer"
    TOKEN = "token"  # noqa: S105 - a scheme, no credential
    X_API_KEY = "x-api-key"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Secret:
    """A credential whose ``repr`` and ``str`` never show it."""

    reveal: str = field(repr=False)

    def __str__(self) -> str:
        return "•••"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A participant's service as one version declared it. URLs are called exactly as written."""

    add_url: str
    search_url: str
    auth: AuthScheme = AuthScheme.NONE
    key: Secret | None = None
    health_url: str | None = None
    status_url: str | None = None  # holds "{task_id}"; its presence approves an Add's 202
    media: frozenset[str] = frozenset()  # declared beyond text and image: "audio", "video"
    allow_private: bool = False  # http, loopback and private addresses
    allow_http: bool = False  # plain http to public addresses


@dataclass(frozen=True, slots=True)
class AddRequest:
    request_id: str
    user_id: str
    session_id: str
    messages: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    query: str | Sequence[Mapping[str, Any]]
    user_id: str
    top_k: int = 100
    options: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One item of a Search reply, in the participant's order."""

    id: str
    content: str | Sequence[Mapping[str, Any]]
    score: float | None = None
    created_at: str | None = None  # as sent, only if it is an ISO 8601 date or date-time


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed: one cause a code, whose fault, and what to do."""

    code: str  # evaluations.engine.errors.Code
    fault: Fault
    sentence: str
    retryable: bool
    status: int | None = None
    retry_after: float | None = None
    reached: bool = True  # False only if the request can't have reached the service
    pointer: str | None = None  # RFC 6901, into the reply
    expected: str | None = None
    found: str | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds; connecting is apart from latency, None where a kept-alive connection was used."""

    dns: float | None = None
    connect: float | None = None
    tls: float | None = None
    first_byte: float | None = None  # from the request sent to the first byte of the reply
    latency: float | None = None  # from the request sent to the whole reply


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP attempt. Headers are masked; ``response_body`` is safe to store and capped."""

    operation: Operation
    method: str
    url: str
    started_at: float
    timing: Timing
    request_headers: tuple[tuple[str, str], ...]
    request_body: bytes
    status: int | None = None
    response_headers: tuple[tuple[str, str], ...] = ()
    response_body: bytes = b""
    response_size: int = 0
    response_sha256: str | None = None
    failure: Failure | None = None
    items: tuple[MemoryItem, ...] = ()  # of a successful Search
    warnings: tuple[str, ...] = ()


class MemoryService(Protocol):
    """Add and Search, one attempt a call: a participant's service or a baseline arm.

    Never raises for what the service does; cancellation passes through.
    """

    async def add(self, request: AddRequest) -> Exchange: ...

    async def search(self, request: SearchRequest) -> Exchange: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One model role: an OpenAI-compatible endpoint, or the offline model in process."""

    name: str  # model snapshot as sent, e.g. "aml-offline-answer-1"
    base_url: str | None = None  # None: the offline models, in process
    api_key: Secret | None = None
    max_output_tokens: int = 512
    temperature: float = 0.0
    seed: int = 7
    timeout: float = 600.0

    @property
    def offline(self) -> bool:
        return self.name.startswith("aml-offline-")


@dataclass(frozen=True, slots=True)
class Completion:
    """One model call: text, or a failure that is the provider's (or ours), never the participant's."""

    text: str = ""
    model: str = ""  # as the provider reports it
    fingerprint: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency: float = 0.0
    failure: Failure | None = None


class ChatModel(Protocol):
    settings: ModelSettings

    async def complete(self, prompt: str) -> Completion:
        """One attempt with one user message; never retries, never raises for the provider's faults."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """What a model is given, and how it came about; ``sha256`` is over the UTF-8 of ``text``."""

    text: str
    sha256: str
    nonce: str
    tokens: int
    items_given: int = 0
    items_cut: int = 0  # dropped whole or cut at a token boundary
    memory_tokens: int = 0


@dataclass(frozen=True, slots=True)
class AskScore:
    """One ask after scoring: the input of aggregation.

    ``value`` in [0, 1], or None with ``reason``. ``failed_by`` is set when the value is 0 because
    of the participant's failure; an ask that is open has no value.
    """

    ask: str
    question: str
    sample: str
    dataset: str
    capability: str
    value: float | None
    reason: str | None = None
    failed_by: Fault | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CapabilityScore:
    capability: str
    weight: float
    asks: int  # planned: the denominator
    scored: int
    score: Interval | None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Means with 95 % intervals, rounded half-even to 6 decimals (packs.md, "Aggregating")."""

    overall: Interval | None  # None while any ask is open
    capabilities: tuple[CapabilityScore, ...]
    asks: int
    scored: int
    unscored: int
    zero_by_failure: int
    clusters: int
