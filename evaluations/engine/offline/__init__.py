"""The offline models: deterministic, without weights, for laptops, tests and demonstrations.

``REVISION`` changes with any change of what they say: results of two revisions can't be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from evaluations.engine.offline.answerer import answer
from evaluations.engine.offline.judge import judge

ANSWER_MODEL = "aml-offline-answer-1"
JUDGE_MODEL = "aml-offline-judge-1"
REVISION = 1

__all__ = ["ANSWER_MODEL", "JUDGE_MODEL", "MODELS", "REVISION", "answer", "judge"]

MODELS: Mapping[str, Callable[[str], str]] = MappingProxyType({ANSWER_MODEL: answer, JUDGE_MODEL: judge})
