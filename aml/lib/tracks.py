"""The three tracks of the challenge."""

from __future__ import annotations

from enum import StrEnum


class Track(StrEnum):
    TEXTUAL = "textual"
    CODING = "coding"
    MULTIMODAL = "multimodal"
