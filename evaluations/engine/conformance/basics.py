"""Health, and whether what was added comes back: to its own user and to nobody else."""

from __future__ import annotations

import asyncio
import dataclasses

from evaluations.engine.conformance.findings import (
    Call,
    Findings,
    failed,
    not_tested,
    passed,
    warned,
)
from evaluations.engine.conformance.probe import Probe, said
from evaluations.engine.conformance.report import Finding

HEALTH_SECONDS = 30.0
WORDS = "spare key boat shed tin box shelf"


async def health(probe: Probe) -> Findings:
    try:
        answer = await asyncio.wait_for(probe.lab.service.health(), HEALTH_SECONDS)
    except TimeoutError:
        return {"health": warned(f"The health URL did not answer within {HEALTH_SECONDS:.0f} s.")}
    exchange = probe.record(answer, right_key=False)
    if exchange.failure is None:
        return {"health": passed(f"The health URL answered {exchange.status}.")}
    return {
        "health": warned(
            f"The health URL did not answer 2xx: {exchange.failure.sentence}",
            expected="GET without a key answers 2xx",
            advice="Correct the health URL, or leave it empty.",
        )
    }


async def read_your_write(probe: Probe) -> Findings:
    """Three messages, then a Search with their words; a paraphrase is told of and never counts."""
    canary = probe.canary()
    added = await probe.add(
        said(
            f"I keep the spare key of the boat shed in a tin box marked {canary}.",
            "Good to know. Does the tin box stand on the shelf beside the door?",
            "Yes, on the upper shelf, next to the blue paint.",
        )
    )
    if not added.landed:
        return {"read_your_write": probe.failed(added, "The first Add failed")}
    found = await probe.search(WORDS)
    if not found.ok:
        return {"read_your_write": probe.failed(found, "The first Search failed")}
    if not found.items:
        return {
            "read_your_write": failed(
                "Search found nothing of what an Add had stored a moment before.",
                expected="200 on Add means durable and searchable by the very next call",
                advice="Answer Add only once the memory is indexed, and look for errors hidden under a 200.",
            )
        }
    paraphrase = await probe.search("Where would somebody look to unlock the little house by the water?")
    return {"read_your_write": _read_back(found, paraphrase, canary)}


def _read_back(found: Call, paraphrase: Call, canary: str) -> Finding:
    way = "also finds it" if holds(paraphrase, canary) else "does not find it, which is allowed"
    if holds(found, canary):
        return passed(f"The very next Search found what was added; a paraphrase {way}.")
    return warned(
        f"Search answered with {len(found.items)} items, but the one telling word ({canary}) is in none.",
        expected="names and made-up words survive storing",
        advice="Summaries are allowed; keep names, codes and numbers in them.",
    )


def holds(call: Call, canary: str) -> bool:
    return canary.casefold() in call.text.casefold()


async def isolation(probe: Probe) -> Findings:
    """The same words for two users; neither query holds a canary."""
    canaries = {label: probe.canary(label) for label in ("first", "second")}
    for label, canary in canaries.items():
        added = await probe.add(
            said(f"My locker at the swimming hall opens with the word {canary}.", "I won't tell."),
            label=label,
        )
        if not added.landed:
            return {"isolation": probe.failed(added, "An Add failed")}
    replies = {label: await probe.search("locker swimming hall word", label=label) for label in canaries}
    for reply in replies.values():
        if not reply.ok:
            return {"isolation": probe.failed(reply, "A Search failed")}
    crossed = holds(replies["first"], canaries["second"]) or holds(replies["second"], canaries["first"])
    if crossed:
        return {
            "isolation": failed(
                "A user's Search returned what only another user had said.",
                expected="nothing of another user_id, whatever the query",
                advice="Filter by user_id inside the search itself, and check caches and shared indexes.",
            )
        }
    if all(holds(replies[label], canary) for label, canary in canaries.items()):
        return {"isolation": passed("Two users with the same words each found their own memory only.")}
    return {"isolation": not_tested("The users did not find their own telling word, so nothing is shown.")}


async def empty_user(probe: Probe) -> Findings:
    # Words that another user of this check has said: a service that mixes users up has something to show.
    found = await probe.search(WORDS, label="nobody")
    if not found.ok:
        return {"empty_user": probe.failed(found, "Search for a user nobody knows failed")}
    if found.items:
        return {
            "empty_user": failed(
                f"Search for a user nobody knows returned {len(found.items)} items.",
                expected='200 and {"data": []}',
                advice="Filter by user_id, and return nothing for a user who stored nothing.",
            )
        }
    return {"empty_user": passed("An unknown user gets 200 and no items.")}


async def top_k(probe: Probe) -> Findings:
    """One item, then a hundred, from a user who has 120 messages."""
    for part in range(6):
        lines = [f"On trip {part * 20 + i} to the lake we saw {i + 3} herons and a boat." for i in range(20)]
        added = await probe.add(
            said(*lines), label=f"part {part}", user=probe.user(), session=probe.session()
        )
        if not added.landed:
            return {"top_k": probe.failed(added, "An Add failed")}
    counts = []
    for wanted in (1, 100):
        found = await probe.search("herons seen on trips to the lake", top_k=wanted)
        if not found.ok and found.failure and found.failure.code == "TOO_MANY_RESULTS":
            return {"top_k": _too_many(found, wanted)}
        if not found.ok:
            return {"top_k": probe.failed(found, f"Search with top_k {wanted} failed")}
        counts.append(f"{len(found.items)} of {wanted}")
    return {"top_k": passed(f"top_k is obeyed ({', '.join(counts)}).")}


def _too_many(found: Call, wanted: int) -> Finding:
    reason = found.failure.sentence if found.failure else ""
    return dataclasses.replace(
        failed(
            f"Search with top_k {wanted} returned more than was asked for. {reason}".strip(),
            expected="at most top_k items",
            advice="Cut the reply at top_k; the platform never cuts it for you.",
        ),
        codes=("TOO_MANY_RESULTS",),
    )


SESSIONS = {
    "garden": ("I planted rhubarb in the garden and named the plant {}.", "rhubarb plant garden name"),
    "piano": ("My piano teacher lives in a street called {}.", "piano teacher lives street"),
    "holiday": ("For the holiday we rented a cabin from a man named {}.", "holiday rented cabin man"),
}


async def sessions(probe: Probe) -> Findings:
    for label, (text, _) in SESSIONS.items():
        added = await probe.add(
            said(text.format(probe.canary(label)), "Nice to hear."), label=label, user=probe.user()
        )
        if not added.landed:
            return {"sessions": probe.failed(added, "An Add failed")}
    missing = []
    for label, (_, query) in SESSIONS.items():
        found = await probe.search(query)
        if not found.ok:
            return {"sessions": probe.failed(found, "A Search failed")}
        if not found.items:
            return {"sessions": _session_lost(label)}
        if not holds(found, probe.canary(label)):
            missing.append(label)
    if missing:
        return {"sessions": warned(f"The telling word did not come back from: {', '.join(missing)}.")}
    return {"sessions": passed("What was said in three sessions is found across sessions.")}


def _session_lost(label: str) -> Finding:
    return failed(
        f"Search found nothing of the session about the {label}.",
        expected="session_id groups conversations and never filters Search",
        advice="Search all sessions of the user_id.",
    )
