"""Keys in both directions: the Evaluation Key we issue, and the memory key we are given.

An Evaluation Key reads ``aml_live_<id>_<secret>_<check>``. Only a keyed hash of it is stored. The last part
is a checksum, so that a key with a slip in it is told apart from one that was revoked.

A memory key is encrypted with keys of its own and bound to its version: the ciphertext copied into another
row does not open there.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Protocol

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from aml.lib.ids import public_id

PREFIX = "aml_live_"
ID_LENGTH = 12
SECRET_LENGTH = 32  # 160 bits
CHECK_LENGTH = 6
LAST_SHOWN = 4
# Below this, the last four characters would give away too much of a memory key.
LAST_SHOWN_FROM = 12

_PART = re.compile(r"[0-9a-hjkmnp-tv-z]+")


class MalformedKey(ValueError):
    """The text can't be an Evaluation Key; the message says what is wrong with its form."""


class UnreadableMemoryKey(Exception):
    """The stored memory key opens with none of our keys, or belongs to another version."""


@dataclass(frozen=True, slots=True)
class ParsedKey:
    key_id: str
    text: str

    def __repr__(self) -> str:
        return f"ParsedKey({PREFIX}{self.key_id}_…)"


class HoldsMemoryKey(Protocol):
    """What is needed of a version to open its memory key."""

    public_id: str
    memory_key_encrypted: bytes | memoryview | None


def new_evaluation_key(*, key_id: str | None = None) -> ParsedKey:
    """A fresh key; with ``key_id`` a new secret for a key that exists."""
    stem = f"{PREFIX}{key_id or public_id(ID_LENGTH)}_{public_id(SECRET_LENGTH)}"
    return parse_evaluation_key(f"{stem}_{_check(stem)}")


def parse_evaluation_key(text: str) -> ParsedKey:
    """Split a key and verify its form; raises MalformedKey. Says nothing on whether it exists."""
    if not text.startswith(PREFIX):
        raise MalformedKey(f"An Evaluation Key begins with {PREFIX}.")
    parts = text.removeprefix(PREFIX).split("_")
    lengths = (ID_LENGTH, SECRET_LENGTH, CHECK_LENGTH)
    if len(parts) != len(lengths) or any(
        len(part) != length for part, length in zip(parts, lengths, strict=True)
    ):
        raise MalformedKey("The key is cut short or too long; copy it again, whole.")
    if not all(_PART.fullmatch(part) for part in parts):
        raise MalformedKey("The key holds a character that no Evaluation Key has; copy it again, whole.")
    if not hmac.compare_digest(_check(text.rpartition("_")[0]), parts[-1]):
        raise MalformedKey("The checksum does not fit: a character differs from the key you were given.")
    return ParsedKey(key_id=parts[0], text=text)


def digest_of(key: ParsedKey) -> str:
    """HMAC-SHA256 under the pepper, 64 hex digits: a copy of the database alone verifies no guess."""
    return hmac.new(settings.KEY_PEPPER.encode(), key.text.encode(), hashlib.sha256).hexdigest()


def digest_matches(key: ParsedKey, digest: str) -> bool:
    return hmac.compare_digest(digest_of(key), digest)


def encrypt_memory_key(key: str, *, version_id: str) -> bytes:
    """Ciphertext under the newest of ``ENCRYPTION_KEYS``, bound to the version's public id."""
    return _fernet().encrypt(f"{version_id}\0{key}".encode())


def reveal_memory_key(version: HoldsMemoryKey) -> str:
    """The memory key in clear, or "" if none is set. To be called where a call is made, and nowhere else.

    Raises UnreadableMemoryKey.
    """
    if version.memory_key_encrypted is None:
        return ""
    try:
        text = _fernet().decrypt(bytes(version.memory_key_encrypted)).decode()
    except InvalidToken as error:
        raise UnreadableMemoryKey(f"version {version.public_id}: none of our keys opens it") from error
    owner, _, key = text.partition("\0")
    if owner != version.public_id:
        raise UnreadableMemoryKey(f"version {version.public_id}: the stored key belongs to another version")
    return key


def last_characters(key: str) -> str:
    """What pages may show of a memory key."""
    return key[-LAST_SHOWN:] if len(key) >= LAST_SHOWN_FROM else ""


def _check(stem: str) -> str:
    """A checksum over the whole key; it catches slips and holds no secret of ours."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    digest = hashlib.sha256(stem.encode()).digest()
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:CHECK_LENGTH])


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
