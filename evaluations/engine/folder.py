"""The folder of a command-line run: its secret, what it measures, journal and bundles.

``run.json`` is written before the first call and never changed: a resumed run keeps secret and
contract, or it would be another run.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from aml.lib.ids import new_secret, public_id

FORMAT = "aml-run/1"
BUNDLE = "bundle"  # sealed
PUBLIC_BUNDLE = "bundle-public"


class FolderRefused(Exception):
    """The folder can't be used for this run; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """``secret`` in hex; ``target`` names the service or the arm, without credentials."""

    format: str
    id: str
    secret: str
    started_at: float
    pack: str
    pack_hash: str
    contract_hash: str
    target: str

    @property
    def key(self) -> bytes:
        return bytes.fromhex(self.secret)


def new_identity(*, pack: str, pack_hash: str, contract_hash: str, target: str, now: float) -> RunIdentity:
    return RunIdentity(
        format=FORMAT,
        id=public_id(),
        secret=new_secret().hex(),
        started_at=now,
        pack=pack,
        pack_hash=pack_hash,
        contract_hash=contract_hash,
        target=target,
    )


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keeps a second process out of the folder; the lock ends with this process, however that ends."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FolderRefused(f"another process is running in {out}") from error
        yield


def claim_folder(out: Path, *, wanted: RunIdentity, resume: bool) -> RunIdentity:
    """The identity to run under: ``wanted`` in a new folder, the folder's own with ``resume``."""
    path = out / "run.json"
    if not path.exists():
        _write_private(path, orjson.dumps(asdict(wanted), option=orjson.OPT_INDENT_2))
        return wanted
    if not resume:
        raise FolderRefused(
            f"{out} holds a run already: go on with --resume, or name another folder with --out"
        )
    known = RunIdentity(**orjson.loads(path.read_bytes()))
    for name in ("format", "pack", "pack_hash", "contract_hash", "target"):
        if getattr(known, name) != getattr(wanted, name):
            raise FolderRefused(
                f"{out} was started with {name} {getattr(known, name)}, this is {getattr(wanted, name)}: "
                "a run can only be resumed as it was"
            )
    return known


def _write_private(path: Path, data: bytes) -> None:
    """Whole or not at all, and readable by the owner only: the secret tells all ids of the run."""
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data + b"\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
