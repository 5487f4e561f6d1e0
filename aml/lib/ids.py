"""Opaque ids: ``aml:`` + base32 of an HMAC under a secret (contract.md, "Ids")."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

MAX_ID_LENGTH = 64  # what the contract promises of the ids that services are sent


def opaque_id(secret: bytes, *parts: str) -> str:
    """Same parts and secret, same id: 56 characters of ``[a-z2-7:]``, telling nothing of either."""
    message = b"\x00".join(part.encode() for part in parts)
    digest = hmac.new(secret, message, hashlib.sha256).digest()
    return "aml:" + base64.b32encode(digest).decode().rstrip("=").lower()


def new_secret() -> bytes:
    return secrets.token_bytes(32)


def public_id(length: int = 12) -> str:
    """A random, URL-safe id without look-alike characters (Crockford's base32)."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    return "".join(secrets.choice(alphabet) for _ in range(length))
