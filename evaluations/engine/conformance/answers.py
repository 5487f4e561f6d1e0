"""Natural questions only: memories come back, not answers made up or the question itself."""

from __future__ import annotations

import re

from evaluations.engine.conformance.findings import Findings, item_text, passed, warned
from evaluations.engine.conformance.probe import Probe, said
from evaluations.engine.conformance.report import Finding

LINES = (
    "We moved to the village of Oakhurst last spring because of the school.",
    "How do the children like the school there?",
    "They like it. Their teacher plays the accordion during lunch.",
    "And the house?",
    "It has a green roof, and a family of hedgehogs lives beneath the stairs.",
)
QUESTIONS = (
    "Why did the family move to Oakhurst?",
    "Which instrument does the teacher of the children play?",
    "What colour does the roof of the house have?",
    "Which animals live beneath the stairs?",
)
_WORD = re.compile(r"[a-z]{4,}")
_STEM = 5  # letters: "moved" supports "moving"
SUPPORTED = 0.3
TELLING_WORDS = 5  # shorter items can't be judged


async def answers(probe: Probe) -> Findings:
    added = await probe.add(said(*LINES))
    if not added.landed:
        return {"answers": probe.failed(added, "An Add failed")}
    known = _stems(" ".join(LINES))
    for question in QUESTIONS:
        found = await probe.search(question)
        for text in map(item_text, found.items):
            if _plain(question) in _plain(text):
                return {"answers": _warn("repeats the question", text)}
            if not _supported(text, known | _stems(question)):
                return {"answers": _warn("holds text that the user never said", text)}
    return {"answers": passed("Natural questions bring back what was said, and nothing else.")}


def _warn(what: str, text: str) -> Finding:
    return warned(
        f"An item {what}: {text[:120]!r}",
        expected="memories of this user",
        advice="Return memories and leave answering to the platform's model; reviewers look at this.",
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))


def _supported(text: str, known: frozenset[str]) -> bool:
    stems = _stems(text)
    return len(stems) < TELLING_WORDS or len(stems & known) >= SUPPORTED * len(stems)
