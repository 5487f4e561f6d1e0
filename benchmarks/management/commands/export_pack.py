"""``manage.py export_pack ID``: an imported release as a folder or zip."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aml.web.errors import Refusal
from benchmarks.models import PackRelease
from benchmarks.services import export_pack


class Command(BaseCommand):
    help = "Write an imported pack, questions and gold included, to a folder or, with a name in .zip, a zip."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="pack id, or id@version; without a version the newest")
        parser.add_argument("--out", type=Path, help="folder or .zip; default: <id>-<version> here")

    def handle(self, *args: Any, **options: Any) -> None:
        release = _release(options["id"])
        target: Path = options["out"] or Path(f"{release.pack}-{release.version}")
        try:
            written = _write(release, target)
        except (Refusal, OSError) as error:
            raise CommandError(str(error)) from error
        same = "the same hash" if written == release.hash else f"hash {written}: files differ in form"
        self.stdout.write(f"{release} → {target} ({same} as imported)")


def _release(name: str) -> PackRelease:
    pack, _, version = name.partition("@")
    found = PackRelease.objects.filter(pack=pack).order_by("-imported_at", "-pk")
    release = (found.filter(version=version) if version else found).first()
    if release is None:
        raise CommandError(f"no pack {name}; imported are: {', '.join(map(str, PackRelease.objects.all()))}")
    return release


def _write(release: PackRelease, target: Path) -> str:
    """The written pack's hash."""
    if target.exists():
        raise FileExistsError(f"{target} is there already")
    if target.suffix != ".zip":
        return export_pack(release, target).hash
    with tempfile.TemporaryDirectory() as scratch:
        pack = export_pack(release, Path(scratch) / "pack")
        shutil.make_archive(str(target.with_suffix("")), "zip", Path(scratch) / "pack")
    return pack.hash
