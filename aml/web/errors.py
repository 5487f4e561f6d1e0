"""Refusals: one exception for pages, API and admin, and the API's error envelope.

Refusal             a rule says no; nothing was changed
└── FieldRefusal    one field of the request is wrong
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler


class Refusal(Exception):
    """A request that the rules refuse. ``reason`` and ``hint`` are sentences for the person who asked."""

    status = 409

    def __init__(
        self, code: str, reason: str, *, hint: str = "", status: int | None = None, **extra: Any
    ) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = str(reason)
        self.hint = str(hint)
        self.extra = extra
        if status is not None:
            self.status = status

    def detail(self) -> dict[str, Any]:
        """The API's form: ``{"code", "reason", "hint", "doc_url", …}``."""
        return {
            "code": self.code,
            "reason": self.reason,
            "hint": self.hint,
            "doc_url": doc_url(self.code),
            **self.extra,
        }


class FieldRefusal(Refusal):
    """One field is wrong: its name, what came, what was expected."""

    status = 400

    def __init__(
        self,
        field: str,
        reason: str,
        *,
        hint: str = "",
        code: str = "invalid_field",
        status: int | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(code, reason, hint=hint, status=status, field=field, **extra)
        self.field = field


def doc_url(code: str) -> str:
    return reverse("pages:api_guide") + f"#error-{code}"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's handler, with every error in one envelope ``{"detail": {"code", "reason", "hint", "doc_url"}}``."""
    if isinstance(error, Refusal):
        return _response(error, error.status)
    if isinstance(error, exceptions.ValidationError):
        return _response(_field_refusal(error.detail), 400)
    response = drf_handler(error, context)
    if response is None:
        return None
    refusal = Refusal(_code_of(error), _sentence_of(error), status=response.status_code)
    response.data = {"detail": refusal.detail()}
    return response


def _response(refusal: Refusal, status: int) -> Response:
    headers = {}
    if (wait := refusal.extra.get("retry_after")) is not None:
        headers["Retry-After"] = str(wait)
    return Response({"detail": refusal.detail()}, status=status, headers=headers)


def _field_refusal(detail: Any) -> Refusal:
    errors = {field: [str(item) for item in _flat(items)] for field, items in _as_dict(detail).items()}
    field, sentences = next(iter(errors.items()))
    return FieldRefusal(field, f"{field}: {sentences[0]}", errors=errors)


def _as_dict(detail: Any) -> dict[str, Any]:
    return detail if isinstance(detail, dict) else {"non_field_errors": detail}


def _flat(items: Any) -> list[Any]:
    if isinstance(items, dict):
        return [part for value in items.values() for part in _flat(value)]
    if isinstance(items, list):
        return [part for value in items for part in _flat(value)]
    return [items]


def _code_of(error: Exception) -> str:
    if isinstance(error, Http404):
        return "not_found"
    if isinstance(error, PermissionDenied):
        return "permission_denied"
    return str(getattr(error, "default_code", "error"))


def _sentence_of(error: Exception) -> str:
    if isinstance(error, Http404):
        return "There is nothing of yours at this address."
    return str(getattr(error, "detail", "") or error)
