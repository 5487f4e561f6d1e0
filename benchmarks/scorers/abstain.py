"""Whether an answer declines, by rule, in English and Chinese (scoring.md, 1.5)."""

from __future__ import annotations

import re
from typing import Any

from benchmarks.scorers.base import Scorer
from benchmarks.types import Question, Score, Verdict

_NOT = r"(?:no|not|n't|never|cannot|can't|unable|without)"
_DECLINES = re.compile(
    r"\bno (?:relevant |such |specific |further |available |direct |clear )*"
    r"(?:information|info|record|records|mention|memory|memories|evidence|data|details?|answer)\b"
    r"|\b(?:is|was|are|were|been|has|have|does|do|did)(?: not|n['’]t) (?:\w+ ){0,2}?"
    r"(?:mentioned|mention|stated|state|specified|specify|provided|provide|known|recorded|say|said|"
    r"discussed|available|contain|include|indicated?|disclosed|given|enough|sufficient)\b"
    r"|\bnot (?:mentioned|stated|specified|provided|known|recorded|discussed|available|indicated|given|"
    r"enough|sufficient|answerable|sure|certain)\b"
    r"|\b(?:i|we) (?:really |simply |just )?(?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t) "
    r"(?:\w+ )?(?:know|tell|say|answer|determine|recall|remember|find|share|disclose|provide|confirm|see)\b"
    r"|\b(?:cannot|can['’]t|can not|could not|couldn['’]t|impossible to|unable to) (?:be )?"
    r"(?:determined?|answer(?:ed)?|known?|inferred|infer|tell|told|say|said|verif(?:y|ied)|confirm(?:ed)?|"
    r"disclosed?|shared?)\b"
    r"|\b(?:unknown|unanswerable|undisclosed|insufficient (?:information|evidence|data))\b"
    r"|\bthere(?:'s| is| are| was| were) (?:no|nothing)\b"
    r"|不知道|不清楚|不确定|无法(?:确定|回答|得知|判断|提供|透露|确认|知道)|不能(?:确定|回答|提供|透露)"
    r"|没有(?:任何)?(?:相关|提到|提及|说明|记录|信息|记忆|足够|找到|具体)"
    r"|未(?:提及|提到|说明|记录|知|找到|透露)|并未|信息不足|没提到|没有说|没说",
    re.IGNORECASE,
)
# What follows one of these takes the declining back: "I don't know the day, but it was in May".
_TAKES_BACK = re.compile(
    r"\b(?:but|however|although|though|except|nevertheless|still|likely|probably|presumably|perhaps|might|"
    r"may be|my guess|best guess)\b|但|不过|然而|可能|也许|大概|应该是|推测",
    re.IGNORECASE,
)
MAX_WORDS = 60


def declines(answer: str) -> bool:
    """True if the answer says that it can't be given and then gives none.

    An empty string is not a refusal: it is what a broken system returns.
    """
    text = answer.strip()
    if not text or len(text.split()) > MAX_WORDS or len(text) > 400:
        return False
    found = _DECLINES.search(text)
    if not found or not _opens_with(text, found.start()):
        return False
    return not _TAKES_BACK.search(text[found.end() :])


def _opens_with(text: str, position: int) -> bool:
    """The declining belongs to the first sentence; a claim before it is an answer."""
    return not re.search(r"[.!?](?=\s)|[。!?\uff01\uff1f;\uff1b\n]", text[:position])


def score(question: Question, *, gold: Any = None, answer: str, verdict: Verdict | None = None) -> Score:
    return Score(value=float(declines(answer)), details={"empty": not answer.strip()})


SCORER = Scorer(name="abstain", revision=1, score=score)
