"""Chat models behind an OpenAI-compatible endpoint, the offline ones included.

One attempt a call: retrying is the run's business, so that every call is counted. The offline
models are reached through the same client over an in-process transport.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import openai

from evaluations.engine.errors import Code, failure
from evaluations.engine.types import ChatModel, Completion, Failure, ModelSettings

OPENAI_URL = "https://api.openai.com/v1"
OFFLINE_URL = "http://offline.invalid/v1"
_CREDIT_WORDS = ("insufficient_quota", "billing", "credit", "balance", "payment")
_FILTER_WORDS = ("content_filter", "content_policy", "content management policy", "safety")
_MEDIA = re.compile(r"<media-([0-9a-f]{8,})>(data:[^<\s]+)</media-\1>")


class OpenAIChatModel:
    """``settings`` as sent; ``transport`` replaces the network, as for the offline models."""

    def __init__(
        self, settings: ModelSettings, *, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self.settings = settings
        self._http = httpx2.AsyncClient(
            transport=transport,
            timeout=httpx2.Timeout(settings.timeout, connect=min(settings.timeout, 20.0)),
            limits=httpx2.Limits(max_connections=256, max_keepalive_connections=64),
        )
        self._client = openai.AsyncOpenAI(
            api_key=settings.api_key.reveal if settings.api_key else "none",
            base_url=OFFLINE_URL if _in_process(settings) else settings.base_url,
            max_retries=0,
            timeout=settings.timeout,
            http_client=self._http,
        )

    async def complete(self, prompt: str) -> Completion:
        started = time.perf_counter()
        try:
            # The typed method walks all parameters and the reply, at half a millisecond a call, and
            # trusts the reply's shape, which compatible servers do not keep.
            reply: object = await self._client.post(
                "/chat/completions", body=self._body(prompt), cast_to=object
            )
        except openai.OpenAIError as error:
            return Completion(failure=_failure(error), latency=time.perf_counter() - started)
        except ValueError:  # a reply that calls itself JSON and is not
            return Completion(failure=_no_completion(), latency=time.perf_counter() - started)
        return _completion(_mapping(reply), latency=time.perf_counter() - started)

    def _body(self, prompt: str) -> dict[str, Any]:
        content = prompt if self.settings.offline else message_content(prompt)
        return {
            "model": self.settings.name,
            "messages": [{"role": "user", "content": content}],
            "max_completion_tokens": self.settings.max_output_tokens,
            "temperature": self.settings.temperature,
            "seed": self.settings.seed,
        }

    async def aclose(self) -> None:
        await self._client.close()


def message_content(prompt: str) -> str | list[dict[str, Any]]:
    """A prompt as a chat message: its inline media become parts, where a provider has a part for them."""
    parts: list[dict[str, Any]] = []
    position = 0
    for match in _MEDIA.finditer(prompt):
        part = _media_part(match.group(2))
        if part is None:
            continue
        parts += [{"type": "text", "text": prompt[position : match.start()]}, part]
        position = match.end()
    return [*parts, {"type": "text", "text": prompt[position:]}] if parts else prompt


def _media_part(uri: str) -> dict[str, Any] | None:
    header, _, data = uri.partition(",")
    kind = header.removeprefix("data:").split(";")[0]
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": uri}}
    if kind in ("audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"):
        name = "wav" if kind.endswith("wav") else "mp3"
        return {"type": "input_audio", "input_audio": {"data": data, "format": name}}
    return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _completion(reply: Mapping[str, Any], *, latency: float) -> Completion:
    choices = reply.get("choices")
    choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message, usage = _mapping(choice.get("message")), _mapping(reply.get("usage"))
    finish = _text(choice.get("finish_reason")) or None
    failed = _reply_failure(finish, refusal=bool(message.get("refusal"))) if message else _no_completion()
    return Completion(
        text=_text(message.get("content")),
        model=_text(reply.get("model")),
        fingerprint=_text(reply.get("system_fingerprint")) or None,
        finish_reason=finish,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        latency=latency,
        failure=failed,
    )


def _no_completion() -> Failure:
    return _fail(Code.MODEL_OUTAGE, "The provider's reply is no chat completion.", retryable=True)


def _reply_failure(finish: str | None, *, refusal: bool) -> Failure | None:
    if finish == "length":
        return _fail(Code.MODEL_TRUNCATED, "The model stopped at its output limit.", retryable=True)
    if finish == "content_filter" or refusal:
        return _fail(Code.MODEL_REFUSED, "The provider's content filter refused the call.", retryable=True)
    return None


def _failure(error: openai.OpenAIError) -> Failure:
    """One code for what went wrong at the provider. All may be tried again: a person may repair them."""
    if isinstance(error, openai.APIStatusError):
        return _status_failure(error)
    if isinstance(error, openai.APITimeoutError):
        return _fail(Code.MODEL_OUTAGE, "The provider did not answer in time.", retryable=True)
    if isinstance(error, openai.APIConnectionError):
        return _fail(Code.MODEL_OUTAGE, "The provider could not be reached.", retryable=True, reached=False)
    return _no_completion()


def _status_failure(error: openai.APIStatusError) -> Failure:
    status, said = error.status_code, f"{error.code or ''} {error.type or ''} {error.message}".lower()
    fields: dict[str, Any] = {"status": status, "retry_after": _retry_after(error.response)}
    if status == 402 or (status in (403, 429) and any(word in said for word in _CREDIT_WORDS)):
        return _fail(Code.MODEL_CREDIT, "The provider says that the account is out of credit.", **fields)
    if status in (400, 403, 422) and any(word in said for word in _FILTER_WORDS):
        return _fail(Code.MODEL_REFUSED, "The provider's content filter refused the call.", **fields)
    if status in (401, 403):
        return _fail(Code.MODEL_CREDIT, f"The provider refused our credential ({status}).", **fields)
    lasting = status in (400, 404, 413, 422)
    sentence = f"The provider answered {status}."
    return _fail(Code.MODEL_OUTAGE, sentence, **{**fields, "retryable": not lasting})


def _retry_after(response: httpx2.Response) -> float | None:
    try:
        return max(float(response.headers.get("retry-after", "")), 0.0)
    except ValueError:
        return None


def _fail(code: Code, sentence: str, *, retryable: bool = True, **fields: Any) -> Failure:
    return failure(code, sentence=sentence, retryable=retryable, **fields)


def _offline_transport() -> httpx2.AsyncBaseTransport:
    # Imported here: a run against a provider needs neither the server nor the offline models.
    from evaluations.engine.offline.app import app

    return httpx2.ASGITransport(app=app)


def build_model(
    settings: ModelSettings,
    *,
    offline_transport: Callable[[], httpx2.AsyncBaseTransport] = _offline_transport,
) -> ChatModel:
    """A model for one role. Without a ``base_url`` an offline one runs in this process, and any other goes
    to the address that the ``openai`` library has by itself."""
    return OpenAIChatModel(settings, transport=offline_transport() if _in_process(settings) else None)


def _in_process(settings: ModelSettings) -> bool:
    return settings.offline and settings.base_url is None
