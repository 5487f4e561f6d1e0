"""Small questions, memories and models for tests of answering, judging and aggregation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.types import Capability, Option, Question, Title
from evaluations.engine.types import AskScore, Completion, MemoryItem, ModelSettings

NONCE = "0123456789abcdef"


def question(query: str = "Where does Leo live?", *, scorer: str = "judge_binary", **fields: Any) -> Question:
    values = {"id": "q1", "sample": "s1", "dataset": "d1", "capability": "A", "gold": "Oslo", **fields}
    return Question(query=query, scorer=scorer, **values)


def options(*texts: str) -> tuple[Option, ...]:
    return tuple(Option(letter=letter, text=text) for letter, text in zip("ABCDEFGH", texts, strict=False))


def memories(*contents: str, created_at: str | None = None) -> list[MemoryItem]:
    return [
        MemoryItem(id=f"m{number}", content=content, created_at=created_at)
        for number, content in enumerate(contents)
    ]


def capability(name: str, weight: float) -> Capability:
    title = Title(en=name, zh=name)
    return Capability(id=name, title=title, rubric=title, weight=weight)


def ask_scores(values: Iterable[float | None], *, sample: str = "s", capability: str = "A") -> list[AskScore]:
    return [
        AskScore(
            ask=f"{capability}-{sample}-{number}",
            question=f"q{number}",
            sample=sample,
            dataset="d",
            capability=capability,
            value=value,
            reason=None if value is not None else "not judged",
        )
        for number, value in enumerate(values)
    ]


class ScriptedModel:
    """Gives its replies one after the other and keeps the prompts."""

    settings = ModelSettings(name="scripted")

    def __init__(self, *replies: str | Completion) -> None:
        self._replies = list(replies)
        self.prompts: list[str] = []

    async def complete(self, prompt: str) -> Completion:
        self.prompts.append(prompt)
        reply = self._replies.pop(0)
        return reply if isinstance(reply, Completion) else Completion(text=reply, finish_reason="stop")

    async def aclose(self) -> None:
        return None
