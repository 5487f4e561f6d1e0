"""Packs in and out of the database."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from aml.web import audit
from aml.web.models import AuditEntry
from benchmarks.models import PackRelease
from benchmarks.packs.files import open_pack
from benchmarks.services import import_pack
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def output(*command: str) -> str:
    stream = io.StringIO()
    call_command(*command, stdout=stream)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["pack", "pack.zip"])
def test_an_exported_pack_is_the_one_that_was_imported(tmp_path: Path, name: str) -> None:
    output("import_pack", "textual-smoke")
    said = output("export_pack", "textual-smoke", "--out", str(tmp_path / name))
    assert "the same hash" in said
    assert open_pack(tmp_path / name).hash == PackRelease.objects.get().hash


def test_importing_again_makes_no_second_release() -> None:
    output("import_pack", "textual-smoke")
    output("import_pack", "textual-smoke")
    assert PackRelease.objects.count() == 1


def test_a_release_with_files_that_are_not_kept_is_not_exported(tmp_path: Path) -> None:
    release = import_pack("textual-smoke")
    release.manifest["files"]["media/a.png"] = "0" * 64
    release.save()
    with pytest.raises(CommandError, match="can't be written"):
        output("export_pack", "textual-smoke", "--out", str(tmp_path / "pack"))
    assert not (tmp_path / "pack").exists()


def test_an_export_never_overwrites(tmp_path: Path) -> None:
    import_pack("textual-smoke")
    with pytest.raises(CommandError, match="is there already"):
        output("export_pack", "textual-smoke", "--out", str(tmp_path))


def test_an_unknown_pack_is_named_in_the_error() -> None:
    with pytest.raises(CommandError, match="no pack nothing"):
        output("export_pack", "nothing")


def test_a_benchmark_without_a_confirmed_licence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Confirm that you may use it"):
        output("import_benchmark", "locomo", str(tmp_path))
    assert not PackRelease.objects.exists()


def test_an_edited_audit_row_fails_the_check() -> None:
    audit.record("row.published", subject="run:1", public=True)
    audit.seal()
    assert "chain intact" in output("verify_audit")
    AuditEntry.objects.update(reason="edited")
    with pytest.raises(CommandError, match="row 1 was edited"):
        output("verify_audit")


def test_another_persons_name_on_a_sealed_row_fails_the_check() -> None:
    audit.record("row.published", subject="run:1", actor=make_user())
    audit.seal()
    AuditEntry.objects.update(actor=make_user())
    with pytest.raises(CommandError, match="row 1 names another person"):
        output("verify_audit")
