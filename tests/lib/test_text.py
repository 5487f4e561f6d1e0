"""Numbers and cells from and for outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from aml.lib.clock import iso_z
from aml.lib.text import spreadsheet_cell, whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("12", 12), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "1_0", "٣", "²", "9" * 19])
def test_anything_else_is_none(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize("text", ["=1+1", "  =1", "+1", "-1", "@x", "\t=1", "|x", "%x"])
def test_a_formula_becomes_text_in_a_spreadsheet(text: str) -> None:
    assert spreadsheet_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["Palimpsest", "", -1, 0.5, None])
def test_other_cells_stay_as_they_are(value: object) -> None:
    assert spreadsheet_cell(value) is value


def test_a_moment_is_given_in_utc_to_the_second() -> None:
    moment = datetime(2026, 12, 2, 16, 5, 0, 999, tzinfo=timezone(timedelta(hours=2)))
    assert iso_z(moment) == iso_z(moment.astimezone(UTC)) == "2026-12-02T14:05:00Z"
