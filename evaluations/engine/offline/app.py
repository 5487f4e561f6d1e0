"""An OpenAI-compatible server with the offline models: ``/v1/chat/completions`` and ``/v1/models``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evaluations.engine import tokens
from evaluations.engine.offline import MODELS, REVISION


def _json(value: Mapping[str, Any], *, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status_code=status, media_type="application/json")


def _refused(message: str, *, code: str, status: int) -> Response:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": None}
    return _json({"error": error}, status=status)


def _prompt(messages: Any) -> str | None:
    """The text of all messages, joined; None where it is no list of messages."""
    if not isinstance(messages, list) or not messages:
        return None
    texts: list[str] = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        if not isinstance(content, str):
            return None
        texts.append(content)
    return "\n".join(texts)


async def complete(request: Request) -> Response:
    try:
        body = orjson.loads(await request.body())
    except orjson.JSONDecodeError:
        return _refused("The body is no JSON.", code="invalid_json", status=400)
    model = body.get("model") if isinstance(body, dict) else None
    if not isinstance(model, str) or model not in MODELS:
        return _refused(f"There is no model {model!r}.", code="model_not_found", status=404)
    prompt = _prompt(body.get("messages"))
    if prompt is None:
        return _refused("'messages' holds no text.", code="invalid_messages", status=400)
    return _json(_completion(model, prompt=prompt, limit=_limit(body)))


def _limit(body: Mapping[str, Any]) -> int | None:
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    return limit if isinstance(limit, int) and limit > 0 else None


def _completion(model: str, *, prompt: str, limit: int | None) -> dict[str, Any]:
    text = MODELS[model](prompt)
    used, asked = tokens.count(text), tokens.count(prompt)
    finish = "stop"
    if limit is not None and used > limit:
        text, used, finish = tokens.truncate(text, limit), limit, "length"
    return {
        "id": "chatcmpl-offline",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "system_fingerprint": f"offline-{REVISION}",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": asked, "completion_tokens": used, "total_tokens": asked + used},
    }


async def models(request: Request) -> Response:
    listed = [{"id": name, "object": "model", "created": 0, "owned_by": "offline"} for name in MODELS]
    return _json({"object": "list", "data": listed})


app = Starlette(
    routes=[
        Route("/v1/chat/completions", complete, methods=["POST"]),
        Route("/v1/models", models, methods=["GET"]),
    ]
)
