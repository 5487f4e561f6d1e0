"""HTTP status to Failure: which code, what sentence, how long to wait."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from evaluations.engine.contract import AGENT_NAME, retryable
from evaluations.engine.errors import Code, failure
from evaluations.engine.types import Failure, Operation

_BY_STATUS: dict[int, Code] = {
    400: Code.REQUEST_INVALID,
    401: Code.UNAUTHORIZED,
    403: Code.FORBIDDEN,
    404: Code.NOT_FOUND,
    405: Code.METHOD_REFUSED,
    408: Code.NOT_READY,
    409: Code.CONFLICT,
    413: Code.PAYLOAD_TOO_LARGE,
    415: Code.MEDIA_TYPE_REFUSED,
    422: Code.REQUEST_INVALID,
    425: Code.NOT_READY,
    429: Code.RATE_LIMITED,
    504: Code.PROXY_TIMEOUT,
    522: Code.PROXY_TIMEOUT,
    524: Code.PROXY_TIMEOUT,
}
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def code_for(status: int) -> Code:
    """The code of a status that is not the success asked for."""
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if 300 <= status < 400:
        return Code.REDIRECT_REFUSED
    return Code.SERVER_ERROR if 500 <= status < 600 else Code.UNEXPECTED_STATUS


def status_failure(
    *, status: int, operation: Operation, target: str, retry_after: float | None, location: str | None = None
) -> Failure:
    """``target`` is host:port; ``retry_after`` in seconds, as the reply asked."""
    code = code_for(status)
    return failure(
        code,
        sentence=_sentence(code, status=status, operation=operation, target=target, location=location),
        retryable=retryable(code, operation=operation),
        status=status,
        retry_after=retry_after,
    )


def _sentence(code: Code, *, status: int, operation: Operation, target: str, location: str | None) -> str:
    said = f"{target} answered {operation.value.capitalize()} with {status}{_phrase(status)}"
    more = {
        Code.REDIRECT_REFUSED: f", pointing to {location}" if location else "",
        Code.FORBIDDEN: f". A firewall may refuse our User-Agent, {AGENT_NAME}",
        Code.PROXY_TIMEOUT: ". A proxy before the service stopped waiting; its limit is shorter than ours",
        Code.METHOD_REFUSED: f" to {'GET' if operation in _GETS else 'POST'}",
    }.get(code, "")
    return f"{said}{more}."


_GETS = (Operation.HEALTH, Operation.STATUS)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def parse_retry_after(value: str | None, *, now: float) -> float | None:
    """Seconds from ``now`` of a Retry-After in seconds or as an HTTP date; None for anything else."""
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
