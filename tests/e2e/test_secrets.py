"""After the whole way, by pages and by API: no secret and nothing private is anywhere it does not belong."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping

import pytest

from tests.e2e.api_way import ApiWay
from tests.e2e.browser_way import BOARD, BrowserWay
from tests.e2e.crawl import archive_text, crawl
from tests.e2e.stage import MEMORY_KEY, Stage

pytestmark = [pytest.mark.browser, pytest.mark.celery, pytest.mark.postgres]

Texts = Mapping[str, str]


@pytest.fixture(scope="module")
def secrets(browser_way: BrowserWay, api_way: ApiWay) -> list[str]:
    """Secret parts of keys, of both ways."""
    keys = (browser_way.key, api_way.own["key"], api_way.other["key"])
    return [MEMORY_KEY, *(key.split("_")[3] for key in keys)]


@pytest.fixture(scope="module")
def private(stage: Stage) -> list[str]:
    """Questions, golds and messages of the Full's pack."""
    found: list[str] = stage.ground("private")
    assert len(found) > 250
    return found


@pytest.fixture(scope="module")
def visited(browser_way: BrowserWay) -> Texts:
    """What a visitor reaches, in both languages."""
    site = browser_way.stage.site
    pages = crawl(site, start=["/", "/api/v1/contract", "/api/v1/cycles/current", "/api/v1/audit"])
    with browser_way.stage.api() as visitor:
        chinese = {path: visitor.get(f"{site}/zh-hans{path}").text for path in ("/", BOARD, "/rules/")}
    return pages | chinese


@pytest.fixture(scope="module")
def own(browser_way: BrowserWay) -> Texts:
    """What the participant reaches."""
    cookies = {one["name"]: one["value"] for one in browser_way.stranger.context.cookies()}
    pages = crawl(browser_way.stage.site, start=["/evaluation/"], cookies=cookies)
    seen = {f"seen: {name}": text for name, text in browser_way.saw.items() if name not in REVIEWERS_ONLY}
    return pages | seen | browser_way.files


REVIEWERS_ONLY = ("queue 1", "case 1", "decided 1", "queue 2", "case 2", "decided 2")


@pytest.fixture(scope="module")
def replies(api_way: ApiWay) -> Texts:
    """What the API answered, the public bundle unpacked."""
    found = {
        name: f"{reply.headers}\n{reply.text}" for name, reply in api_way.replies.items() if name != "bundle"
    }
    found["states"] = json.dumps([api_way.seen, api_way.events], ensure_ascii=False)
    return found | {"bundle": archive_text(api_way.replies["bundle"].content)}


@pytest.fixture(scope="module")
def printed(stage: Stage, browser_way: BrowserWay, api_way: ApiWay) -> Texts:
    """Mails and logs."""
    stage.ground("send_mails")
    return {"mails": stage.mails(), **stage.logs()}


@pytest.fixture(scope="module")
def stored(stage: Stage, browser_way: BrowserWay, api_way: ApiWay) -> Texts:
    """Every column that can hold text, and every stored body, as plain text."""
    columns = stage.sql("""
        SELECT table_name, column_name, data_type FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY')
    """)
    found = {
        f"{table}.{column}": "\n".join(_values(stage, table, column, kind)) for table, column, kind in columns
    }
    bodies = [path for path in (stage.folder / "bodies").rglob("*") if path.is_file()]
    assert bodies
    return found | {str(path): _unpacked(path.read_bytes()) for path in bodies}


def _values(stage: Stage, table: str, column: str, kind: str) -> Iterator[str]:
    cast = f'"{column}"' if kind == "bytea" else f'"{column}"::text'
    for (value,) in stage.sql(f'SELECT {cast} FROM "{table}" WHERE "{column}" IS NOT NULL'):  # noqa: S608 - names of the catalogue
        yield _unpacked(bytes(value)) if kind == "bytea" else value


def _unpacked(data: bytes) -> str:
    with contextlib.suppress(zlib.error):  # what is not compressed is text already
        data = zlib.decompress(data)
    return data.decode(errors="replace")


def leaks(texts: Texts, needles: Iterable[str]) -> list[str]:
    """Where which needle stands, also as JSON would escape it."""
    forms = {needle: {needle, json.dumps(needle)[1:-1]} for needle in needles}
    return [
        f"{name}: {needle}"
        for name, text in texts.items()
        for needle, ways in forms.items()
        if any(way in text for way in ways)
    ]


def test_the_crawls_came_far(visited: Texts, own: Texts) -> None:
    assert {"/rules/", BOARD, "/audit/", "/api-guide/", "/accounts/signup/"} <= visited.keys()
    assert any(path.endswith("/bundle.zip") for path in own)
    assert any(path.endswith("/exchanges/") for path in own)
    assert any(path.endswith("results.csv") for path in own)


def test_visitors_see_no_secret_and_nothing_private(
    visited: Texts, secrets: list[str], private: list[str]
) -> None:
    assert leaks(visited, secrets + private) == []


def test_a_participant_sees_nothing_private_and_no_secret_again(
    own: Texts, secrets: list[str], private: list[str]
) -> None:
    pages = {name: text for name, text in own.items() if name != "seen: key"}
    assert leaks(pages, secrets + private) == []


def test_reviewers_see_no_key(browser_way: BrowserWay, secrets: list[str]) -> None:
    assert leaks({name: browser_way.saw[name] for name in REVIEWERS_ONLY}, secrets) == []


def test_the_api_answers_no_secret_and_nothing_private(
    replies: Texts, secrets: list[str], private: list[str]
) -> None:
    assert leaks(replies, secrets + private) == []


def test_no_mail_and_no_log_holds_a_secret_or_anything_private(
    printed: Texts, secrets: list[str], private: list[str]
) -> None:
    assert {"mails", "site", "worker", "beat", "memory"} <= printed.keys()
    assert "Subject:" in printed["mails"]
    assert leaks(printed, secrets + private) == []


def test_no_key_is_stored_as_plain_text(stored: Texts, secrets: list[str]) -> None:
    assert stored["registration_version.memory_key_encrypted"]
    assert leaks(stored, secrets) == []


def test_the_search_would_find_what_is_there(stored: Texts, private: list[str]) -> None:
    assert leaks(stored, private[:5])
