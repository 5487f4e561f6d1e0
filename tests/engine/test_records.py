from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aml.lib.text import storable
from benchmarks.types import Verdict
from evaluations.engine.answering import AnswerOutcome
from evaluations.engine.judging import JudgeOutcome
from evaluations.engine.records import answer_record, judge_record
from evaluations.engine.types import Completion, RenderedPrompt

PROMPT = RenderedPrompt(text="p", sha256="0" * 64, nonce="n", tokens=1)
#: Whatever a provider's JSON can hold, NUL and lone surrogates among it.
ANY = st.text(st.characters(codec=None))
COMPLETIONS = st.builds(
    Completion, text=ANY, model=ANY, fingerprint=st.none() | ANY, finish_reason=st.none() | ANY
)


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] if isinstance(value, str) else []


@given(completion=COMPLETIONS, answer=ANY)
def test_any_answer_gives_a_record_that_jsonb_takes(completion: Completion, answer: str) -> None:
    outcome = AnswerOutcome(prompt=PROMPT, completion=completion, answer=answer, failure=None)
    record = answer_record(outcome, needs_judge=False)
    assert all(storable(text) for text in texts(record))
    assert json.loads(json.dumps(record, ensure_ascii=False).encode()) == record


@given(completion=COMPLETIONS, reason=ANY, grade=ANY)
def test_any_verdict_gives_a_record_that_jsonb_takes(completion: Completion, reason: str, grade: str) -> None:
    outcome = JudgeOutcome(PROMPT, completion, Verdict(grades=(grade,), reason=reason), None)
    assert all(storable(text) for text in texts(judge_record(outcome)))
