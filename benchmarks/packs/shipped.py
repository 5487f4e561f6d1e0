"""Packs that ship as generators: by name, made on demand, the same bytes on every machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from benchmarks.packs.prompts import default_prompts
from benchmarks.packs.textual.pack import generate
from benchmarks.types import Manifest

ALIASES: Mapping[str, str] = {"tiny": "textual-tiny"}
GENERATORS: Mapping[str, Callable[[str, Path], Manifest]] = {
    "textual-tiny": generate,
    "textual-demo": generate,
    "textual-smoke": generate,
    "textual-load": generate,
}
SHIPPED: frozenset[str] = frozenset(GENERATORS) | frozenset(ALIASES)


def materialise(name: str, directory: Path) -> Path:
    """The folder of a shipped pack below ``directory``, generated unless it is there already.

    The folder's name carries a fingerprint of the generator, so that a changed generator never
    finds an old pack. ``KeyError`` for a name that isn't shipped.
    """
    full = ALIASES.get(name, name)
    target = directory / f"{full}-{fingerprint()[:12]}"
    if not target.exists():
        try:
            GENERATORS[full](full, target)
        except OSError:
            # Another process made the same pack meanwhile: its bytes are the same.
            if not (target / "pack.json").exists():
                raise
    return target


def cached(name: str) -> Path:
    """``materialise`` below the user's cache folder, or ``AML_PACK_CACHE`` where that is set."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return materialise(name, Path(os.environ.get("AML_PACK_CACHE") or Path(base) / "aml" / "packs"))


@cache
def fingerprint() -> str:
    """SHA-256 over everything that shipped packs are made from."""
    digest = hashlib.sha256()
    for name, data in sorted(_sources(files("benchmarks.packs") / "textual", prefix="textual")):
        digest.update(f"{name}\n{len(data)}\n".encode() + data)
    for name, text in sorted(default_prompts().items()):
        digest.update(f"{name}\n{text}".encode())
    for name in ("capabilities.py", "chunking.py", "files.py"):
        digest.update((files("benchmarks.packs") / name).read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable, *, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{prefix}/{entry.name}"
        if entry.is_dir():
            found += _sources(entry, prefix=name)
        elif entry.name.endswith((".py", ".txt")):
            found.append((name, entry.read_bytes()))
    return found
