"""An exchange as people read it: request and reply, the place of the fault marked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aml.lib.text import safe_text

PRETTY_UP_TO = 100_000  # characters; longer bodies are shown as they came


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    marked: bool


def wire(exchange: Mapping[str, Any]) -> dict[str, Any]:
    """For ``{% ui "exchange" wire=… %}``; ``exchange`` as ``engine.exchange_json`` makes it."""
    failure = exchange["failure"] or {}
    return {
        "method": exchange["method"],
        "url": exchange["url"],
        "status": exchange["status"],
        "code": failure.get("code", ""),
        "request_headers": exchange["request_headers"],
        "request": list(marked_lines(exchange["request_body"], pointer=None)),
        "response_headers": exchange["response_headers"],
        "response": list(marked_lines(exchange["response_body"], pointer=failure.get("pointer") or None)),
        "warnings": exchange["warnings"],
    }


def marked_lines(body: str, *, pointer: str | None) -> Iterator[Line]:
    """The body as indented JSON, the lines at the JSON pointer marked; what is no JSON as it came."""
    pretty = _pretty_lines(body)
    if pretty is None:
        yield from (Line(line, marked=False) for line in body.splitlines())
        return
    for text, path in pretty:
        here = pointer is not None and (path == pointer or path.startswith(pointer + "/"))
        yield Line(safe_text(text), marked=here and pointer != "")


def _pretty_lines(body: str) -> list[tuple[str, str]] | None:
    """None for what is no JSON, too long, or nested too deeply to be drawn."""
    if len(body) > PRETTY_UP_TO:
        return None
    try:
        value = json.loads(body)
        return list(_pretty(value, path="", indent=0, lead="")) if isinstance(value, dict | list) else None
    except (ValueError, RecursionError):
        return None


def _pretty(value: object, *, path: str, indent: int, lead: str) -> Iterator[tuple[str, str]]:
    """(line, JSON pointer of its value) pairs."""
    space = "  " * indent
    if isinstance(value, dict) and value:
        pairs = [
            (_escaped(str(key)), f"{json.dumps(key, ensure_ascii=False)}: ", one)
            for key, one in value.items()
        ]
        yield from _block(pairs, brackets="{}", path=path, indent=indent, lead=lead)
    elif isinstance(value, list) and value:
        items = [(str(index), "", one) for index, one in enumerate(value)]
        yield from _block(items, brackets="[]", path=path, indent=indent, lead=lead)
    else:
        yield f"{space}{lead}{json.dumps(value, ensure_ascii=False)}", path


def _block(
    items: list[tuple[str, str, object]], *, brackets: str, path: str, indent: int, lead: str
) -> Iterator[tuple[str, str]]:
    space = "  " * indent
    yield f"{space}{lead}{brackets[0]}", path
    for place, (step, key, one) in enumerate(items):
        lines = list(_pretty(one, path=f"{path}/{step}", indent=indent + 1, lead=key))
        if place < len(items) - 1:
            lines[-1] = (lines[-1][0] + ",", lines[-1][1])
        yield from lines
    yield f"{space}{brackets[1]}", path


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")
