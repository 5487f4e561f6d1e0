"""A service's reply as people read it, whatever it sent."""

from __future__ import annotations

import pytest

from evaluations.views.wire import marked_lines


@pytest.mark.parametrize("body", ['{"detail": "\\ud83d"}', '{"data":' + "[" * 600 + "]" * 600 + "}"])
def test_a_hostile_reply_can_be_shown(body: str) -> None:
    lines = list(marked_lines(body, pointer="/data"))
    assert lines
    assert all(line.text.encode() is not None for line in lines)


def test_the_place_of_the_fault_is_marked() -> None:
    lines = list(marked_lines('{"data": [{"id": 1}]}', pointer="/data/0/id"))
    assert [line.text.strip() for line in lines if line.marked] == ['"id": 1']
