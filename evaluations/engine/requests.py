"""Requests as bytes: bodies encoded once, targets exactly as registered, headers with their masked twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import httpx2
import orjson

from aml.lib.redact import mask_headers
from evaluations.engine.network import Target
from evaluations.engine.types import AddRequest, AuthScheme, Endpoint, SearchRequest

Pairs = tuple[tuple[bytes, bytes], ...]
# Whatever a participant wrote stays as it is; only what HTTP can't carry is percent-encoded.
_AS_WRITTEN = "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~"


def encode_add(request: AddRequest) -> bytes:
    """The body of an Add; the same request gives the same bytes."""
    return orjson.dumps(
        {
            "request_id": request.request_id,
            "user_id": request.user_id,
            "session_id": request.session_id,
            "messages": [dict(message) for message in request.messages],
        }
    )


def encode_search(request: SearchRequest) -> bytes:
    query = request.query if isinstance(request.query, str) else [dict(part) for part in request.query]
    body: dict[str, Any] = {"query": query, "user_id": request.user_id, "top_k": request.top_k}
    if request.options is not None:
        body["options"] = list(request.options)
    return orjson.dumps(body)


def sent_texts(request: AddRequest | SearchRequest | None) -> list[str]:
    """Our own texts within a request, which a stored error reply must not repeat."""
    if request is None:
        return []
    if isinstance(request, SearchRequest):
        contents: list[Any] = [request.query, *(request.options or ())]
    else:
        contents = [message.get("content") for message in request.messages]
    texts: list[str] = []
    for content in contents:
        parts = [content] if isinstance(content, str) else [part.get("text") for part in content or ()]
        texts += [part for part in parts if isinstance(part, str)]
    return texts


def health_url(endpoint: Endpoint) -> str:
    """The registered one, else ``/health`` beside Add."""
    if endpoint.health_url is not None:
        return endpoint.health_url
    parts = urlsplit(endpoint.add_url)
    folder = parts.path.rstrip("/").rpartition("/")[0]
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}/health", "", ""))


@dataclass(frozen=True, slots=True)
class Route:
    """Where one URL leads and what every request to it carries."""

    url: str
    method: str
    target: Target
    path: bytes  # with the query
    headers: Pairs
    masked: tuple[tuple[str, str], ...]

    def headers_for(self, body: bytes | None) -> list[tuple[bytes, bytes]]:
        if body is None:
            return list(self.headers)
        return [*self.headers, (b"Content-Length", b"%d" % len(body))]


def build_route(url: str, *, method: str, endpoint: Endpoint, agent: str, credential: bool = True) -> Route:
    """Raises ValueError for what is no http or https URL; ``addresses.check_url`` says why."""
    parts = urlsplit(url)
    try:
        parsed = httpx2.URL(f"{parts.scheme}://{parts.netloc}/")
    except httpx2.InvalidURL as error:
        raise ValueError(str(error)) from error
    if parsed.scheme not in ("http", "https") or not parsed.raw_host:
        raise ValueError("not an http or https URL")
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    rest = url.split("://", 1)[1][len(parts.netloc) :].partition("#")[0]
    path = quote(rest if rest.startswith("/") else f"/{rest}", safe=_AS_WRITTEN).encode()
    headers = _headers(host=parsed.netloc, method=method, agent=agent)
    if credential:
        headers += _credential(endpoint)
    masked = mask_headers((name.decode(), value.decode("utf-8", "replace")) for name, value in headers)
    target = Target(scheme=parsed.scheme, host=parsed.raw_host.decode(), port=port)
    return Route(url=url, method=method, target=target, path=path, headers=headers, masked=masked)


def _headers(*, host: bytes, method: str, agent: str) -> Pairs:
    common: Pairs = (
        (b"Host", host),
        (b"User-Agent", agent.encode()),
        (b"Accept", b"application/json"),
        (b"Accept-Encoding", b"identity"),
    )
    return common if method == "GET" else (*common, (b"Content-Type", b"application/json"))


def _credential(endpoint: Endpoint) -> Pairs:
    if endpoint.key is None or endpoint.auth is AuthScheme.NONE:
        return ()
    key = endpoint.key.reveal.encode()
    match endpoint.auth:
        case AuthScheme.BEARER:
            return ((b"Authorization", b"Bearer " + key),)
        case AuthScheme.TOKEN:
            return ((b"Authorization", b"Token " + key),)
        case _:
            return ((b"X-Api-Key", key),)
