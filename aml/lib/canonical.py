"""Canonical JSON (RFC 8785) and SHA-256 over it."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of ``value``; raises ``rfc8785.CanonicalizationError`` on what JSON can't hold."""
    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def canonical_hash(value: Any) -> str:
    """SHA-256 (64 hex digits) of the canonical JSON of ``value``."""
    return sha256_hex(canonical_json(value))
