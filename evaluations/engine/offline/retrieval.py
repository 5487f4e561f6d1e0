"""Which sentences of the memories bear on a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluations.engine.offline.prompt import Memory, Sentence
from evaluations.engine.offline.words import STOP, stem, term_set, terms

CONTEXT = 0.4  # what a term in the same memory, but another sentence, is worth
ASKS = 0.5  # for a sentence that is a question itself
FIRST = 0.3  # a memory system puts what fits best first
OTHER_SPEAKER = 0.6  # where the question names a person and somebody else speaks
LOOKED_AT = 32  # memories whose sentences are read
NAME = 0.5  # names single out a person, not a fact
_SPEAKER = re.compile(r"\s*([A-Z][\w .'-]{0,30}):\s")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]+\b")


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence with its score; ``share`` of the question's terms is found in its memory."""

    memory: Memory
    sentence: Sentence
    place: int  # of the memory, in the order given
    score: float
    share: float
    matched: frozenset[str]


def names_in(question: str) -> frozenset[str]:
    """Stems of capitalised words: within a sentence, or opening the question and no common word."""
    found = {stem(name.lower()) for name in _NAME.findall(question)}
    first = re.match(r"[A-Z][a-z]+", question)
    if first and first[0].lower() not in STOP:
        found.add(stem(first[0].lower()))
    return frozenset(found)


def find(question: str, memories: Sequence[Memory]) -> list[Hit]:
    """Sentences that share a term with the question, best first; ties by the order given."""
    wanted = frozenset(terms(question))
    if not wanted:
        return []
    names = names_in(question) & wanted
    weights = _weights(wanted, memories=memories, names=names)
    hits = [
        hit
        for place in _nearest(memories, wanted=wanted, weights=weights)
        for hit in _hits(memories[place], place=place, wanted=wanted, weights=weights, names=names)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.place))


def _nearest(memories: Sequence[Memory], *, wanted: frozenset[str], weights: dict[str, float]) -> list[int]:
    """Places of the memories that hold most of the question: the others can't have the best sentence."""
    held = {
        place: math.fsum(weights[term] for term in found)
        for place, memory in enumerate(memories)
        if (found := wanted & memory.terms)
    }
    return sorted(held, key=lambda place: (-held[place], place))[:LOOKED_AT]


def _weights(
    wanted: frozenset[str], *, memories: Sequence[Memory], names: frozenset[str]
) -> dict[str, float]:
    seen = Counter(term for memory in memories for term in wanted & memory.terms)
    count = len(memories)
    return {
        term: math.log(1 + (count + 1) / (seen[term] + 0.5)) * (NAME if term in names else 1.0)
        for term in wanted
    }


def _hits(
    memory: Memory, *, place: int, wanted: frozenset[str], weights: dict[str, float], names: frozenset[str]
) -> list[Hit]:
    around = wanted & memory.terms
    share = _share(around, wanted=wanted, names=names)
    context = math.fsum(weights[term] for term in around)
    said = OTHER_SPEAKER if names and names.isdisjoint(_speaker_terms(memory.text)) else 1.0
    found = []
    for sentence in memory.sentences:
        matched = wanted & sentence.terms
        own = math.fsum(weights[term] for term in matched)
        score = (own + CONTEXT * (context - own)) / (1 + 0.01 * len(sentence.terms))
        score *= _form(sentence.text) * (1 + FIRST / (1 + 0.2 * place)) * said
        found.append(Hit(memory, sentence, place, score, share, matched))
    return found


def _form(text: str) -> float:
    """A sentence that asks hardly ever answers."""
    return ASKS if text.endswith(("?", "？")) else 1.0


def _speaker_terms(text: str) -> frozenset[str]:
    found = _SPEAKER.match(text)
    return term_set(found[1]) if found else frozenset()


def _share(found: frozenset[str], *, wanted: frozenset[str], names: frozenset[str]) -> float:
    """Share of the question's terms found, names at their lower weight."""
    total = sum(NAME if term in names else 1.0 for term in wanted)
    return sum(NAME if term in names else 1.0 for term in found) / total
