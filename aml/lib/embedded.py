"""Secrets of an embedded installation: made once, kept in the data directory, readable by its owner only."""

from __future__ import annotations

import base64
import json
import os
import secrets
from pathlib import Path

FILE_NAME = "secrets.json"


def embedded_secrets(directory: Path) -> dict[str, str]:
    """Read the secrets of ``directory``, making them first if there are none."""
    path = directory / FILE_NAME
    if not path.exists():
        _write_once(path)
    loaded: dict[str, str] = json.loads(path.read_text())
    return loaded


def _write_once(path: Path) -> None:
    """Two processes may start at once: each writes a file of its own, and the first link wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(_new_secrets(), file)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _new_secrets() -> dict[str, str]:
    return {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "AML_KEY_PEPPER": secrets.token_urlsafe(48),
        "AML_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "AML_SIGNING_KEY": secrets.token_hex(32),
    }
