"""From memories to an answer: render the prompt, call the model, read the final answer.

The prompt is the same for every entrant; memory text is fenced data (packs.md, "Answering").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aml.lib.canonical import sha256_hex
from aml.lib.text import safe_text
from benchmarks.scorers.letters import single_letters
from benchmarks.types import Question
from evaluations.engine import tokens
from evaluations.engine.fencing import call_nonce, fence, fill, neutralise
from evaluations.engine.memories import content_text, show_memories
from evaluations.engine.types import ChatModel, Completion, Failure, MemoryItem, RenderedPrompt

__all__ = ["AnswerOutcome", "answer_question", "call_nonce", "parse_answer", "render_answer_prompt"]

MAX_ANSWER_WORDS = 200

FORMATS = {
    "choice": "The question has options: the final answer is the letter of the best one, and nothing else.",
    "choice_set": "The question has options: the final answer is the letters of all that are right, "
    "separated by commas, each once.",
    "ordering": "The question has options: the final answer is all letters in the right order, "
    "separated by commas.",
    "event_order": "The final answer is a list of events in their order, one a line, numbered.",
    "code_tests": "The final answer is one unified diff (with --- and +++ lines) that makes the change.",
}
DEFAULT_FORMAT = "Keep the final answer under 200 words."
# A patch is longer than an answer in words, and cutting it would break it.
UNCAPPED = frozenset({"code_tests"})

_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_ORPHAN_REASONING = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_ANSWER = re.compile(r"<answer>((?:(?!<answer>).)*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_WORD = re.compile(
    r"[\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"|[^\s\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """``completion`` answers ``prompt``; where it was asked again, ``first`` is the reply before it."""

    prompt: RenderedPrompt
    completion: Completion
    answer: str
    reasked: bool = False
    failure: Failure | None = None
    first: Completion | None = None


def render_answer_prompt(
    *, template: str, question: Question, items: Sequence[MemoryItem], budget: int, nonce: str
) -> RenderedPrompt:
    """``template`` with ``{question}``, ``{options}``, ``{memories}``, ``{format}`` and ``{nonce}`` filled.

    ``budget`` is in tokens for the whole prompt; ``items`` are cut to what is left of it. Token
    counts are sums over the pieces, each media part at a flat figure.
    """
    slots = {
        "question": _question_text(question, nonce=nonce),
        "options": _options_text(question, nonce=nonce),
        "format": FORMATS.get(question.scorer, DEFAULT_FORMAT),
        "nonce": nonce,
    }
    frame = tokens.count(fill(template, {**slots, "memories": ""}))
    shown = show_memories(items, budget=max(budget - frame, 0), nonce=nonce)
    text = fill(template, {**slots, "memories": shown.text})
    return RenderedPrompt(
        text=text,
        sha256=sha256_hex(text.encode("utf-8", "replace")),
        nonce=nonce,
        tokens=frame + shown.tokens,
        items_given=shown.given,
        items_cut=shown.cut,
        memory_tokens=shown.tokens,
    )


def _question_text(question: Question, *, nonce: str) -> str:
    query = question.query
    content = query if isinstance(query, str) else [part.model_dump() for part in query]
    return fence("question", content_text(content, nonce=nonce), nonce=nonce)


def _options_text(question: Question, *, nonce: str) -> str:
    texts = question.option_texts()
    if texts is None:
        return ""
    return fence("options", neutralise("\n".join(texts)), nonce=nonce)


def parse_answer(text: str, *, max_words: int | None = MAX_ANSWER_WORDS) -> str:
    """The final answer: the last ``<answer>`` without reasoning, or the whole reply where there is none.

    Cut to ``max_words`` words, where each CJK character counts as one, so that an answer can't
    win by listing everything.
    """
    visible = _ORPHAN_REASONING.sub("", _REASONING.sub("", text))
    found = [match.group(1).strip() for match in _ANSWER.finditer(visible)]
    answer = next((body for body in reversed(found) if body), "") if found else visible.strip()
    return answer if max_words is None else _cap(answer, words=max_words)


def _cap(text: str, *, words: int) -> str:
    for index, match in enumerate(_WORD.finditer(text)):
        if index == words:
            return text[: match.start()].rstrip()
    return text


async def answer_question(
    *,
    model: ChatModel,
    template: str,
    question: Question,
    items: Sequence[MemoryItem],
    budget: int,
    nonce: str,
) -> AnswerOutcome:
    """One answer, asked a second time only where a single choice came back without exactly one letter."""
    prompt = render_answer_prompt(
        template=template, question=question, items=items, budget=budget, nonce=nonce
    )
    outcome = await _ask(model=model, question=question, prompt=prompt)
    if outcome.failure is not None or not _needs_one_letter(question, outcome.answer):
        return outcome
    again = await _ask(
        model=model, question=question, prompt=_ask_again(prompt, reply=outcome.completion.text)
    )
    return replace(again, reasked=True, first=outcome.completion)


async def _ask(*, model: ChatModel, question: Question, prompt: RenderedPrompt) -> AnswerOutcome:
    completion = await model.complete(prompt.text)
    limit = None if question.scorer in UNCAPPED else MAX_ANSWER_WORDS
    # Scored as it is stored, so that a later recomputation gives the same.
    answer = "" if completion.failure else parse_answer(safe_text(completion.text), max_words=limit)
    return AnswerOutcome(prompt=prompt, completion=completion, answer=answer, failure=completion.failure)


def _needs_one_letter(question: Question, answer: str) -> bool:
    return question.scorer == "choice" and len(single_letters(question, answer)) != 1


def _ask_again(prompt: RenderedPrompt, *, reply: str) -> RenderedPrompt:
    added = (
        f"\n\nYour reply was:\n{neutralise(reply[:2_000])}\n\n"
        "It does not give exactly one letter. "
        "Reply with the single letter of the best option as <answer>…</answer>."
    )
    text = prompt.text + added
    return replace(
        prompt,
        text=text,
        sha256=sha256_hex(text.encode("utf-8", "replace")),
        tokens=prompt.tokens + tokens.count(added),
    )
