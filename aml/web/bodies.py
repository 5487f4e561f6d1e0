"""The content-addressed store: bytes lie compressed in Django's storage under their SHA-256."""

from __future__ import annotations

import zlib

from django.core.files.base import ContentFile
from django.core.files.storage import storages

from aml.lib.canonical import sha256_hex
from aml.web.models import Body


class MissingBody(LookupError):
    """A row names a body that the store doesn't hold: our fault, never the participant's."""


def put(data: bytes) -> str:
    """Store ``data`` and return its SHA-256; the same bytes are stored once.

    The file is written before the row, so that a row always has its file; a crash between the two
    leaves a file without a row, which the next ``put`` of the same bytes takes up.
    """
    digest = sha256_hex(data)
    if Body.objects.filter(pk=digest).exists():
        return digest
    packed = zlib.compress(data, 6)
    storage = storages["bodies"]
    if not storage.exists(_path(digest)):
        storage.save(_path(digest), ContentFile(packed))
    Body.objects.bulk_create(
        [Body(sha256=digest, size=len(data), stored_size=len(packed))], ignore_conflicts=True
    )
    return digest


def get(digest: str) -> bytes:
    """The bytes of a body; raises ``MissingBody`` if they are gone or damaged."""
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
