"""What messages may hold: dates, sizes, scripts, media; and what a Search may ask for."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from evaluations.engine.conformance import specimens
from evaluations.engine.conformance.findings import (
    Findings,
    failed,
    item_text,
    passed,
    warned,
)
from evaluations.engine.conformance.probe import Probe, said
from evaluations.engine.conformance.report import Finding, Outcome
from evaluations.engine.types import MemoryItem

MOMENTS: dict[str, int | None] = {
    "none": None,
    "after 2100": 4_765_132_800_000,  # 2121-01-01
    "0": 0,
    "before 1970": -315_619_200_000,  # 1960-01-01
}
OLD = ("0", "before 1970")
_PRINTED_PART = re.compile(
    r"""data:(image|audio|video)/|['"]type['"]\s*:\s*['"](text|(image|audio|video)_url)"""
)


async def timestamps(probe: Probe) -> Findings:
    bad = {label: finding for label in MOMENTS if (finding := await _moment(probe, label))}
    for label, finding in bad.items():
        if label not in OLD or probe.scope.old_dates:
            return {"timestamps": finding}
    if bad:
        finding = next(iter(bad.values()))
        softer = Outcome.WARNING if finding.outcome is Outcome.FAIL else finding.outcome
        return {"timestamps": dataclasses.replace(finding, outcome=softer)}
    return {"timestamps": passed("Messages without a date, of 1960, of 1970 and of 2121 are found again.")}


async def _moment(probe: Probe, label: str) -> Finding | None:
    """What is wrong with messages of this date; None if nothing is."""
    message: dict[str, Any] = {
        "role": "user",
        "content": f"My aunt sold the windmill to {probe.canary(label)}.",
    }
    moment = MOMENTS[label]
    if moment is not None:
        message["timestamp"] = moment
    added = await probe.add([message], label=label)
    if not added.landed:
        return probe.failed(added, f"A message with timestamp {label} was refused")
    found = await probe.search("aunt sold windmill", label=label)
    if not found.ok:
        return probe.failed(found, f"Search for a message with timestamp {label} failed")
    if found.items:
        return None
    return failed(
        f"A message with timestamp {label} is not found again.",
        expected="timestamp is optional, and any date is an event's own",
        advice="Treat the timestamp as data: don't filter by it, and store signed 64-bit milliseconds.",
    )


async def body_limit(probe: Probe) -> Findings:
    size = probe.scope.largest_add_bytes
    messages = specimens.large_messages(size, track=probe.scope.track, limits=probe.scope.limits)
    added = await probe.add(messages)
    if not added.landed:
        finding = probe.failed(added, f"An Add of {size:,} bytes was refused")
        return {"body_limit": finding}
    return {"body_limit": passed(f"An Add of {size:,} bytes is accepted.")}


async def text(probe: Probe) -> Findings:
    lost = []
    for label, specimen in specimens.texts().items():
        added = await probe.add(said(*specimen.messages), label=label)
        if not added.landed:
            return {"text": probe.failed(added, f"A message with {label} was refused")}
        found = await probe.search(specimen.query, label=label)
        if not found.ok:
            return {"text": probe.failed(found, f"Search for {label} failed")}
        if sign := specimens.garbled(found.text, specimen):
            return {"text": _garbled(label, sign)}
        if specimen.telling not in found.text:
            lost.append(label)
    note = f" Not found again, which is allowed: {', '.join(lost)}." if lost else ""
    return {"text": passed(f"Emoji, Chinese, Arabic, long messages and long chunks come through.{note}")}


def _garbled(label: str, sign: str) -> Finding:
    return failed(
        f"The text of {label} came back garbled: {sign}.",
        expected="the same characters",
        advice="Use UTF-8 from end to end: request, storage, model and reply.",
    )


async def parts(probe: Probe) -> Findings:
    media = specimens.media_parts(probe.scope.endpoint.media)
    for label, part in media.items():
        content = [{"type": "text", "text": f"This is what I made for {probe.canary(label)}."}, part]
        added = await probe.add([{"role": "user", "content": content}], label=label)
        if not added.landed:
            return {"parts": probe.failed(added, f"A message with {label} was refused")}
        found = await probe.search([{"type": "text", "text": "What was made for somebody?"}], label=label)
        if not found.ok:
            return {"parts": probe.failed(found, f"Search after {label} failed")}
        if any(_PRINTED_PART.search(item_text(item)) for item in found.items):
            return {"parts": _printed(label)}
    return {"parts": passed(f"Parts are accepted and come back as parts or text: {', '.join(media)}.")}


def _printed(label: str) -> Finding:
    return failed(
        f"The reply's text holds the printed form of {label}.",
        expected="parts come back as parts, or as text that describes them",
        advice="Don't turn a list of parts into one string; index its text parts and keep the media apart.",
    )


async def options(probe: Probe) -> Findings:
    added = await probe.add(said("I had my first flying lesson in a yellow glider."))
    if not added.landed:
        return {"options": probe.failed(added, "An Add failed")}
    choices = ["A. a hot-air balloon", "B. a glider", "C. a helicopter", "D. none of these"]
    found = await probe.search("What did the first flying lesson take place in?", options=choices)
    if not found.ok:
        return {
            "options": probe.failed(found, "Search with options failed", expected="options may be ignored")
        }
    return {"options": passed("A choice question with its options is answered.")}


async def order(probe: Probe) -> Findings:
    for part in range(3):
        lines = [f"Our dog Fido chased {n + part} pigeons across the square on day {n}." for n in range(4)]
        added = await probe.add(said(*lines), label=f"part {part}", user=probe.user())
        if not added.landed:
            return {"order": probe.failed(added, "An Add failed")}
    first, second = [await probe.search("dog chased pigeons across the square") for _ in range(2)]
    for call in (first, second):
        if not call.ok:
            return {"order": probe.failed(call, "A Search failed")}
    return {"order": _ordered(first.items, second.items)}


def _ordered(first: tuple[MemoryItem, ...], second: tuple[MemoryItem, ...]) -> Finding:
    advice = "Return items best first, and break ties by something fixed, such as the id."
    if [item.id for item in first] != [item.id for item in second]:
        return warned(
            "The same Search twice returned other ids or another order.",
            expected="the same ids in the same order",
            advice=advice,
        )
    scores = [item.score for item in first if item.score is not None]
    if scores != sorted(scores, reverse=True):
        return warned("Scores rise down the list.", expected="a bigger score is better", advice=advice)
    return passed("The same Search twice returns the same items in the same order.")
