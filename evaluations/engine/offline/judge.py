"""``aml-offline-judge-1``: a judge by rules, a pure function of the prompt.

It compares content words, numbers and dates. It is meant for short factual answers; on anything
longer it is a rough measure, and a contract that uses it is unofficial.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from benchmarks.scorers.abstain import declines
from benchmarks.scorers.base import gold_texts
from evaluations.engine.offline.dates import find_dates
from evaluations.engine.offline.numbers import as_text, number
from evaluations.engine.offline.prompt import JudgePrompt, read_judge_prompt
from evaluations.engine.offline.words import raw_tokens, term_set, terms

_TAKES_BACK = re.compile(
    r"\b(?:actually|correction|scratch that|on second thought|wait|i mean|rather,|sorry)\b[,:]?"
    r"|更正|不对|其实",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|might be|may be|could be|or (?:maybe|perhaps|possibly)|not sure)\b"
    r"|可能|也许|或者|不确定",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b|或者?|还是", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:not|never|no longer|no)\b|n['’]t\b|没有?|不(?!错|过)|从未|否", re.IGNORECASE)
_NEGATIVE_CRITERION = re.compile(
    r"\b(?:should not|must not|does not|doesn['’]t|do not|avoids?|keeps clear|never|no mention)\b"
    r"|不应|不得|避免|没有提",
    re.IGNORECASE,
)
_EVENT = re.compile(r"or none: ('.*'|\".*\")\? Reference events: (.*)$", re.DOTALL)
LONG = 12


def judge(prompt: str) -> str:
    """The reply to a rendered judge prompt: one JSON object with the call's nonce."""
    asked = read_judge_prompt(prompt)
    if asked is None:
        return "The prompt holds nothing to grade."
    grades = [_grade(criterion, asked) for criterion in asked.criteria]
    return json.dumps({"nonce": asked.nonce, "grades": grades, "reason": "compared by rule"})


def _grade(criterion: str, asked: JudgePrompt) -> str:
    menu = set(asked.grades)
    if "CORRECT" in menu:
        return "CORRECT" if _correct(asked) else "WRONG"
    if "none" in menu:
        return _event(criterion)
    if "YES" in menu:
        return "YES" if _held(criterion, asked) >= 0.6 else "NO"
    steps = sorted(asked.grades, key=float)
    held = _held(criterion, asked)
    if len(steps) == 3:
        return steps[2 if held >= 0.7 else 1 if held >= 0.4 else 0]
    return steps[min(int(held * len(steps)), len(steps) - 1)]


def _held(criterion: str, asked: JudgePrompt) -> float:
    """Share of a criterion's content that the answer holds; turned round where it forbids something."""
    subject = criterion.rpartition(": ")[2] if "preference of the person: " in criterion else criterion
    subject = subject.rpartition("does not want: ")[2]
    if declines(asked.answer) or declines(subject):
        return float(declines(asked.answer) and declines(subject))
    wanted = facts(subject) - _GENERIC
    if not wanted:
        return float(bool(asked.answer.strip()))
    share = len(wanted & facts(asked.answer)) / len(wanted)
    return 1 - share if _NEGATIVE_CRITERION.search(criterion) else share


_GENERIC = term_set(
    "answer response mention state say include contain the user person should fit recommend llm"
)


def _event(criterion: str) -> str:
    found = _EVENT.search(criterion)
    if found is None:
        return "none"
    event = facts(found[1])
    shares = [
        (len(event & facts(text)) / max(len(facts(text)), 1), -int(place), place)
        for place, text in re.findall(r"(\d+)\. (.*?)(?=; \d+\. |$)", found[2], re.DOTALL)
    ]
    best = max(shares, default=(0.0, 0, "none"))
    return best[2] if best[0] >= 0.5 else "none"


def _correct(asked: JudgePrompt) -> bool:
    given = _last_version(asked.answer)
    golds = gold_texts(asked.reference)
    if not given.strip() or declines(given):
        return any(map(declines, golds)) and declines(given)
    return any(_same(gold, given, question=asked.question) for gold in golds)


def _last_version(answer: str) -> str:
    """What stands after the last taking back; an answer that ends in one has none."""
    return _TAKES_BACK.split(answer)[-1]


def _same(gold: str, given: str, *, question: str) -> bool:
    if _HEDGES.search(given) and not _HEDGES.search(gold):
        return False
    if _OR.search(given) and not _OR.search(gold):
        return False
    if bool(_NEGATIVE.search(gold)) != bool(_NEGATIVE.search(given)):
        return False
    wanted, said = facts(gold), facts(given)
    if not _values(wanted) <= said or _other_values(wanted, said - facts(question)):
        return False
    words = (wanted - term_set(question)) or wanted
    needed = 1.0 if len(words) <= 3 else 0.7
    return len(words & said) >= needed * len(words) and _close_together(words & said, given, gold=gold)


def _values(found: frozenset[str]) -> frozenset[str]:
    return frozenset(fact for fact in found if fact.startswith("#"))


def _other_values(wanted: frozenset[str], said: frozenset[str]) -> bool:
    """Another number or date beside the right one leaves open which is meant."""
    values = _values(wanted)
    kinds = {value[:2] for value in values}
    others = {value for value in _values(said) - values if value[:2] in kinds}
    return any(
        not any(other.startswith(value) or value.startswith(other) for value in values) for other in others
    )


def _close_together(words: frozenset[str], given: str, *, gold: str) -> bool:
    """In a long answer the gold's words must stand near to each other, or anything would hold them."""
    sequence = terms(given)
    if len(sequence) <= len(terms(gold)) * 3 + LONG:
        return True
    places = [index for index, term in enumerate(sequence) if term in words]
    return bool(places) and _shortest(sequence, words) <= 2 * len(words) + 2


def _shortest(sequence: Sequence[str], words: frozenset[str]) -> int:
    """Length of the shortest stretch of ``sequence`` that holds all of ``words``."""
    last: dict[str, int] = {}
    shortest = len(sequence) + 1
    for index, term in enumerate(sequence):
        if term in words:
            last[term] = index
            if len(last) == len(words):
                shortest = min(shortest, index - min(last.values()) + 1)
    return shortest


@lru_cache(maxsize=8_192)
def facts(text: Any) -> frozenset[str]:
    """Content terms with every number as ``#n:…`` and every date as ``#d:…``, so that forms do not matter."""
    dates = find_dates(text, None)
    found = {f"#d:{when.key()}" for when in dates}
    plain = _without_dates(text) if dates else text
    for token in raw_tokens(plain):
        value = number(token)
        if value is not None and token not in ("a", "an"):
            found.add(f"#n:{as_text(value)}")
    return frozenset(found | {term for term in term_set(plain) if number(term) is None})


_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE_PARTS = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,4}}(?:st|nd|rd|th)?\b|\b(?:{_MONTHS})\w*\b|\d+[年月日号]", re.IGNORECASE
)


def _without_dates(text: str) -> str:
    return _DATE_PARTS.sub(" ", text)
