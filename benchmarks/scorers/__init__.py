"""Scorers: one function a file, named by ``Question.scorer``."""

from benchmarks.scorers.base import Scorer
from benchmarks.scorers.registry import SCORERS

__all__ = ["SCORERS", "Scorer"]
