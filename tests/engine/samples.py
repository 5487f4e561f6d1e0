"""Small histories for tests of plan, ledger and run."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.types import Add, Ask, Event, Message, Question, Sample


def sample(name: str, shape: str, *, dataset: str = "d") -> Sample:
    """``shape`` spells the events: ``+`` an Add, ``?`` an ask of the question ``<name>-q<n>``."""
    return Sample(id=name, dataset=dataset, events=tuple(_events(name, shape)))


def _events(name: str, shape: str) -> Sequence[Event]:
    asks = 0
    events: list[Event] = []
    for number, sign in enumerate(shape):
        if sign == "+":
            message = Message(
                role="user", content=f"{name} colour {number} is blue{number}", timestamp=number
            )
            events.append(Event(add=Add(session="s1", messages=(message,))))
        else:
            asks += 1
            events.append(Event(ask=Ask(id=f"{name}-a{asks}", question=f"{name}-q{asks}")))
    return events


def questions(*samples: Sample, scorer: str = "exact", gold: str = "blue0") -> dict[str, Question]:
    found: dict[str, Question] = {}
    for one in samples:
        for event in one.events:
            if event.ask is not None:
                found[event.ask.question] = Question(
                    id=event.ask.question,
                    sample=one.id,
                    dataset=one.dataset,
                    capability="A" if len(found) % 2 else "B",
                    query=f"What is {one.id} colour 0? Asked as {event.ask.question}.",
                    scorer=scorer,
                    gold=gold,
                )
    return found
