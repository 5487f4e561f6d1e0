"""What every importer shares: the licence gate, the report, and finding one by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from benchmarks.importers import IMPORTERS


class ImportRefused(Exception):
    """The data can't be imported; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Report:
    """What an import wrote. ``notes`` are sentences about the data for the organiser to read."""

    directory: Path
    pack_hash: str
    counts: Mapping[str, int]  # samples, adds, asks, questions
    categories: Mapping[str, int]  # questions by the source's own category
    evidence_kept: int = 0
    evidence_repaired: int = 0  # written in another form than the data's own, and understood
    evidence_dropped: int = 0  # names no message
    notes: tuple[str, ...] = field(default_factory=tuple)


class Importer(Protocol):
    def __call__(self, path: Path, directory: Path, *, licence_confirmed: bool) -> Report:
        """Read the source at ``path`` and write a pack to ``directory``; raises ``ImportRefused``."""
        ...


def importer(name: str) -> Importer:
    """The importer of that name; ``KeyError`` where there is none."""
    module, _, function = IMPORTERS[name].rpartition(".")
    return cast(Importer, getattr(import_module(module), function))


def require_licence(*, confirmed: bool, name: str, licence: str, terms: str) -> None:
    if not confirmed:
        raise ImportRefused(
            f"{name} is under {licence}: {terms}. Confirm that you may use it, then try again."
        )
