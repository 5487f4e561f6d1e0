"""What a participant may write, by table."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from registration.models import Cycle
from registration.services import rules
from tests.factories import COMMIT, version_values


def problems(division: str = "open-source", *, has_memory_key: bool = True, **changed: Any) -> rules.Problems:
    values = rules.normalised({**version_values(division), **changed})
    setting = rules.Setting(division=division, cycle=Cycle(), has_memory_key=has_memory_key)
    return rules.version_problems(values, setting)


@pytest.fixture(autouse=True)
def _production_addresses(settings: Settings) -> None:
    settings.ALLOW_PRIVATE_ENDPOINTS = False


@pytest.mark.parametrize("division", ["open-source", "commercial"])
def test_complete_values_have_no_problem(division: str) -> None:
    assert problems(division) == {}


@pytest.mark.parametrize(
    "field",
    [
        "label", "add_url", "search_url", "runtime_environment", "documentation", "models_and_dependencies",
        "contact", "repository", "commit", "original_authors", "provenance", "changes", "licence",
        "implementation_notes",
    ],
)  # fmt: skip
def test_an_empty_required_field_of_open_source_is_named(field: str) -> None:
    assert list(problems(**dict[str, Any]({field: "  "}))) == [field]


@pytest.mark.parametrize("field", ["product_version", "capacity_statement"])
def test_an_empty_required_field_of_commercial_is_named(field: str) -> None:
    assert list(problems("commercial", **dict[str, Any]({field: ""}))) == [field]


def test_empty_models_are_told_of_the_word_none() -> None:
    assert "none" in problems(models_and_dependencies="")["models_and_dependencies"][0]


def test_a_field_of_the_other_division_is_refused() -> None:
    assert list(problems(product_version="1")) == ["product_version"]


@pytest.mark.parametrize(
    "url",
    [
        "http://memory.example.com/add", "ftp://memory.example.com/add", "memory.example.com/add",
        "https://user:pass@memory.example.com/add", "https://memory.example.com/add#part", "https://10.0.0.1/add",
        "https://127.0.0.1/add", "https://localhost/add", "https://[::1]/add", "https://[::ffff:10.0.0.1]/add",
        "https://169.254.169.254/add", "https://2130706433/add", "https://0x7f.1/add", "https://a b/add",
        "https://memory.example.com:99999/add", "https:///add", "https://пример.example/add",
        "javascript:alert(1)", "https://metadata.google.internal/add",
    ],
)  # fmt: skip
def test_an_address_that_may_not_be_called_is_refused_in_production(url: str) -> None:
    assert list(problems(add_url=url)) == ["add_url"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/add", "http://memory:80/add", "https://10.0.0.1/add"])
def test_private_addresses_pass_where_the_installation_allows_them(url: str, settings: Settings) -> None:
    settings.ALLOW_PRIVATE_ENDPOINTS = True
    assert problems(add_url=url) == {}


def test_plain_http_passes_where_the_cycle_allows_it() -> None:
    values = version_values() | {"add_url": "http://memory.example.com/add"}
    setting = rules.Setting(division="open-source", cycle=Cycle(allow_plain_http=True), has_memory_key=True)
    assert rules.version_problems(values, setting) == {}


@pytest.mark.parametrize(
    "url",
    [
        "https://memory.example.com/status",
        "https://memory.example.com/{task_id}/{task_id}",
        "https://other.example.com/status/{task_id}",
        "https://memory.example.com:8443/status/{task_id}",
        "https://{task_id}.example.com/status",
    ],
)
def test_a_status_url_holds_the_task_id_once_on_the_origin_of_add(url: str) -> None:
    assert list(problems(status_url=url)) == ["status_url"]


@pytest.mark.parametrize(
    "url",
    ["https://memory.example.com/status/{task_id}", "https://memory.example.com:443/status?id={task_id}"],
)
def test_a_good_status_url_passes(url: str) -> None:
    assert problems(status_url=url) == {}


@pytest.mark.parametrize("text", ["a\x00b", "a\u202eb", "a\u2066b", "a\x07b", "a\u200bb", "\ud800", "a\nb"])
def test_hidden_and_control_characters_in_a_name_are_refused(text: str) -> None:
    assert list(problems(label=text)) == ["label"]


def test_prose_may_hold_lines_but_no_overrides() -> None:
    assert problems(documentation="one\r\ntwo\tthree") == {}
    assert list(problems(documentation="one \u202e two")) == ["documentation"]


@pytest.mark.parametrize(
    ("field", "length"),
    [("label", 60), ("runtime_environment", 4000), ("implementation_notes", 8000), ("add_url", 500)],
)
def test_a_text_that_is_too_long_names_both_lengths(field: str, length: int) -> None:
    found = problems(**dict[str, Any]({field: "https://a.example/" + "x" * length}))
    assert list(found) == [field]
    assert str(length) in found[field][0]


@pytest.mark.parametrize("commit", ["main", "HEAD", "latest", "a1b2c3d", "COMMIT", "some words 1", "-x1"])
def test_a_commit_that_is_not_pinned_is_refused(commit: str) -> None:
    assert list(problems(commit=commit)) == ["commit"]


@pytest.mark.parametrize("commit", [COMMIT, "f" * 64, "v1.4.2", "release/2026-11", "20261130"])
def test_a_pinned_commit_or_tag_passes(commit: str) -> None:
    assert problems(commit=commit) == {}


@pytest.mark.parametrize(
    "url", ["http://github.com/a/b", "https://10.0.0.1/a", "https://github.com/", "git@github.com:a/b"]
)
def test_a_repository_is_a_public_https_address_even_where_private_ones_pass(
    url: str, settings: Settings
) -> None:
    settings.ALLOW_PRIVATE_ENDPOINTS = True
    assert list(problems(repository=url)) == ["repository"]


def test_a_floating_product_version_is_refused() -> None:
    assert list(problems("commercial", product_version="Latest")) == ["product_version"]


def test_authentication_needs_a_memory_key_and_none_takes_none() -> None:
    assert list(problems(has_memory_key=False)) == ["memory_key"]
    assert list(problems(auth_scheme="none", has_memory_key=True)) == ["memory_key"]
    assert problems(auth_scheme="none", has_memory_key=False) == {}


@pytest.mark.parametrize("key", ["short", "x" * 513, "with blank inside", "naïve-key-1", "tab\tkey-long"])
def test_a_memory_key_fits_into_a_header(key: str) -> None:
    assert rules.memory_key_problem(key)


def test_only_known_fields_are_shown_publicly() -> None:
    assert list(problems(public_fields=["memory_key_encrypted"])) == ["public_fields"]
    assert problems(public_fields=["contact"]) == {}
