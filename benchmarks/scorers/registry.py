"""Scorers by name, found through dotted paths: a new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from benchmarks.scorers.base import Scorer

PATHS = (
    "benchmarks.scorers.exact",
    "benchmarks.scorers.token_f1",
    "benchmarks.scorers.choice",
    "benchmarks.scorers.choice_set",
    "benchmarks.scorers.ordering",
    "benchmarks.scorers.judge_binary",
    "benchmarks.scorers.judge_rubric_all",
    "benchmarks.scorers.judge_rubric_mean",
    "benchmarks.scorers.event_order",
    "benchmarks.scorers.judge_preference",
    "benchmarks.scorers.abstain",
    "benchmarks.scorers.code_tests",
)


def _load(path: str) -> Scorer:
    scorer = import_module(path).SCORER
    if not isinstance(scorer, Scorer):
        raise TypeError(f"{path}.SCORER is no Scorer")
    return scorer


SCORERS: Mapping[str, Scorer] = MappingProxyType({scorer.name: scorer for scorer in map(_load, PATHS)})
