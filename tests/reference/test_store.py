from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from evaluations.reference.store import Outcome, Store

MAY_2023 = 1_683_540_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "memory.db")
    yield store
    store.close()


def put(
    store: Store, text: Any, *, request: str = "r", user: str = "u", session: str = "s", at: int | None = None
) -> Outcome:
    message = {"role": "user", "content": text} | ({} if at is None else {"timestamp": at})
    future = store.submit(request_id=request, user_id=user, session_id=session, messages=[message])
    return future.result(timeout=10)


def contents(store: Store, query: str, *, user: str = "u", top_k: int = 100) -> list[Any]:
    return [hit.content for hit in store.search_now(query=query, user_id=user, top_k=top_k)]


def test_what_was_added_is_found_at_once(store: Store) -> None:
    put(store, "My dog is called Rex.")
    assert contents(store, "What is the dog called?") == ["My dog is called Rex."]


def test_words_are_stemmed(store: Store) -> None:
    put(store, "She was painting boats.")
    assert contents(store, "painted boat") == ["She was painting boats."]


def test_another_users_messages_are_never_found(store: Store) -> None:
    put(store, "The code is 1234.", user="first")
    assert contents(store, "code 1234", user="second") == []


def test_ranking_does_not_depend_on_other_users(store: Store) -> None:
    put(store, "A red kite flew.", request="1")
    before = store.search_now(query="kite", user_id="u", top_k=5)
    put(store, "kite kite kite", request="2", user="other")
    assert store.search_now(query="kite", user_id="u", top_k=5) == before


def test_the_same_request_again_is_stored_once(store: Store) -> None:
    assert [put(store, "A heron.") for _ in range(3)] == ["stored", "replayed", "replayed"]
    assert contents(store, "heron") == ["A heron."]


def test_the_same_request_id_with_another_body_is_a_conflict(store: Store) -> None:
    put(store, "A heron.")
    assert put(store, "A stork.") is Outcome.CONFLICT
    assert contents(store, "stork") == []


def test_the_same_request_id_of_another_user_is_a_conflict(store: Store) -> None:
    put(store, "A heron.")
    assert put(store, "A heron.", user="other") is Outcome.CONFLICT


def test_memories_and_request_ids_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    first = Store(path)
    put(first, "A heron.")
    first.close()
    second = Store(path)
    assert put(second, "A heron.") is Outcome.REPLAYED
    assert contents(second, "heron") == ["A heron."]
    second.close()


def test_an_add_that_returned_is_on_the_disk(store: Store, tmp_path: Path) -> None:
    put(store, "A heron.")
    other = sqlite3.connect(tmp_path / "memory.db")
    assert other.execute("SELECT count(*) FROM adds").fetchone() == (1,)
    other.close()


def test_sixty_four_writers_meet_no_lock(store: Store) -> None:
    with ThreadPoolExecutor(64) as pool:
        jobs = [pool.submit(put, store, f"bird {n}", request=f"r{n}") for n in range(256)]
        wait(jobs)
    assert {job.result() for job in jobs} == {Outcome.STORED}
    assert len(contents(store, "bird", top_k=1_000)) == 256


def test_parallel_first_deliveries_are_stored_once(store: Store) -> None:
    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(lambda _: put(store, "A heron."), range(16)))
    assert sorted(outcomes) == ["replayed"] * 15 + ["stored"]


def test_top_k_is_obeyed(store: Store) -> None:
    for n in range(5):
        put(store, f"bird {n}", request=f"r{n}")
    assert len(contents(store, "bird", top_k=3)) == 3


def test_event_time_comes_back_and_arrival_time_never(store: Store) -> None:
    put(store, "bird one", request="1", at=MAY_2023)
    put(store, "bird two", request="2")
    put(store, "bird three", request="3", at=-315_619_200_000)
    dates = {hit.content: hit.created_at for hit in store.search_now(query="bird", user_id="u", top_k=9)}
    assert dates == {
        "bird one": "2023-05-08T10:00:00Z",
        "bird two": None,
        "bird three": "1960-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我的猫叫雪球，喜欢睡在窗台上。", "猫叫什么名字？"),
        ("私の猫は窓辺で眠ります", "猫はどこで眠る？"),
        ("내 고양이 이름은 눈송이야", "고양이 이름"),
        ("قطتي اسمها ياسمين", "اسمها قطتي"),
        ("मेरी बिल्ली का नाम चमेली है", "बिल्ली का नाम"),
        ("แมวของฉันชื่อหิมะ", "แมวชื่ออะไร"),
        ("party 🎉🦩 tomorrow", "🎉🦩"),
    ],
)
def test_scripts_are_searched(store: Store, text: str, query: str) -> None:
    put(store, text)
    assert contents(store, query) == [text]


def test_text_parts_are_indexed_and_come_back_as_given(store: Store) -> None:
    parts = [
        {"type": "text", "text": "A drawing of a heron."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    put(store, parts)
    assert contents(store, "heron") == [parts]
    assert contents(store, "base64") == []


def test_a_neighbour_of_the_session_helps_a_message_to_be_found(store: Store) -> None:
    put(store, "Which instrument do you play?", request="1")
    put(store, "The bassoon, since school.", request="2")
    assert "The bassoon, since school." in contents(store, "instrument play")


def test_a_neighbour_of_another_session_does_not(store: Store) -> None:
    put(store, "Which instrument do you play?", request="1", session="a")
    put(store, "The bassoon, since school.", request="2", session="b")
    assert "The bassoon, since school." not in contents(store, "instrument play")


@pytest.mark.parametrize("query", ['"', "* OR NEAR(", "a AND NOT b", "\0", "-", "???", "col:x"])
def test_no_query_is_an_error(store: Store, query: str) -> None:
    put(store, "A heron.")
    assert contents(store, query) == []


def test_an_evicted_index_is_built_again(store: Store) -> None:
    for n in range(140):
        put(store, f"bird {n}", request=f"r{n}", user=f"u{n}")
        contents(store, "bird", user=f"u{n}")
    assert contents(store, "bird", user="u0") == ["bird 0"]


def test_a_caller_that_gives_up_does_not_stop_the_writer(store: Store) -> None:
    async def give_up() -> None:
        message = {"role": "user", "content": "x"}
        call = store.add(request_id="1", user_id="u", session_id="s", messages=[message])
        task = asyncio.ensure_future(call)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(give_up())
    assert put(store, "still here", request="2") is Outcome.STORED
