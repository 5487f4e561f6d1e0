"""The participant's own log as a witness: what arrived, in which order, how often."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.fakes.service import Hit


@dataclass(frozen=True, slots=True)
class Testimony:
    """``extra`` deliveries beyond the planned ones; ``disorder`` names lanes that went back a step."""

    missing: int
    unknown: int
    extra: int
    disorder: list[int]
    longest_silence: float


def testify(hits: Sequence[Hit], calls: Mapping[str, Sequence[int]]) -> Testimony:
    """``calls`` is every planned call with its lane and step (``stage.calls_of``)."""
    keys = [_key(hit) for hit in hits]
    known = [calls[key] for key in keys if key in calls]
    return Testimony(
        missing=len(set(calls) - set(keys)),
        unknown=len(keys) - len(known),
        extra=len(keys) - len(set(keys)),
        disorder=[lane for lane in {lane for lane, _ in known} if not _in_order(known, lane)],
        longest_silence=max((b.time - a.time for a, b in pairwise(hits)), default=0.0),
    )


def _key(hit: Hit) -> str:
    if hit.request_id is not None:
        return hit.request_id
    return f"{hit.user_id} {json.loads(hit.body)['query']}"


def _in_order(known: Sequence[Sequence[int]], lane: int) -> bool:
    """No step of a lane begins before the one before is over, and none is called again after it."""
    steps = [step for at, step in known if at == lane]
    return steps == sorted(steps)
