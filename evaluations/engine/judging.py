"""The Judge: what it is shown, and the strict reading of its reply.

It never sees the memories, and an answer can't speak for it: only a JSON object that carries the
call's nonce is a verdict (packs.md, "Scorers"; scoring.md, 2.6).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aml.lib.canonical import sha256_hex
from benchmarks.scorers import SCORERS
from benchmarks.types import Question, Verdict
from evaluations.engine import tokens
from evaluations.engine.errors import Code, failure
from evaluations.engine.fencing import as_json, fence, fill, neutralise
from evaluations.engine.memories import content_text
from evaluations.engine.types import ChatModel, Completion, Failure, RenderedPrompt

_READ_CHARACTERS = 40_000  # of the end of a reply: a verdict is the last thing in it
_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: _unique(pairs))


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """A verdict, or why there is none: the provider's failure or a reply that holds no verdict."""

    prompt: RenderedPrompt
    completion: Completion
    verdict: Verdict | None
    failure: Failure | None = None


def render_judge_prompt(
    *,
    template: str,
    question: Question,
    gold: Any,
    answer: str,
    grades: Sequence[str],
    criteria: Sequence[str],
    nonce: str,
) -> RenderedPrompt:
    """``template`` with its six slots filled: ``{question}``, ``{reference}``, ``{answer}``,
    ``{criteria}``, ``{grades}`` and ``{nonce}``."""
    slots = {
        "question": _question_text(question, nonce=nonce),
        "reference": fence("reference", as_json(gold), nonce=nonce),
        "answer": fence("answer", as_json(neutralise(answer)), nonce=nonce),
        "criteria": fence("criteria", "\n".join(map(as_json, criteria)), nonce=nonce),
        "grades": fence("menu", ", ".join(map(as_json, grades)), nonce=nonce),
        "nonce": nonce,
    }
    text = fill(template, slots)
    digest = sha256_hex(text.encode("utf-8", "replace"))
    return RenderedPrompt(text=text, sha256=digest, nonce=nonce, tokens=tokens.count(text))


def _question_text(question: Question, *, nonce: str) -> str:
    query = question.query
    content = query if isinstance(query, str) else [part.model_dump() for part in query]
    body = content_text(content, nonce=nonce)
    options = question.option_texts() or []
    return fence("question", "\n".join([body, *map(neutralise, options)]), nonce=nonce)


def parse_verdict(text: str, *, nonce: str, grades: Sequence[str], criteria: int) -> Verdict | None:
    """The last complete JSON object that carries ``nonce``, if its grades are on the menu; else None.

    Grades are compared whole and without regard to case; a verdict of the wrong length is none.
    """
    own = [found for found in _objects(text[-_READ_CHARACTERS:]) if found.get("nonce") == nonce]
    return _verdict(own[-1], grades=grades, criteria=criteria) if own else None


def _objects(text: str) -> list[dict[str, Any]]:
    """Top-level JSON objects in ``text``, in order; what is no JSON between them is passed over."""
    found: list[dict[str, Any]] = []
    position = text.find("{")
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            found.append(value)
        position = text.find("{", end)
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _verdict(found: dict[str, Any], *, grades: Sequence[str], criteria: int) -> Verdict | None:
    given = found.get("grades")
    if not isinstance(given, list) or len(given) != criteria:
        return None
    menu = {grade.casefold(): grade for grade in grades}
    read = [menu.get(_grade_text(grade)) for grade in given]
    reason = found.get("reason")
    if any(grade is None for grade in read):
        return None
    return Verdict(
        grades=tuple(grade for grade in read if grade is not None),
        reason=reason[:2_000] if isinstance(reason, str) else "",
    )


def _grade_text(grade: object) -> str:
    """A grade as text; the number 1 or 1.0 is the grade ``1``, true and false are no grades."""
    if isinstance(grade, str):
        return grade.strip().casefold()
    if isinstance(grade, int | float) and not isinstance(grade, bool):
        return f"{grade:g}"
    return ""


async def judge_answer(
    *, model: ChatModel, template: str, question: Question, gold: Any, answer: str, nonce: str
) -> JudgeOutcome:
    """One vote of the judge on one answer; the question's scorer must be one that asks a judge."""
    scorer = SCORERS[question.scorer]
    grades, criteria = scorer.grades_for(gold), scorer.criteria_for(gold, answer)
    prompt = render_judge_prompt(
        template=template,
        question=question,
        gold=gold,
        answer=answer,
        grades=grades,
        criteria=criteria,
        nonce=nonce,
    )
    completion = await model.complete(prompt.text)
    if completion.failure is not None:
        return JudgeOutcome(prompt, completion, None, completion.failure)
    verdict = parse_verdict(completion.text, nonce=nonce, grades=grades, criteria=len(criteria))
    return JudgeOutcome(prompt, completion, verdict, None if verdict else _unparsable(completion))


def _unparsable(completion: Completion) -> Failure:
    return failure(
        Code.JUDGE_UNPARSABLE,
        sentence=f"The judge's reply of {len(completion.text)} characters holds no verdict on the menu.",
        retryable=True,
    )
