from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from evaluations.reference.app import create_app
from evaluations.reference.faults import FAULTS, describe
from tests.reference.serving import KEY, running

ADD: dict[str, Any] = {
    "request_id": "aml:r",
    "user_id": "aml:u",
    "session_id": "aml:s",
    "messages": [{"role": "user", "content": "A heron.", "timestamp": 1_683_540_000_000}],
}
SEARCH: dict[str, Any] = {"query": "heron", "user_id": "aml:u", "top_k": 5}


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    with running() as url, httpx2.Client(base_url=url) as client:
        yield client


@contextlib.contextmanager
def guarded() -> Iterator[httpx2.Client]:
    with running(key=KEY) as url, httpx2.Client(base_url=url) as client:
        yield client


def test_add_echoes_the_ids(client: httpx2.Client) -> None:
    ids = {"request_id": "aml:r", "user_id": "aml:u", "session_id": "aml:s"}
    assert client.post("/add", json=ADD).json() == {"success": True} | ids


def test_search_returns_items_of_the_contract(client: httpx2.Client) -> None:
    client.post("/add", json=ADD)
    (item,) = client.post("/search", json=SEARCH).json()["data"]
    assert item.pop("score") != 0
    assert item == {"id": "m-1-0", "content": "A heron.", "created_at": "2023-05-08T10:00:00Z"}


def test_an_unknown_user_gets_an_empty_list(client: httpx2.Client) -> None:
    assert client.post("/search", json=SEARCH).json() == {"data": []}


def test_the_same_id_with_another_body_is_409(client: httpx2.Client) -> None:
    client.post("/add", json=ADD)
    assert client.post("/add", json=ADD).status_code == 200
    assert client.post("/add", json=ADD | {"session_id": "other"}).status_code == 409


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/add", ADD | {"request_id": ""}, "/request_id"),
        ("/add", ADD | {"user_id": None}, "/user_id"),
        ("/add", ADD | {"extra": 1}, "/extra"),
        ("/add", ADD | {"messages": []}, "/messages"),
        ("/add", ADD | {"messages": [{"role": "system", "content": "x"}]}, "/messages/0/role"),
        ("/add", ADD | {"messages": [{"role": "user", "content": " "}]}, "/messages/0/content"),
        ("/add", ADD | {"messages": [{"role": "user", "content": "x", "timestamp": None}]}, "timestamp"),
        ("/add", ADD | {"messages": [{"role": "user", "content": [{"type": "pdf"}]}]}, "content/0/type"),
        ("/search", SEARCH | {"top_k": True}, "/top_k"),
        ("/search", SEARCH | {"query": ""}, "/query"),
        ("/search", SEARCH | {"options": "A"}, "/options"),
    ],
)
def test_a_body_that_breaks_the_contract_is_422(
    client: httpx2.Client, path: str, body: dict[str, Any], where: str
) -> None:
    reply = client.post(path, json=body)
    assert reply.status_code == 422
    assert where in reply.json()["detail"]


def test_a_body_that_is_not_json_is_422(client: httpx2.Client) -> None:
    assert client.post("/add", content=b"{'a': 1}").status_code == 422


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"Token {KEY}"},
        {"X-Api-Key": KEY},
    ],
)
def test_the_right_key_is_taken_in_three_forms(headers: dict[str, str]) -> None:
    with guarded() as client:
        assert client.post("/search", json=SEARCH, headers=headers).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer no"}, {"Authorization": f"Basic {KEY}"}])
def test_any_other_is_401(headers: dict[str, str]) -> None:
    with guarded() as client:
        assert client.post("/add", json=ADD, headers=headers).status_code == 401
        assert client.get("/health").status_code == 200


def test_the_service_remembers_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        with running(path=tmp_path / "m.db") as url, httpx2.Client(base_url=url) as client:
            client.post("/add", json=ADD)
            assert len(client.post("/search", json=SEARCH).json()["data"]) == 1


def test_an_unknown_fault_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match="rate-limit"):
        create_app(None, faults={"gremlins"})


def test_every_fault_says_what_it_does() -> None:
    assert all(text.endswith(".") for text in describe().values())
    assert {"slow", "flaky", "rate-limit", "leak", "forgets", "stale", "down"} <= set(FAULTS)


def test_a_reply_is_utf_8_json(client: httpx2.Client) -> None:
    client.post("/add", json=ADD | {"messages": [{"role": "user", "content": "雪球 🎉"}]})
    raw = client.post("/search", json=SEARCH | {"query": "雪球"}).content
    assert json.loads(raw.decode())["data"][0]["content"] == "雪球 🎉"
