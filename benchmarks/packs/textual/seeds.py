"""Random numbers that are the same on every machine: seeded from SHA-256, never from ``hash()``."""

from __future__ import annotations

import hashlib
import random


def rng(*parts: str | int) -> random.Random:
    """A generator of its own for each tuple of parts."""
    text = "\x1f".join(str(part) for part in parts)
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    return random.Random(seed)  # noqa: S311 - texts are made with it, not secrets
