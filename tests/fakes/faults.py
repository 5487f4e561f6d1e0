"""The fake service's behaviours by name; options are keywords of ``switch`` or JSON of ``/control``."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from typing import Any

from tests.fakes.call import Call

Options = dict[str, Any]
Fault = Callable[[Call, Options], Awaitable[bool]]
Spoil = Callable[[dict[str, Any]], bytes]

FAULTS: dict[str, Fault] = {}
PNG = "data:image/png;base64,iVBORw0KGgo="


def fault(function: Fault) -> Fault:
    FAULTS[getattr(function, "__name__", "")] = function
    return function


@fault
async def ok(call: Call, options: Options) -> bool:
    """Right, after ``seconds`` if given."""
    good = await call.good()
    if not call.authorised:
        return await call.send_json(401, {"detail": "wrong key"})
    if options.get("seconds"):
        await asyncio.sleep(options["seconds"])
    return await call.send_json(200, good)


@fault
async def status(call: Call, options: Options) -> bool:
    """``status``, with ``retry_after``, ``location`` and ``body`` if given; ``stores``: after storing."""
    if options.get("stores"):
        await call.good()
    else:
        await call.value()
    names = {"retry_after": "Retry-After", "location": "Location"}
    headers = {header: str(options[name]) for name, header in names.items() if name in options}
    return await call.send(options.get("status", 503), options.get("body", "{}").encode(), headers=headers)


@fault
async def down(call: Call, options: Options) -> bool:
    return await status(call, {"status": 503})


@fault
async def retry_after_date(call: Call, options: Options) -> bool:
    import time

    await call.value()
    when = formatdate(time.time() + options.get("seconds", 30), usegmt=True)
    return await call.send(429, b"", headers={"Retry-After": when})


@fault
async def overload(call: Call, options: Options) -> bool:
    """429 above ``most`` calls in flight."""
    if call.service.in_flight > options.get("most", 4):
        await call.value()
        return await call.send(429, b"", headers={"Retry-After": str(options.get("retry_after", 5))})
    return await ok(call, {"seconds": options.get("seconds", 0.05)})


@fault
async def early(call: Call, options: Options) -> bool:
    """``status`` without reading the body, which stays in the connection and poisons it."""
    return await call.send(options.get("status", 413), b'{"detail": "early"}')


@fault
async def early_then_reset(call: Call, options: Options) -> bool:
    """A status before the body was read, then the end of the connection."""
    await call.send(options.get("status", 413), b'{"detail": "early"}')
    await asyncio.sleep(0.05)
    return False


@fault
async def reset(call: Call, options: Options) -> bool:
    await call.value()
    return call.reset()


@fault
async def reset_unread(call: Call, options: Options) -> bool:
    return call.reset()


@fault
async def unread(call: Call, options: Options) -> bool:
    """Neither reads the body nor answers."""
    await asyncio.sleep(options.get("seconds", 3600))
    return False


@fault
async def silence(call: Call, options: Options) -> bool:
    """Closes without a reply."""
    await call.value()
    return False


@fault
async def hang(call: Call, options: Options) -> bool:
    await call.value()
    await asyncio.sleep(options.get("seconds", 3600))
    return False


@fault
async def half_body(call: Call, options: Options) -> bool:
    await call.value()
    await call.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"data"')
    return False


@fault
async def half_head(call: Call, options: Options) -> bool:
    await call.value()
    await call.raw(b"HTTP/1.1 200 OK\r\nContent-Le")
    return False


@fault
async def drip(call: Call, options: Options) -> bool:
    """One byte every ``seconds``."""
    body = json.dumps(await call.good()).encode()
    await call.raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
    for at in range(len(body)):
        await call.raw(body[at : at + 1])
        await asyncio.sleep(options.get("seconds", 1.0))
    return True


@fault
async def huge_header(call: Call, options: Options) -> bool:
    await call.value()
    await call.raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * (1 << 20) + b"\r\nContent-Length: 2\r\n\r\n{}")
    return False


@fault
async def endless_1xx(call: Call, options: Options) -> bool:
    await call.value()
    while not call.writer.is_closing():
        await call.raw(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)
    return False


@fault
async def garbage(call: Call, options: Options) -> bool:
    await call.value()
    await call.raw(b"\x00\xff\xfeSSH-2.0-OpenSSH\r\n\r\n\r\n")
    return False


@fault
async def raw(call: Call, options: Options) -> bool:
    """``data``, one letter a byte, whatever it is."""
    await call.value()
    await call.raw(options["data"].encode("latin-1"))
    return False


@fault
async def gzip_bomb(call: Call, options: Options) -> bool:
    await call.value()
    bomb = gzip.compress(b"\x00" * (1 << 22))
    return await call.send(200, bomb, headers={"Content-Encoding": "gzip"})


@fault
async def endless_body(call: Call, options: Options) -> bool:
    await call.value()
    await call.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not call.writer.is_closing():
        await call.raw(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
    return False


@fault
async def declared_too_large(call: Call, options: Options) -> bool:
    await call.value()
    await call.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n")
    return False


@fault
async def http10(call: Call, options: Options) -> bool:
    body = json.dumps(await call.good()).encode()
    await call.raw(b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n" + body)
    return False


@fault
async def no_length(call: Call, options: Options) -> bool:
    body = json.dumps(await call.good()).encode()
    await call.raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)
    return False


@fault
async def chunked(call: Call, options: Options) -> bool:
    body = json.dumps(await call.good()).encode()
    await call.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for at in range(0, len(body), 7):
        piece = body[at : at + 7]
        await call.raw(b"%x\r\n%s\r\n" % (len(piece), piece))
    await call.raw(b"0\r\n\r\n")
    return True


@fault
async def closes_after_reply(call: Call, options: Options) -> bool:
    """Ends a kept-alive connection without saying so."""
    await call.send_json(200, await call.good())
    return False


@fault
async def accepted(call: Call, options: Options) -> bool:
    """202; the task is done after ``polls`` polls, with ``final`` as its last status."""
    good = await call.good()
    task = options.get("task_id", good.get("request_id"))
    return await call.send_json(202, {"task_id": task} if task is not None else {})


@fault
async def echoes_request(call: Call, options: Options) -> bool:
    """A 422 that repeats the request and the credential."""
    value = await call.value()
    headers = call.head.headers if call.head else {}
    return await call.send_json(422, {"detail": value, "authorization": headers.get("authorization")})


@fault
async def hidden_error(call: Call, options: Options) -> bool:
    """Something failed inside, and nobody is told."""
    value = await call.value()
    return await call.send_json(200, {"data": []} if "query" in value else call.service.answer("/add", value))


def _spoiled(spoil: Spoil) -> Fault:
    async def behave(call: Call, options: Options) -> bool:
        return await call.send(200, spoil(await call.good()))

    return behave


def _with(**fields: Any) -> Spoil:
    return lambda good: json.dumps({**good, **fields}).encode()


def _item(**fields: Any) -> Spoil:
    return lambda good: json.dumps({"data": [{"id": "m-1", "content": "text", **fields}]}).encode()


def _constant(body: bytes) -> Spoil:
    return lambda good: body


SPOILED: dict[str, Spoil] = {
    "not_utf8": _constant(b'{"data": [], "success": true, "x": "\xff"}'),
    "not_a_number": _constant(b'{"data": [{"id": "1", "content": "a", "score": NaN}]}'),
    "infinite": _constant(b'{"data": [{"id": "1", "content": "a", "score": 1e999}]}'),
    "duplicate_keys": _constant(b'{"data": [], "data": [], "success": false, "success": true}'),
    "too_deep": _constant(b'{"data": [], "x": ' + b"[" * 100 + b"]" * 100 + b"}"),
    "huge_integer": _constant(b'{"data": [], "x": ' + b"9" * 1000 + b"}"),
    "surrogate": _constant(b'{"data": [{"id": "1", "content": "\\ud800"}]}'),
    "nul": _constant(b'{"data": [{"id": "1", "content": "a\\u0000b"}]}'),
    "empty": _constant(b""),
    "html": _constant(b"<html><body>Welcome</body></html>"),
    "array": _constant(b"[]"),
    "no_data": _constant(b"{}"),
    "data_null": _constant(b'{"data": null}'),
    "success_text": _with(success="true"),
    "success_one": _with(success=1),
    "success_false": _with(success=False),
    "echo_number": _with(request_id=42),
    "echo_default_user": _with(user_id="default_user"),
    "echo_empty": _with(session_id=""),
    "echo_missing": lambda good: json.dumps({"success": True}).encode(),
    "echo_stripped": lambda good: json.dumps(
        {name: value.strip() if isinstance(value, str) else value for name, value in good.items()}
    ).encode(),
    "too_many": lambda good: json.dumps(
        {"data": [{"id": str(at), "content": "text"} for at in range(101)]}
    ).encode(),
    "integer_id": _item(id=17),
    "empty_id": _item(id=""),
    "empty_content": _item(content=""),
    "score_boolean": _item(score=True),
    "score_text": _item(score="0.8"),
    "created_at_integer": _item(created_at=1760000000000),
    "created_at_words": _item(created_at="yesterday"),
    "extra_fields": _item(extra={"nested": [1, 2]}),
    "remote_media": _item(content=[{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]),
    "false_media": _item(content=[{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]),
    "image": _item(
        content=[{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": PNG}}]
    ),
}
FAULTS.update({name: _spoiled(spoil) for name, spoil in SPOILED.items()})
