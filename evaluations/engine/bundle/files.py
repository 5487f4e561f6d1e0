"""A bundle's files, in a folder or in a zip, read and written the same way.

A zip is written in one canonical form (stored, fixed order, date and attributes), so that a changed
byte outside the members' contents is noticed too: the reader writes it again and compares.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

STATEMENT = "statement.json"
ITEMS = "items.jsonl"
CLUSTERS = "clusters.jsonl"
SIGNATURE = "signature.json"
KNOWN = (STATEMENT, ITEMS, CLUSTERS, SIGNATURE)

MAX_FILE = 512 * 1024 * 1024


class BundleError(Exception):
    """The bundle can't be read at all; the message says why."""


def write_files(destination: Path, *, files: Mapping[str, bytes]) -> None:
    """A zip if the name ends in ``.zip``, else a folder, replaced file by file."""
    if destination.suffix == ".zip":
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_bytes(zip_bytes(files))
        return
    destination.mkdir(parents=True, exist_ok=True)
    for name in KNOWN:
        if name in files:
            (destination / name).write_bytes(files[name])
        else:
            (destination / name).unlink(missing_ok=True)


def read_files(path: Path) -> dict[str, bytes]:
    """Name to bytes. A folder's entries that are no plain files appear as empty ones, to be refused."""
    if path.is_dir():
        return {entry.name: _read(entry) for entry in sorted(path.iterdir())}
    if not path.is_file():
        raise BundleError(f"{path} is neither a folder nor a file")
    return _read_zip(path)


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            member.create_system = 3  # Unix on every system, or the bytes would differ
            member.external_attr = 0o644 << 16
            archive.writestr(member, files[name])
    return buffer.getvalue()


def _read(entry: Path) -> bytes:
    if not entry.is_file():
        return b""
    if entry.stat().st_size > MAX_FILE:
        raise BundleError(f"{entry.name} is larger than {MAX_FILE} bytes")
    return entry.read_bytes()


def _read_zip(path: Path) -> dict[str, bytes]:
    raw = _read(path)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(member.file_size for member in archive.infolist()) > len(raw):
                raise BundleError(
                    f"{path.name}: members are larger than the zip; bundles are stored uncompressed"
                )
            files = {member.filename: archive.read(member) for member in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise BundleError(f"{path.name} can't be read as a zip: {error}") from error
    if zip_bytes(files) != raw:
        raise BundleError(f"{path.name}: the zip itself was changed (it is not in the canonical form)")
    return files
