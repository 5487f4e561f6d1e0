"""The API guide is made from the code's own tables, and every error leads to its line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from aml.pages.guide import ADD_REPLY, ADD_REQUEST, SEARCH_REPLY, SEARCH_REQUEST, shown_limit
from aml.pages.refusals import REFUSALS
from aml.web.errors import doc_url
from evaluations.engine.contract import Limits
from evaluations.engine.errors import Code
from evaluations.engine.wire import WireAdd, WireAddReply, WireSearch, WireSearchReply
from tests.factories import make_cycle

ROOT = Path(__file__).parents[2]
#: Refusals that no API call can meet: the organiser's, and those of pages.
PEOPLE_ONLY = (
    "evaluations/services/contracts.py",
    "evaluations/services/baselines.py",
    "evaluations/views",
    "evaluations/admin",
)


@pytest.mark.django_db
def test_every_error_code_has_its_line(client: Client) -> None:
    text = client.get("/api-guide/").content.decode()
    assert [code for code in Code if f'id="error-{code}"' not in text] == []


@pytest.mark.django_db
def test_an_errors_address_leads_to_its_line(client: Client) -> None:
    page, _, anchor = doc_url("cooldown").partition("#")
    assert f'id="{anchor}"' in client.get(page).content.decode()


def test_every_code_that_the_api_refuses_with_is_explained() -> None:
    known = {one.code for one in REFUSALS}
    assert {code for code in _refusal_codes() if code not in known} == set()


def test_no_code_is_explained_twice() -> None:
    codes = [one.code for one in REFUSALS]
    assert len(codes) == len(set(codes))


def test_the_examples_are_what_travels() -> None:
    WireAdd.model_validate(ADD_REQUEST)
    WireAddReply.model_validate(ADD_REPLY)
    WireSearch.model_validate(SEARCH_REQUEST)
    WireSearchReply.model_validate(SEARCH_REPLY)


@pytest.mark.django_db
def test_the_guide_shows_the_limits_of_the_cycle(client: Client) -> None:
    make_cycle(limits={"search_attempts": 9})
    shown = {limit["name"]: limit["value"] for limit in client.get("/api-guide/").context["limits"]}
    assert shown.keys() > Limits.model_fields.keys()
    assert (shown["search_attempts"], shown["add_attempts"]) == (9, 32)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8 * 1024**2, "bytes", "8 MiB"),
        (1000, "bytes", "1,000 B"),
        (1800.0, "seconds", "30 min"),
        (0.5, "seconds", "0.5 s"),
        (100_000, None, "100,000"),
        (1.1, None, "1.1"),
    ],
)
def test_a_limit_is_shown_in_words(value: float, unit: str | None, text: str) -> None:
    assert shown_limit({"value": value, "unit": unit}) == text


def _refusal_codes() -> Iterator[str]:
    """First arguments of ``Refusal(…)`` and ``no(…)``, ``code=`` of ``FieldRefusal(…)``, in the API's rooms."""
    for room in ("registration", "evaluations", "leaderboard", "aml"):
        for path in (ROOT / room).rglob("*.py"):
            if not str(path.relative_to(ROOT)).startswith(PEOPLE_ONLY):
                yield from _codes_in(path)


def _codes_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id in ("Refusal", "no") and node.args:
            yield from _text(node.args[0])
        if node.func.id == "FieldRefusal":
            yield from (code for word in node.keywords if word.arg == "code" for code in _text(word.value))


def _text(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
