"""The content-addressed store: bytes lie compressed in Django's storage under their SHA-256."""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Sequence
from pathlib import Path

from django.core.files.storage import storages

from aml.lib.canonical import sha256_hex
from aml.web.models import Body

DIGEST_LENGTH = 64


class MissingBody(LookupError):
    """A row names a body that the store doesn't hold: our fault, never the participant's."""


def put(data: bytes) -> str:
    """Store ``data`` and return its SHA-256; the same bytes are stored once."""
    return put_many([data])[0]


def put_many(blobs: Sequence[bytes]) -> list[str]:
    """Store each blob; returns their SHA-256 in order.

    Files are written before rows, so that a row always has its file; a crash between the two
    leaves a file without a row, which the next ``put`` of the same bytes takes up.
    """
    rows = {}
    digests = [sha256_hex(data) for data in blobs]
    for digest, data in zip(digests, blobs, strict=True):
        packed = zlib.compress(data, 3)
        _write_file(digest, packed)
        rows[digest] = Body(sha256=digest, size=len(data), stored_size=len(packed))
    Body.objects.bulk_create(rows.values(), ignore_conflicts=True)
    return digests


def _write_file(digest: str, packed: bytes) -> None:
    """Under a name of its own first, so that a crash or a second writer never leaves half a file."""
    storage = storages["bodies"]
    if storage.exists(_path(digest)):
        return
    target = Path(storage.path(_path(digest)))
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(f".{secrets.token_hex(6)}")
    draft.write_bytes(packed)
    draft.replace(target)


def get(digest: str) -> bytes:
    """The bytes of a body; raises ``MissingBody`` if they are gone or damaged."""
    if len(digest) != DIGEST_LENGTH:
        raise MissingBody(digest)
    try:
        with storages["bodies"].open(_path(digest)) as file:
            data = zlib.decompress(file.read())
    except (FileNotFoundError, zlib.error) as error:
        raise MissingBody(digest) from error
    if sha256_hex(data) != digest:
        raise MissingBody(digest)
    return data


def _path(digest: str) -> str:
    return f"{digest[:2]}/{digest[2:4]}/{digest}"
