"""Reading the two request bodies strictly, and writing the replies (contract ``memory-api-1``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from evaluations.reference.store import Content, Hit, plain_text

_MEDIA = ("image_url", "audio_url", "video_url")


class Refused(Exception):
    """A body that breaks the contract; ``str()`` says where and what was expected."""


@dataclass(frozen=True, slots=True)
class AddBody:
    request_id: str
    user_id: str
    session_id: str
    messages: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SearchBody:
    query: str
    user_id: str
    top_k: int
    options: Sequence[str]


def parse_add(raw: bytes) -> AddBody:
    body = _object(raw, known={"request_id", "user_id", "session_id", "messages"})
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused("/messages: expected a non-empty array")
    for position, message in enumerate(messages):
        _check_message(message, f"/messages/{position}")
    return AddBody(_text(body, "request_id"), _text(body, "user_id"), _text(body, "session_id"), messages)


def parse_search(raw: bytes) -> SearchBody:
    body = _object(raw, known={"query", "user_id", "top_k", "options"})
    query = _content(body.get("query"), "/query")
    top_k, options = body.get("top_k"), body.get("options", [])
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise Refused("/top_k: expected a positive integer")
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise Refused("/options: expected an array of strings")
    return SearchBody(plain_text(query), _text(body, "user_id"), min(top_k, 1_000), options)


def _object(raw: bytes, *, known: set[str]) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Refused(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refused("expected a JSON object")
    if unknown := set(body) - known:
        raise Refused(f"/{min(unknown)}: unknown field")
    return body


def _text(body: Mapping[str, Any], field: str) -> str:
    value = body.get(field)
    if not isinstance(value, str) or not value:
        raise Refused(f"/{field}: expected a non-empty string")
    return value


def _check_message(message: object, at: str) -> None:
    if not isinstance(message, dict) or not set(message) <= {"role", "content", "timestamp"}:
        raise Refused(f"{at}: expected an object of role, content and timestamp")
    if message.get("role") not in ("user", "assistant"):
        raise Refused(f"{at}/role: expected 'user' or 'assistant'")
    _content(message.get("content"), f"{at}/content")
    moment = message.get("timestamp", 0)
    if not isinstance(moment, int) or isinstance(moment, bool):
        raise Refused(f"{at}/timestamp: expected an integer of milliseconds")


def _content(content: object, at: str) -> Content:
    if isinstance(content, str) and content.strip():
        return content
    if not isinstance(content, list) or not content:
        raise Refused(f"{at}: expected a non-empty string or array of parts")
    for position, part in enumerate(content):
        _check_part(part, f"{at}/{position}")
    return content


def _check_part(part: object, at: str) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or kind not in ("text", *_MEDIA):
        raise Refused(f"{at}/type: expected 'text' or one of {', '.join(_MEDIA)}")
    value = part.get("text") if kind == "text" else _url(part.get(kind))
    if not isinstance(value, str) or not value:
        raise Refused(f"{at}: expected a non-empty text or url")


def _url(medium: object) -> object:
    return medium.get("url") if isinstance(medium, dict) else None


def hit_json(hit: Hit) -> dict[str, Content | float]:
    """One item of ``data``; what has no value is left out."""
    item: dict[str, Content | float] = {"id": hit.id, "content": hit.content, "score": hit.score}
    if hit.created_at is not None:
        item["created_at"] = hit.created_at
    return item
