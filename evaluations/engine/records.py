"""What the journal keeps of an exchange or a model call: plain JSON, no credentials, no memories.

Models can be brought to send NUL and lone surrogates, which neither a file nor PostgreSQL's jsonb holds.
"""

from __future__ import annotations

from aml.lib.canonical import sha256_hex
from aml.lib.text import safe_text
from benchmarks.types import Verdict
from evaluations.engine.answering import AnswerOutcome
from evaluations.engine.errors import Code
from evaluations.engine.journal import Record
from evaluations.engine.judging import JudgeOutcome
from evaluations.engine.types import Completion, Exchange, Failure, RenderedPrompt

DONE, FAILED = "done", "failed"

# The model did answer, and would most likely answer the same for ever: a few attempts, then unscored.
# Every other model failure waits until the provider works again.
ANSWERED = frozenset({Code.MODEL_REFUSED, Code.MODEL_TRUNCATED, Code.JUDGE_UNPARSABLE})
ANSWERED_TRIES = 3


def exchange_record(exchange: Exchange) -> Record:
    """``latency`` in seconds, from the request sent to the whole reply."""
    return {
        "request_sha256": sha256_hex(exchange.request_body),
        "reply_sha256": exchange.response_sha256,
        "latency": exchange.timing.latency,
    }


def failure_record(failure: Failure) -> Record:
    return {
        "state": FAILED,
        "code": str(failure.code),
        "fault": failure.fault.value,
        "status": failure.status,
        "sentence": failure.sentence,
    }


def answer_record(outcome: AnswerOutcome, *, needs_judge: bool) -> Record:
    """What the model saw can be rendered again from reply, template and nonce; its hash is kept."""
    return {
        "answer": safe_text(outcome.answer),
        "raw": safe_text(outcome.completion.text),
        "reasked": outcome.reasked,
        "needs_judge": needs_judge,
        **_prompt_record(outcome.prompt),
        **_completion_record(outcome.completion),
    }


def judge_record(outcome: JudgeOutcome) -> Record:
    verdict = outcome.verdict
    return {
        "grades": [safe_text(grade) for grade in verdict.grades] if verdict else [],
        "reason": safe_text(verdict.reason) if verdict else "",
        "raw": safe_text(outcome.completion.text),
        **_prompt_record(outcome.prompt),
        **_completion_record(outcome.completion),
    }


def read_verdict(record: Record | None) -> Verdict | None:
    if record is None or record["state"] != DONE:
        return None
    return Verdict(grades=tuple(record["grades"]), reason=record["reason"])


def _prompt_record(prompt: RenderedPrompt) -> Record:
    return {
        "prompt_sha256": prompt.sha256,
        "items_given": prompt.items_given,
        "items_cut": prompt.items_cut,
        "memory_tokens": prompt.memory_tokens,
    }


def _completion_record(completion: Completion) -> Record:
    return {
        "model": safe_text(completion.model),
        "fingerprint": _safe(completion.fingerprint),
        "finish_reason": _safe(completion.finish_reason),
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "latency": round(completion.latency, 6),
    }


def _safe(text: str | None) -> str | None:
    return None if text is None else safe_text(text)
