"""Benchmark files that tests read where they lie, outside the project (not all may be copied)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED_DATA = Path(os.environ.get("AML_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")


def shared_file(*parts: str) -> Path:
    """One file; skips the test, saying what is missing, for someone without the data."""
    path = SHARED_DATA.joinpath(*parts)
    if not path.is_file():
        pytest.skip(f"shared data not here: {path} (set AML_SHARED_DATA)")
    return path


def shared_json(*parts: str) -> Any:
    """The JSON of one file, or the test is skipped."""
    return json.loads(shared_file(*parts).read_text(encoding="utf-8"))
