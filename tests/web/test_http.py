"""ETags: whoever has the answer gets a 304, whatever form the header takes."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from aml.web.http import tagged


def answer(text: str = "text", *, known: str = "") -> HttpResponse:
    headers = {"If-None-Match": known} if known else {}
    response = HttpResponse(text, headers={"Cache-Control": "private, no-cache"})
    return tagged(RequestFactory().get("/", headers=headers), response)


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
def test_a_reader_who_has_the_answer_gets_a_304(form: str) -> None:
    tag = answer()["ETag"]
    again = answer(known=form.format(tag))
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    assert again["Cache-Control"] == "private, no-cache"


def test_another_answer_has_another_tag_and_is_sent() -> None:
    response = answer("new", known=answer("old")["ETag"])
    assert (response.status_code, response.content) == (200, b"new")
