"""An exchange as plain JSON: the one shape of a Smoke's trace and of a conformance report."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

from aml.lib.redact import Redactor, safe_excerpt
from aml.lib.text import safe_text
from evaluations.engine.types import Exchange, Failure

CUT = "…"


def exchange_json(
    exchange: Exchange, *, redactor: Redactor | None = None, limit: int | None = None
) -> dict[str, Any]:
    """``exchange`` with what ``redactor`` finds masked, and with at most ``limit`` bytes of each body.

    Headers come masked from the client. Everything but whole bodies is text that jsonb holds; of those,
    what is no UTF-8 is given as ``base64:…``.
    """
    redactor = redactor or Redactor()
    return {
        "operation": str(exchange.operation),
        "method": exchange.method,
        "url": exchange.url,
        "started_at": exchange.started_at,
        "timing": asdict(exchange.timing),
        "status": exchange.status,
        "request_headers": _headers(exchange.request_headers, redactor),
        "request_body": _body(exchange.request_body, redactor, limit),
        "response_headers": _headers(exchange.response_headers, redactor),
        "response_body": _body(exchange.response_body, redactor, limit),
        "response_size": exchange.response_size,
        "failure": exchange.failure and _failure(exchange.failure, redactor),
        "warnings": [_said(warning, redactor) for warning in exchange.warnings],
    }


def _headers(headers: tuple[tuple[str, str], ...], redactor: Redactor) -> list[list[str]]:
    return [[name, _said(value, redactor)] for name, value in headers]


def _body(body: bytes, redactor: Redactor, limit: int | None) -> str:
    if limit is not None:
        return safe_excerpt(body, redactor, limit=limit) + (CUT if len(body) > limit else "")
    try:
        return redactor.clean(body.decode())
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(body).decode()


def _failure(failed: Failure, redactor: Redactor) -> dict[str, Any]:
    said = ("sentence", "pointer", "expected", "found")
    return {
        "code": str(failed.code),
        "fault": failed.fault.value,
        "status": failed.status,
        **{name: _said(getattr(failed, name) or "", redactor) for name in said},
    }


def _said(text: str, redactor: Redactor) -> str:
    return safe_text(redactor.clean(text))
