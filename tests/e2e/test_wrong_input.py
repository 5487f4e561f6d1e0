"""Wrong input at each form gets a clear refusal and changes nothing; two clicks at once make one object."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from aml.web.models import User
from evaluations.services import statements
from registration.types import DIVISION_FIELDS, Division
from tests.e2e.forms import FORMS, Form, rows

NEEDED: dict[str, tuple[str, ...]] = {
    "participant": ("name", "kind"),
    "registration": ("participant", "division", "statement"),
    "entry": (
        "name", "description", "tracks", "label", "add_url", "search_url", "auth_scheme", "memory_key",
        "add_concurrency", "search_concurrency", "runtime_environment", "models_and_dependencies",
        "documentation", "contact", *DIVISION_FIELDS[Division.OPEN_SOURCE],
    ),
    "version": ("label", "add_url", "search_url", "memory_key", "repository", "commit"),
    "smoke": ("label", "add", "search"),
    "full": ("label", "add", "search", *statements.IDS),
    "decision": ("verdict", "checklist", "reason"),
    "material": ("text",),
}  # fmt: skip
URLS = ("add_url", "search_url", "health_url", "status_url", "repository")
WRONG_SCHEMES = (
    "ftp://memory.example.com/add",
    "javascript:alert(1)",
    "memory.example.com/add",
    "//x.example/",
)
PRIVATE = (
    "https://127.0.0.1/add", "https://10.1.2.3/add", "https://192.168.0.9:8443/add", "https://[::1]/add",
    "https://169.254.169.254/latest", "https://localhost/add", "http://memory.example.com/add",
    "https://2130706433/add", "https://[::ffff:10.0.0.1]/add",
)  # fmt: skip


def sent(form: Form, *, field: str, **changed: Any) -> str:
    """The refused page, after a look that nothing was written; the error stands at ``field``."""
    before = rows()
    reply = form.send(**changed)
    page: str = reply.content.decode()
    assert reply.status_code == 422, page
    assert rows() == before
    assert "error-summary" in page
    assert f'href="#id_{field}' in page, page[page.index("error-summary") :][:800]
    return page


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "field"), [(name, field) for name in NEEDED for field in NEEDED[name]])
def test_a_missing_field_is_named_and_nothing_is_written(name: str, field: str) -> None:
    sent(FORMS[name](), field=field, **{field: None})


@pytest.mark.django_db
@pytest.mark.parametrize("url", WRONG_SCHEMES)
@pytest.mark.parametrize("field", URLS)
def test_a_wrong_scheme_is_named_and_what_was_typed_stays(field: str, url: str) -> None:
    page = sent(FORMS["entry"](), field=field, **{field: url})
    assert f'value="{url}"' in page


@pytest.mark.django_db
@pytest.mark.parametrize("url", PRIVATE)
@pytest.mark.parametrize("name", ["entry", "version"])
def test_production_takes_no_private_address(name: str, url: str, settings: Settings) -> None:
    settings.ALLOW_PRIVATE_ENDPOINTS = False
    sent(FORMS[name](), field="add_url", add_url=url)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["check", "key"])
def test_a_button_without_its_fields_makes_nothing(name: str) -> None:
    form, before = FORMS[name](), rows()
    reply = form.send(track="music") if name == "check" else Client().post(form.path, {"nonce": "x" * 9})
    assert reply.status_code in (302, 400)
    assert rows() == before


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value"), [("email", ""), ("email", "nobody"), ("password1", ""), ("password1", "short")]
)
def test_a_wrong_sign_up_makes_no_account(field: str, value: str) -> None:
    values = {"email": "new@example.org", "password1": "a-long-enough-phrase", field: value}
    reply = Client().post(reverse("account_signup"), values)
    assert "error-summary" in reply.content.decode()
    assert not User.objects.exists()
    assert mail.outbox == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
@pytest.mark.parametrize("name", FORMS)
def test_two_clicks_at_once_make_one_object(name: str) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("needs DATABASE_URL of a PostgreSQL server")
    form = FORMS[name]()
    before = form.makes.objects.count()
    first, second = at_once(form)
    assert form.makes.objects.count() == before + 1
    assert (first.status_code, first.get("Location")) == (second.status_code, second.get("Location"))
    assert first.status_code == (200 if name == "key" else 302)


def at_once(form: Form) -> list[Any]:
    start = Barrier(2)

    def click(_number: int) -> Any:
        try:
            start.wait()
            return form.send()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(click, range(2)))
