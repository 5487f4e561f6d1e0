"""Finding the pieces of a prompt by its own fences, as a model would."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from evaluations.engine.offline.dates import iso_date
from evaluations.engine.offline.words import sentences, term_set

_QUESTION = re.compile(r"<question-([0-9a-f]{8,})>\n(.*?)\n</question-\1>", re.DOTALL)
_MEDIA = re.compile(r"<media-[0-9a-f]{8,}>[^<]*</media-[0-9a-f]{8,}>")  # data URIs hold no words
_DATED = re.compile(r"\[([^\]\n]{4,40})\]\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as read: its day, its sentences, and all its terms."""

    text: str
    day: date | None
    sentences: tuple[Sentence, ...]
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class AnswerPrompt:
    question: str
    options: tuple[tuple[str, str], ...]  # letter and text
    memories: tuple[Memory, ...]
    instructions: str  # what follows the question


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    question: str
    nonce: str
    reference: Any
    answer: str
    criteria: tuple[str, ...]
    grades: tuple[str, ...]


@lru_cache(maxsize=16_384)
def read_memory(text: str) -> Memory:
    """Cached: within a run the same memory comes back for many questions."""
    dated = _DATED.match(text)
    day = iso_date(dated[1]) if dated else None
    body = _MEDIA.sub("", text[dated.end() :] if dated and day else text)
    parts = tuple(Sentence(part, term_set(part)) for part in sentences(body))
    return Memory(body, day, parts, frozenset().union(*(part.terms for part in parts)))


def read_answer_prompt(prompt: str) -> AnswerPrompt | None:
    """None where the prompt does not have the fences."""
    found = _QUESTION.search(prompt)
    if found is None:
        return None
    nonce = found[1]
    memories = re.findall(rf"<mem-{nonce}>\n(.*?)\n</mem-{nonce}>", prompt, re.DOTALL)
    options = re.search(rf"<options-{nonce}>\n(.*?)\n</options-{nonce}>", prompt, re.DOTALL)
    return AnswerPrompt(
        question=found[2].strip(),
        options=tuple(re.findall(r"(?m)^([A-Z])\. (.*)$", options[1])) if options else (),
        memories=tuple(map(read_memory, memories)),
        instructions=prompt[found.end() :],
    )


def read_judge_prompt(prompt: str) -> JudgePrompt | None:
    """None where the prompt does not have the fences, or where what they hold is no JSON."""
    found = _QUESTION.search(prompt)
    if found is None:
        return None
    nonce = found[1]
    blocks = {
        name: re.search(rf"<{name}-{nonce}>\n(.*?)\n?</{name}-{nonce}>", prompt, re.DOTALL)
        for name in ("reference", "answer", "criteria", "menu")
    }
    if any(block is None for block in blocks.values()):
        return None
    texts = {name: block[1] for name, block in blocks.items() if block}
    try:
        return JudgePrompt(
            question=found[2],
            nonce=nonce,
            reference=json.loads(texts["reference"]),
            answer=json.loads(texts["answer"]),
            criteria=tuple(json.loads(line) for line in texts["criteria"].splitlines() if line),
            grades=tuple(json.loads(f"[{texts['menu']}]")),
        )
    except ValueError:
        return None
