"""The style gallery and the error pages, which must work when little else does."""

from __future__ import annotations

import re

import pytest
from django.http import Http404
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils.html import strip_tags
from pytest_django.fixtures import Settings

from aml.pages.gallery import gallery


def gallery_page() -> str:
    return gallery(RequestFactory().get("/gallery/")).content.decode()


def test_the_gallery_shows_every_component_without_a_database() -> None:
    page = gallery_page()
    for part in (
        "board",
        "stepper",
        "timeline",
        "progress",
        "check",
        "secret",
        "statements",
        "notice",
        "empty",
    ):
        assert f'class="{part}' in page, part
    assert "None" not in strip_tags(page)


def test_ids_on_the_gallery_are_unique() -> None:
    ids = re.findall(r'\sid="([^"]+)"', gallery_page())
    assert sorted(ids) == sorted(set(ids))


def test_rows_that_cannot_be_told_apart_share_one_bracket() -> None:
    table = gallery_page().split('<table class="board">')[1].split("</table>")[0]
    assert table.count("board__bracket-first") == 1
    assert table.count("board__bracket-last") == 1
    assert len(re.findall(r"board__bracket[ \"]", table)) == 3


def test_a_baseline_has_no_rank() -> None:
    table = gallery_page().split('<table class="board">')[1].split("</table>")[0]
    assert table.count("<strong>") == 5
    assert table.count("board__baseline") == 3


def test_the_gallery_is_not_served_in_production(settings: Settings) -> None:
    settings.PRODUCTION = True
    settings.DEBUG = False
    with pytest.raises(Http404):
        gallery(RequestFactory().get("/gallery/"))


@pytest.mark.parametrize("name", ["400.html", "403.html", "403_csrf.html", "404.html", "500.html"])
def test_an_error_page_needs_no_request(name: str) -> None:
    page = render_to_string(name)
    assert "<h1>" in page
    assert name[:3] in page
