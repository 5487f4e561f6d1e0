"""The LoCoMo importer, on a small file of our own and on the real one where it is at hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.importers.base import ImportRefused, Report, importer
from benchmarks.importers.locomo import import_locomo
from benchmarks.packs.files import open_pack
from tests.shared_data import SHARED_DATA, shared_json

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "tests/data/locomo/small.json"


def imported(tmp_path: Path, **options: str) -> Report:
    return import_locomo(SMALL, tmp_path / "p", licence_confirmed=True, **options)  # type: ignore[arg-type]  # scorer


def test_it_refuses_without_the_licence(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="CC-BY-NC"):
        importer("locomo")(SMALL, tmp_path / "p", licence_confirmed=False)
    assert not (tmp_path / "p").exists()


def test_the_small_file_becomes_a_valid_private_pack(tmp_path: Path) -> None:
    report = imported(tmp_path)
    pack = open_pack(report.directory)
    assert pack.validate() == []
    assert pack.hash == report.pack_hash
    assert pack.manifest.visibility == "private"
    assert report.counts == {"samples": 1, "adds": 2, "asks": 6, "questions": 6}


def test_speakers_captions_and_dates_are_kept(tmp_path: Path) -> None:
    sample = next(open_pack(imported(tmp_path).directory).samples())
    assert sample.events[0].add is not None
    last = sample.events[0].add.messages[-1]
    assert last.role == "user"
    assert str(last.content).startswith("Mira: Behind the old brewery")
    assert str(last.content).endswith("[shares a picture: a photo of a person in a white suit with a veil]")
    assert last.timestamp == datetime(2024, 2, 3, 9, 5, tzinfo=UTC).timestamp() * 1000


def test_categories_become_capabilities_and_scorers(tmp_path: Path) -> None:
    questions = open_pack(imported(tmp_path).directory).questions().values()
    assert [(q.capability, q.leaf, q.scorer, q.gold) for q in questions] == [
        ("A", "single-hop", "token_f1", "behind the old brewery"),
        ("C", "temporal", "token_f1", "20 March 2024"),
        ("A", "single-hop", "token_f1", "2"),
        ("B", "multi-hop", "token_f1", "honey, canoe"),
        ("B", "open-domain", "token_f1", "Likely no"),
        ("H", "adversarial", "abstain", None),
    ]


def test_declining_has_a_small_weight_and_the_rest_is_by_share(tmp_path: Path) -> None:
    manifest = open_pack(imported(tmp_path).directory).manifest
    assert {c.id: round(c.weight, 4) for c in manifest.capabilities} == {
        "A": 0.38,
        "B": 0.38,
        "C": 0.19,
        "H": 0.05,
    }


def test_odd_evidence_is_understood_or_dropped_and_counted(tmp_path: Path) -> None:
    report = imported(tmp_path)
    questions = list(open_pack(report.directory).questions().values())
    assert [q.evidence for q in questions[2:5]] == [("s2:2",), ("s2:1", "s2:2"), ("s1:1",)]
    assert (report.evidence_kept, report.evidence_repaired, report.evidence_dropped) == (6, 3, 1)


def test_a_judge_can_grade_instead(tmp_path: Path) -> None:
    questions = open_pack(imported(tmp_path, scorer="judge_binary").directory).questions().values()
    assert {q.scorer for q in questions} == {"judge_binary", "abstain"}


def test_a_smaller_file_is_noted(tmp_path: Path) -> None:
    assert "not the full file of ten" in imported(tmp_path).notes[0]


@pytest.mark.parametrize("content", ["{", "{}", "[]", '[{"sample_id": "x"}]'])
def test_another_layout_is_refused(tmp_path: Path, content: str) -> None:
    source = tmp_path / "other.json"
    source.write_text(content)
    with pytest.raises(ImportRefused):
        import_locomo(source, tmp_path / "p", licence_confirmed=True)


def test_ten_conversations_with_other_counts_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "ten.json"
    source.write_text(json.dumps(json.loads(SMALL.read_text()) * 10))
    with pytest.raises(ImportRefused, match="not the published"):
        import_locomo(source, tmp_path / "p", licence_confirmed=True)


def test_the_real_file_has_the_published_counts(tmp_path: Path) -> None:
    shared_json("locomo10", "locomo10.json")
    report = import_locomo(SHARED_DATA / "locomo10/locomo10.json", tmp_path / "p", licence_confirmed=True)
    assert report.categories == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }
    assert report.counts == {"samples": 10, "adds": 399, "asks": 1986, "questions": 1986}
    assert (report.evidence_repaired, report.evidence_dropped) == (15, 3)
    assert open_pack(report.directory).validate() == []
