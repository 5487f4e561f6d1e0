"""Strict reading of what a service answers: bytes in, checked values out, or the Failure that says why not.

Nothing here raises anything but ``ReplyRefused``. What comes out is safe to store.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

import orjson

from aml.lib.text import safe_text, shorten, storable
from evaluations.engine.contract import Limits
from evaluations.engine.errors import Code
from evaluations.engine.media import MediaTotal, read_part
from evaluations.engine.refusals import SHOWN, mismatch, refuse, shown
from evaluations.engine.types import AddRequest, MemoryItem, SearchRequest

_DATE_LETTERS = re.compile(r"[0-9TtZzW:.,+\- ]+")
_COARSE_DATE = re.compile(r"\d{4}(-\d{2})?")


@dataclass(frozen=True, slots=True)
class Found:
    """A good Search reply. ``warnings`` begin with the conformance check they belong to and a colon."""

    items: tuple[MemoryItem, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskStatus:
    done: bool
    error: str | None = None  # set if the task failed


def read_add(body: bytes, *, request: AddRequest, limits: Limits) -> None:
    """Returns if ``body`` says that the Add is stored; raises ReplyRefused otherwise."""
    reply = _object(parse(body, limits=limits))
    if reply.get("success") is not True:
        found = shown(reply["success"]) if "success" in reply else "no such field"
        refuse(Code.SUCCESS_NOT_TRUE, f"success is not true: {found}.", "/success", "true", found)
    for name in ("request_id", "user_id", "session_id"):
        sent = getattr(request, name)
        if name not in reply:
            refuse(
                Code.ECHO_MISMATCH, f"{name} is missing from the reply.", f"/{name}", sent, "no such field"
            )
        if reply[name] != sent or not isinstance(reply[name], str):
            got = shown(reply[name])
            refuse(Code.ECHO_MISMATCH, f"{name}: sent {shown(sent)}, got {got}.", f"/{name}", sent, got)


def read_search(
    body: bytes, *, request: SearchRequest, limits: Limits, media: frozenset[str] = frozenset()
) -> Found:
    """The items in the service's order; ``media`` are the kinds declared beyond text and image."""
    reply = _object(parse(body, limits=limits))
    if "data" not in reply:
        mismatch("/data", "an array", "no such field")
    data = reply["data"]
    if not isinstance(data, list):
        mismatch("/data", "an array", shown(data))
    if len(data) > request.top_k:
        sentence = f"{len(data)} items for a top_k of {request.top_k}."
        refuse(
            Code.TOO_MANY_RESULTS, sentence, "/data", f"at most {request.top_k} items", f"{len(data)} items"
        )
    return _ItemReader(limits=limits, media=media).read(data)


def read_accepted(body: bytes, *, limits: Limits) -> str:
    """The ``task_id`` of an Add's 202."""
    reply = _object(parse(body, limits=limits))
    task = reply.get("task_id")
    if isinstance(task, int) and not isinstance(task, bool):
        task = str(task)
    expected = f"a non-empty string of at most {limits.task_id_length} characters, or an integer"
    if not isinstance(task, str) or not task or len(task) > limits.task_id_length or not storable(task):
        mismatch("/task_id", expected, shown(task) if "task_id" in reply else "no such field")
    return task


def read_status(body: bytes, *, limits: Limits) -> TaskStatus:
    reply = _object(parse(body, limits=limits))
    status = reply.get("status")
    if status in ("succeeded", "completed"):
        return TaskStatus(done=True)
    if status in ("pending", "running"):
        return TaskStatus(done=False)
    if status != "failed":
        expected = "succeeded, completed, failed, pending or running"
        mismatch("/status", expected, shown(status) if "status" in reply else "no such field")
    return TaskStatus(done=True, error=shown(reply.get("error", "no reason given")))


def parse(body: bytes, *, limits: Limits) -> Any:
    """JSON as the contract wants it: UTF-8, finite numbers, no duplicate keys, not too deep or too many."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        _refuse_syntax(body, error=error, limits=limits)
    keys, colons = _measure(value, limits=limits)
    # Every colon of a document separates a key from its value or is part of a string. orjson keeps the last
    # of two equal keys, so a colon that the parsed value can't explain is a duplicate's, or an escaped one.
    if body.count(b":") != keys + colons or b"\\u003" in body:
        _refuse_duplicates(body)
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        mismatch("", "an object", shown(value))
    return value


def _refuse_syntax(body: bytes, *, error: orjson.JSONDecodeError, limits: Limits) -> NoReturn:
    try:
        body.decode()
    except UnicodeDecodeError as wrong:
        sentence = f"Byte {wrong.start} of the reply is not UTF-8."
        refuse(Code.NOT_UTF8, sentence, None, "UTF-8", f"byte 0x{body[wrong.start]:02x}")
    if not body.strip():
        refuse(Code.NOT_JSON, "The reply's body is empty.", None, "a JSON object", "an empty body")
    if "depth limit" in error.msg:
        _too_deep(limits)
    reason = shorten(safe_text(error.msg), length=SHOWN)
    sentence = f"The reply is not JSON: {reason} at line {error.lineno}, column {error.colno}."
    refuse(Code.NOT_JSON, sentence, None, "a JSON document", reason)


def _too_deep(limits: Limits) -> NoReturn:
    limit = limits.reply_nesting
    refuse(
        Code.NOT_JSON, f"The reply is nested deeper than {limit}.", None, f"nesting of at most {limit}", None
    )


def _measure(root: Any, *, limits: Limits) -> tuple[int, int]:
    """Keys, and colons within strings. Level by level: a deep reply must not exhaust our own stack."""
    keys = colons = nodes = depth = 0
    level: list[Any] = [root]
    while level:
        nodes += len(level)
        if nodes > limits.reply_nodes:
            sentence = f"The reply holds more than {limits.reply_nodes} values."
            refuse(Code.RESPONSE_TOO_LARGE, sentence, None, f"at most {limits.reply_nodes} values", None)
        below: list[Any] = []
        containers = False
        for value in level:
            kind = type(value)
            if kind is str:
                colons += value.count(":")
            elif kind is dict:
                containers = True
                keys += len(value)
                colons += sum([key.count(":") for key in value])
                below.extend(value.values())
            elif kind is list:
                containers = True
                below.extend(value)
        depth += containers
        if depth > limits.reply_nesting:
            _too_deep(limits)
        level = below
    return keys, colons


def _refuse_duplicates(body: bytes) -> None:
    def unique(pairs: list[tuple[str, Any]]) -> None:
        twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        if twice:
            name = shown(twice[0])
            refuse(Code.NOT_JSON, f"The key {name} occurs twice in one object.", None, "unique keys", name)

    json.loads(body, object_pairs_hook=unique, parse_int=str, parse_float=str)


class _ItemReader:
    """Items of one reply; gathers what is only a warning."""

    def __init__(self, *, limits: Limits, media: frozenset[str]) -> None:
        self._media = media
        self._total = MediaTotal(limits=limits)
        self._warned: dict[str, tuple[str, int]] = {}

    def read(self, data: list[Any]) -> Found:
        items = tuple([self._item(item, index=index) for index, item in enumerate(data)])
        if len({item.id for item in items}) < len(items):
            twice = next(name for name, count in Counter(item.id for item in items).items() if count > 1)
            self._warn("duplicate_ids", f"the id {shown(twice)} occurs more than once")
        texts = (f"{kind}: {text} (times: {count})" for kind, (text, count) in self._warned.items())
        return Found(items=items, warnings=tuple(texts))

    def _warn(self, kind: str, text: str) -> None:
        first, count = self._warned.get(kind, (text, 0))
        self._warned[kind] = (first, count + 1)

    def _item(self, item: Any, *, index: int) -> MemoryItem:
        if not isinstance(item, dict):
            mismatch(f"/data/{index}", "an object", shown(item))
        content = item.get("content")
        if not isinstance(content, str) or not content or not storable(content):
            content = self._parts(content, present="content" in item, index=index)
        return MemoryItem(
            id=self._id(item, index=index),
            content=content,
            score=_score(item.get("score"), index=index),
            created_at=self._created_at(item.get("created_at"), index=index),
        )

    def _id(self, item: dict[str, Any], *, index: int) -> str:
        value = item.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            self._warn("id_types", f"/data/{index}/id is an integer")
            return str(value)
        if not isinstance(value, str) or not value or not storable(value):
            found = shown(value) if "id" in item else "no such field"
            mismatch(f"/data/{index}/id", "a non-empty string without NUL", found)
        return value

    def _parts(self, content: Any, *, present: bool, index: int) -> tuple[Mapping[str, Any], ...]:
        pointer = f"/data/{index}/content"
        if not isinstance(content, list) or not content:
            found = shown(content) if present else "no such field"
            mismatch(pointer, "a non-empty string without NUL, or an array of parts", found)
        return tuple(
            read_part(part, pointer=f"{pointer}/{at}", media=self._media, total=self._total)
            for at, part in enumerate(content)
        )

    def _created_at(self, value: Any, *, index: int) -> str | None:
        if value is None:
            return None
        if isinstance(value, str) and _is_date(value):
            return value
        self._warn("created_at", f"/data/{index}/created_at is not an ISO 8601 date: {shown(value)}")
        return None


def _score(value: Any, *, index: int) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        mismatch(f"/data/{index}/score", "a finite number or null", shown(value))
    return float(value)


def _is_date(value: str) -> bool:
    if not _DATE_LETTERS.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return _COARSE_DATE.fullmatch(value) is not None
    return True
