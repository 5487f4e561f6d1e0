"""Short ways to say what was found, and which check a failed call belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from evaluations.engine.conformance.report import Finding, Outcome
from evaluations.engine.errors import CODES, Code
from evaluations.engine.types import Exchange, Failure, MemoryItem, Operation

# A reply whose shape breaks the contract is one fault, told once, however many probes meet it.
SHAPE_CODES = frozenset(
    {
        Code.NOT_JSON,
        Code.NOT_UTF8,
        Code.RESPONSE_TOO_LARGE,
        Code.SCHEMA_MISMATCH,
        Code.SUCCESS_NOT_TRUE,
        Code.ASYNC_NOT_APPROVED,
        Code.ASYNC_FAILED,
    }
)
REFUSED = (401, 403)
OK = 200

Findings = dict[str, Finding]  # by check name: what one probe returns


@dataclass(frozen=True, slots=True)
class Call:
    """One logical Add or Search with all its attempts."""

    exchanges: tuple[Exchange, ...]

    @property
    def last(self) -> Exchange:
        return self.exchanges[-1]

    @property
    def failure(self) -> Failure | None:
        return self.last.failure

    @property
    def ok(self) -> bool:
        return self.failure is None

    @property
    def landed(self) -> bool:
        """Answered 200, whatever is wrong with the reply: enough for what other checks look at."""
        return self.ok or self.last.status == OK

    @property
    def items(self) -> tuple[MemoryItem, ...]:
        return self.last.items

    @property
    def text(self) -> str:
        """All text of the reply's items, one a line."""
        return "\n".join(item_text(item) for item in self.items)


def item_text(item: MemoryItem) -> str:
    if isinstance(item.content, str):
        return item.content
    return "\n".join(str(part["text"]) for part in item.content if part.get("type") == "text")


def passed(sentence: str) -> Finding:
    return Finding(Outcome.PASS, sentence)


def warned(sentence: str, *, expected: str = "", advice: str = "") -> Finding:
    return Finding(Outcome.WARNING, sentence, expected, advice)


def failed(sentence: str, *, expected: str = "", advice: str = "") -> Finding:
    return Finding(Outcome.FAIL, sentence, expected, advice)


def not_tested(sentence: str) -> Finding:
    return Finding(Outcome.NOT_TESTED, sentence)


def not_applicable(sentence: str) -> Finding:
    return Finding(Outcome.NOT_APPLICABLE, sentence)


def home(failure: Failure, *, operation: Operation, authenticated: bool) -> str | None:
    """The check that a failure belongs to by its code; None where it is the probe's own."""
    if failure.code in SHAPE_CODES:
        return f"{operation}.schema"
    if failure.code == Code.ECHO_MISMATCH:
        return "add.echo"
    if failure.code == Code.TOO_MANY_RESULTS:
        return "top_k"
    if failure.status in REFUSED and authenticated:
        return "auth.accepts"
    return None


def from_failure(call: Call, *, what: str, expected: str, authenticated: bool) -> Finding:
    """The finding for a call that had to succeed: failed, or *not tested* if another check tells of it."""
    failure = call.failure
    if failure is None:
        raise ValueError("the call succeeded")
    other = home(failure, operation=call.last.operation, authenticated=authenticated)
    code = (str(failure.code),)
    if other is not None:
        return Finding(Outcome.NOT_TESTED, f"{what}: {failure.sentence} See {other}.", codes=code)
    return Finding(
        Outcome.FAIL, f"{what}: {failure.sentence}", expected, CODES[Code(failure.code)].advice, code
    )
