"""What a driver holds: works of its runs, and the claims on them with the time until which each is certain."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.conf import settings

from evaluations.runner.shells import Shell
from evaluations.runner.work import Done, Work


@dataclass(slots=True)
class Running:
    """One run in this driver: works that wait for a place, calls in flight, results to record."""

    shell: Shell
    retired: list[Shell] = field(default_factory=list)  # with an old memory key; their calls may still run
    queues: dict[str, deque[Work]] = field(default_factory=dict)
    flying: dict[str, int] = field(default_factory=dict)
    caps: dict[str, int] = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)
    unsent: list[Work] = field(default_factory=list)

    def held(self, kinds: frozenset[str]) -> int:
        waiting = sum(len(queue) for kind, queue in self.queues.items() if kind in kinds)
        return waiting + sum(count for kind, count in self.flying.items() if kind in kinds)

    @property
    def idle(self) -> bool:
        return not (self.done or self.unsent or any(self.flying.values()) or any(self.queues.values()))

    async def aclose(self) -> None:
        for shell in [*self.retired, self.shell]:
            await shell.aclose()


class Held:
    """Claims by unit. All times are the loop's; ``since`` is read before the database was asked.

    A driver that was stopped, or cut off from the database, for longer than a claim lasts must not send
    what still waits in its queues: somebody else may have moved the lane on meanwhile.
    """

    def __init__(self) -> None:
        self._claims: dict[int, tuple[int, float]] = {}  # unit -> attempt, certain until

    def __len__(self) -> int:
        return len(self._claims)

    @property
    def units(self) -> list[int]:
        return list(self._claims)

    def take(self, work: Work, *, since: float) -> None:
        self._claims[work.unit.pk] = (work.attempt.pk, since + settings.CLAIM_SECONDS)

    def drop(self, works: Iterable[Work]) -> None:
        for work in works:
            # The unit may have come to this driver again meanwhile, with another attempt.
            if self._claims.get(work.unit.pk, (None,))[0] == work.attempt.pk:
                del self._claims[work.unit.pk]

    def renewed(self, kept: frozenset[int], *, asked: Iterable[int], since: float) -> None:
        for unit in asked:
            if unit not in self._claims:
                continue
            if unit in kept:
                attempt, until = self._claims[unit]
                self._claims[unit] = (attempt, max(until, since + settings.CLAIM_SECONDS))
            else:
                del self._claims[unit]

    def certain(self, work: Work, *, now: float) -> bool:
        attempt, until = self._claims.get(work.unit.pk, (None, 0.0))
        return attempt == work.attempt.pk and now < until
