"""``aml-offline-answer-1``: an extractive answerer, a pure function of the prompt.

It finds the sentences that share the rarest words with the question and cuts a short answer out
of them. It knows nothing else: without memories it declines, or guesses a letter.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence

from evaluations.engine.offline.dates import find_dates
from evaluations.engine.offline.patches import patch_for
from evaluations.engine.offline.prompt import AnswerPrompt, read_answer_prompt
from evaluations.engine.offline.retrieval import Hit, find
from evaluations.engine.offline.spans import date_span, extract, phrase_span, span_for, without_speaker
from evaluations.engine.offline.words import is_chinese, term_set, terms

DECLINES = "No information available."
DECLINES_ZH = "没有相关信息。"
ENOUGH = 0.25  # share of the question's terms that one memory must hold
_YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|would|will|should)\b|吗[？?]?$|是否",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"\b(?:not|never|no longer|without)\b|n['’]t\b|没有?|不(?!错|过)|从未", re.IGNORECASE)
_EXPLAINS = re.compile(
    r"^(?:how (?:does|do|did|would|should|can|could|is|was)|why|explain|describe|summari[sz]e|give|write|"
    r"list|recommend|suggest|plan|tell|what (?:should|advice|steps))\b|如何|为什么|怎么|解释|总结|推荐|建议",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"^(?:what|which) (?:\w+ )?(\w{3,}s)\b", re.IGNORECASE)
_STATE = re.compile(
    r"\b(?:is|are|does|do|has|have|should|now|current(?:ly)?|latest|still)\b|现在|目前|最新", re.IGNORECASE
)
_NOW = re.compile(
    r"\b(?:now|current(?:ly)?|latest|most recent(?:ly)?|still|these days|today)\b|现在|目前|最新|如今",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\b(?:first|originally|initially|before|previous(?:ly)?|used to|earlier)\b|最初|原来|以前|之前",
    re.IGNORECASE,
)
_NO_OPTION = re.compile(
    r"\b(?:none of|not (?:mentioned|stated|known)|cannot be|no information|unknown)\b|没有提到|无法",
    re.IGNORECASE,
)


def answer(prompt: str) -> str:
    """The reply to a rendered answer prompt, with the final answer in its tag."""
    asked = read_answer_prompt(prompt)
    return f"<answer>{_answer(asked) if asked else DECLINES}</answer>"


def _answer(asked: AnswerPrompt) -> str:
    if asked.options:
        return _choose(asked)
    if "unified diff" in asked.instructions:
        return patch_for(asked)
    hits = find(asked.question, asked.memories)
    if not hits or max(hit.share for hit in hits[:5]) < ENOUGH:
        return DECLINES_ZH if is_chinese(asked.question) else DECLINES
    if "list of events" in asked.instructions:
        return _events(hits)
    return _short(asked.question, hits)


def _short(question: str, hits: Sequence[Hit]) -> str:
    if _YES_NO.search(question):
        return _yes_no(question, _chosen(question, hits))
    if span_for(question) is date_span:
        return extract(_best_dated(hits), question)
    if span_for(question) is not phrase_span:
        return _typed(question, hits)
    if _EXPLAINS.search(question):
        return _explain(hits)
    if _PLURAL.match(question):
        return _several(question, hits)
    return extract(_chosen(question, hits), question)


def _chosen(question: str, hits: Sequence[Hit]) -> Hit:
    """The best hit; among those that match the same words, the one that holds at the time asked about."""
    best = hits[0]
    if _ONCE.search(question):
        return min(_rivals(hits, share=0.75), key=_time)
    share = 0.75 if _NOW.search(question) else 0.9
    if not _STATE.search(question):
        return best
    return max(_rivals(hits, share=share), key=lambda hit: (_time(hit), hit.score))


def _rivals(hits: Sequence[Hit], *, share: float) -> list[Hit]:
    best = hits[0]
    return [
        hit for hit in hits[:20] if hit.score >= share * best.score and len(hit.matched) >= len(best.matched)
    ]


def _time(hit: Hit) -> tuple[int, int]:
    return (hit.memory.day.toordinal() if hit.memory.day else 0, 0)


def _best_dated(hits: Sequence[Hit]) -> Hit:
    """The best hit, unless a nearly as good one holds a date and it does not."""
    best = hits[0]
    dated = (hit for hit in hits[:6] if hit.score >= 0.8 * best.score)
    return next((hit for hit in dated if find_dates(hit.sentence.text, hit.memory.day)), best)


def _typed(question: str, hits: Sequence[Hit]) -> str:
    """The chosen hit's value, or that of the next hit that holds one of the kind asked for."""
    chosen = _chosen(question, hits)
    near = [chosen, *(hit for hit in hits[:10] if hit.score >= 0.6 * hits[0].score)]
    span = span_for(question)
    return next((value for hit in near if (value := span(hit, question))), "") or extract(chosen, question)


def _yes_no(question: str, hit: Hit) -> str:
    negative = bool(_NEGATIVE.search(hit.sentence.text)) != bool(_NEGATIVE.search(question))
    if is_chinese(question):
        return "不是" if negative else "是"
    return "No" if negative else "Yes"


def _distinct(hits: Sequence[Hit], *, count: int, share: float) -> list[Hit]:
    chosen: list[Hit] = []
    for hit in hits:
        if len(chosen) == count or hit.score < share * hits[0].score:
            break
        if all(hit.sentence.text != other.sentence.text for other in chosen):
            chosen.append(hit)
    return chosen


def _explain(hits: Sequence[Hit]) -> str:
    return " ".join(without_speaker(hit.sentence.text) for hit in _distinct(hits, count=2, share=0.7))


def _several(question: str, hits: Sequence[Hit]) -> str:
    spans = [extract(hit, question) for hit in _distinct(hits, count=3, share=0.8)]
    return ", ".join(dict.fromkeys(span for span in spans if span))


def _events(hits: Sequence[Hit]) -> str:
    chosen = sorted(_distinct(hits, count=8, share=0.4), key=lambda hit: (_event_day(hit), hit.place))
    return "\n".join(
        f"{number}. {without_speaker(hit.sentence.text)}" for number, hit in enumerate(chosen, 1)
    )


def _event_day(hit: Hit) -> str:
    dates = find_dates(hit.sentence.text, hit.memory.day)
    return dates[0].key() if dates else (hit.memory.day.isoformat() if hit.memory.day else "")


def _choose(asked: AnswerPrompt) -> str:
    hits = find(asked.question, asked.memories)[:12]
    support = {letter: _support(text, question=asked.question, hits=hits) for letter, text in asked.options}
    ranked = sorted(support, key=lambda letter: (-support[letter], letter))
    if "all letters in the right order" in asked.instructions:
        return ", ".join(_in_order(asked))
    if "all that are right" in asked.instructions:
        top = support[ranked[0]]
        chosen = [letter for letter in sorted(support) if top and support[letter] >= 0.5 * top]
        return ", ".join(chosen or [_guess(asked)])
    if support[ranked[0]] > 0:
        return ranked[0]
    return next((letter for letter, text in asked.options if _NO_OPTION.search(text)), _guess(asked))


def _support(option: str, *, question: str, hits: Sequence[Hit]) -> float:
    """How much of what an option adds to the question is said by sentences near to it."""
    added = term_set(option) - set(terms(question)) or term_set(option)
    if not added or not hits:
        return 0.0
    best = 0.0
    for rank, hit in enumerate(hits):
        held = len(added & hit.sentence.terms) + 0.5 * len(added & (hit.memory.terms - hit.sentence.terms))
        best = max(best, held / math.sqrt(len(added)) * hit.score / (1 + 0.05 * rank))
    return best


def _in_order(asked: AnswerPrompt) -> list[str]:
    """Letters by the day of the memory that says most of each option."""
    days: dict[str, tuple[str, int]] = {}
    for letter, text in asked.options:
        hits = find(text, asked.memories)
        days[letter] = (_event_day(hits[0]), hits[0].place) if hits else ("", 0)
    return sorted(days, key=lambda letter: (days[letter], letter))


def _guess(asked: AnswerPrompt) -> str:
    """A letter that depends on the question alone: right as often as chance."""
    digest = hashlib.sha256(asked.question.encode()).digest()
    return asked.options[digest[0] % len(asked.options)][0]
