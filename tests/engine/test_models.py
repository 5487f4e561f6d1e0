"""The chat client: the offline models in process, and a provider's failures as codes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import httpx2
import pytest

from evaluations.engine.answering import render_answer_prompt
from evaluations.engine.errors import Code
from evaluations.engine.models import OpenAIChatModel, build_model, message_content
from evaluations.engine.offline import ANSWER_MODEL, JUDGE_MODEL, MODELS, REVISION
from evaluations.engine.offline.app import app
from evaluations.engine.prompts import ANSWER_TEMPLATE
from evaluations.engine.types import Completion, Fault, ModelSettings, Secret
from tests.engine.builders import NONCE, memories, question

PROVIDER = ModelSettings(name="gpt-x", base_url="https://provider.example/v1", api_key=Secret("sk-1"))


def complete(handler: Callable[[httpx2.Request], httpx2.Response], prompt: str = "Hi") -> Completion:
    async def run() -> Completion:
        model = OpenAIChatModel(PROVIDER, transport=httpx2.MockTransport(handler))
        try:
            return await model.complete(prompt)
        finally:
            await model.aclose()

    return asyncio.run(run())


def reply(content: str | None = "Oslo", *, finish: str = "stop", **fields: object) -> httpx2.Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "gpt-x-0613", "choices": [choice],
            "usage": usage, "system_fingerprint": "fp"}  # fmt: skip
    return httpx2.Response(200, json={**body, **fields})


def refusal(status: int, *, code: str = "", headers: dict[str, str] | None = None) -> httpx2.Response:
    return httpx2.Response(status, json={"error": {"message": "no", "code": code}}, headers=headers)


def test_a_completion_tells_text_model_fingerprint_and_usage() -> None:
    found = complete(lambda request: reply())
    assert (found.text, found.model, found.fingerprint, found.finish_reason) == (
        "Oslo",
        "gpt-x-0613",
        "fp",
        "stop",
    )
    assert (found.prompt_tokens, found.completion_tokens, found.failure) == (7, 1, None)


def test_one_user_message_goes_out_once_with_the_parameters() -> None:
    sent: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return refusal(500)

    complete(handler)
    body = json.loads(sent[0].content)
    assert len(sent) == 1
    assert body["messages"] == [{"role": "user", "content": "Hi"}]
    assert (body["model"], body["temperature"], body["seed"]) == ("gpt-x", 0.0, 7)
    assert sent[0].headers["authorization"] == "Bearer sk-1"


@pytest.mark.parametrize(
    ("response", "code", "retryable"),
    [
        (refusal(500), Code.MODEL_OUTAGE, True),
        (refusal(503), Code.MODEL_OUTAGE, True),
        (refusal(429), Code.MODEL_OUTAGE, True),
        (refusal(404, code="model_not_found"), Code.MODEL_OUTAGE, False),
        (refusal(429, code="insufficient_quota"), Code.MODEL_CREDIT, True),
        (refusal(402), Code.MODEL_CREDIT, True),
        (refusal(401), Code.MODEL_CREDIT, True),
        (refusal(400, code="content_filter"), Code.MODEL_REFUSED, True),
        (reply("", finish="content_filter"), Code.MODEL_REFUSED, True),
        (reply("Os", finish="length"), Code.MODEL_TRUNCATED, True),
        (reply(choices=None), Code.MODEL_OUTAGE, True),
        (httpx2.Response(200, text="<html>"), Code.MODEL_OUTAGE, True),
        (
            httpx2.Response(200, content=b"{", headers={"content-type": "application/json"}),
            Code.MODEL_OUTAGE,
            True,
        ),
        (httpx2.Response(200, json={"choices": [{}]}), Code.MODEL_OUTAGE, True),
        (httpx2.Response(200, json=[1]), Code.MODEL_OUTAGE, True),
    ],
)
def test_what_goes_wrong_at_the_provider_has_a_code(
    response: httpx2.Response, code: Code, retryable: bool
) -> None:
    failure = complete(lambda request: response).failure
    assert failure is not None
    assert (failure.code, failure.retryable, failure.fault) == (code, retryable, Fault.PROVIDER)


def test_retry_after_is_kept() -> None:
    failure = complete(lambda request: refusal(429, headers={"retry-after": "3"})).failure
    assert failure is not None
    assert (failure.status, failure.retry_after) == (429, 3.0)


def test_no_connection_is_an_outage_that_reached_nobody() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    failure = complete(handler).failure
    assert failure is not None
    assert (failure.code, failure.reached) == (Code.MODEL_OUTAGE, False)


def test_inline_media_become_parts() -> None:
    uri = "data:image/png;base64,AAAA"
    content = message_content(f"Look: <media-{NONCE}>{uri}</media-{NONCE}> end")
    assert isinstance(content, list)
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert message_content("plain") == "plain"


def answer_prompt(*contents: str) -> str:
    return render_answer_prompt(
        template=ANSWER_TEMPLATE, question=question(), items=memories(*contents), budget=9_000, nonce=NONCE
    ).text


def test_the_offline_model_answers_in_process_over_the_same_client() -> None:
    async def run() -> Completion:
        model = build_model(ModelSettings(name=ANSWER_MODEL))
        return await model.complete(answer_prompt("Leo: I live in Oslo."))

    found = asyncio.run(run())
    assert (found.text, found.model) == ("<answer>Oslo</answer>", ANSWER_MODEL)
    assert found.fingerprint == f"offline-{REVISION}"
    assert found.prompt_tokens > 100


def test_a_real_model_without_an_address_goes_to_the_librarys_own() -> None:
    model = build_model(ModelSettings(name="gpt-4.1-mini", api_key=Secret("sk-1")))
    assert isinstance(model, OpenAIChatModel)
    assert str(model._client.base_url) == "https://api.openai.com/v1/"


def post(body: object, path: str = "/v1/chat/completions") -> httpx2.Response:
    async def run() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://t") as client:
            return await client.post(
                path, content=body if isinstance(body, bytes) else json.dumps(body).encode()
            )

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), ([], 404), ({"model": "gpt-x"}, 404), ({"model": JUDGE_MODEL, "messages": []}, 400)],
)
def test_the_server_refuses_what_it_can_not_read(body: object, status: int) -> None:
    response = post(body)
    assert (response.status_code, "error" in response.json()) == (status, True)


def test_the_server_stops_at_the_output_limit() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": answer_prompt("Leo: I live in Oslo.")}]}
    ]
    choice = post({"model": ANSWER_MODEL, "messages": messages, "max_tokens": 2}).json()["choices"][0]
    assert choice["finish_reason"] == "length"


def test_the_server_lists_its_models() -> None:
    async def run() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://t") as client:
            return await client.get("/v1/models")

    assert [model["id"] for model in asyncio.run(run()).json()["data"]] == list(MODELS)
