"""The same request_id again: alone, four at once, and with another body."""

from __future__ import annotations

import asyncio

from evaluations.engine.conformance.findings import Call, Findings, not_tested, passed, warned
from evaluations.engine.conformance.probe import Probe, said
from evaluations.engine.conformance.report import Finding
from evaluations.engine.types import AddRequest

QUERY = "parrot of the neighbour called"
AT_ONCE = 4


async def replay(probe: Probe) -> Findings:
    """``replay.accepted`` and ``replay.single``: success in the end, and no second memory."""
    canary = probe.canary()
    messages = said(f"The parrot of my neighbour is called {canary}.", "What a name.")
    first = await probe.add(messages)
    if not first.landed:
        return {
            "replay.accepted": probe.failed(first, "The first delivery failed"),
            "replay.single": not_tested("Nothing was stored to be replayed."),
        }
    before = await probe.search(QUERY)
    replays = [await probe.add(messages, replayed=True)]
    if replays[0].landed:
        replays += await asyncio.gather(*(probe.add(messages, replayed=True) for _ in range(AT_ONCE)))
    after = await probe.search(QUERY)
    return {"replay.accepted": _accepted(probe, replays), "replay.single": _single(before, after, canary)}


def _accepted(probe: Probe, replays: list[Call]) -> Finding:
    for call in replays:
        if not call.landed:
            return probe.failed(call, "A replayed Add was not accepted in the end")
    return passed("The same request, alone and four at once, ends in success each time.")


def _single(before: Call, after: Call, canary: str) -> Finding:
    if not before.ok or not after.ok:
        return not_tested("A Search failed, so the memories could not be counted.")
    was, now = (call.text.casefold().count(canary.casefold()) for call in (before, after))
    if not was:
        return not_tested("The telling word did not come back, so doubles could not be counted.")
    if now > was:
        return warned(
            f"After five replays the telling word comes back {now} times, before it was {was}.",
            expected="a replay adds nothing",
            advice="Remember every request_id, durably, and answer a known one without storing it again.",
        )
    return passed("Replays store nothing a second time.")


async def clash(probe: Probe) -> Findings:
    """One attempt: the contract leaves free what becomes of it."""
    first = await probe.add(said("My bicycle is red."))
    if not first.landed:
        return {"clash": not_tested("The first Add failed.")}
    request = AddRequest(probe.request(), probe.user(), probe.session(), said("My bicycle is yellow."))
    exchange = probe.record(await probe.lab.service.add(request), right_key=False)
    answer = exchange.status if exchange.status is not None else "nothing"
    return {"clash": passed(f"The same request_id with another body is answered {answer}.")}
