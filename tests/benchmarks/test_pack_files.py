"""Opening, validating and writing packs."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from aml.lib.canonical import canonical_hash
from benchmarks.packs.container import ReadLimits
from benchmarks.packs.files import (
    Case,
    PackError,
    evidence_messages,
    open_pack,
    schemas,
    validate_pack,
    write_pack,
)
from benchmarks.packs.golds import GOLD_SHAPES
from benchmarks.packs.validation import strict_json
from benchmarks.scorers import SCORERS
from tests.benchmarks.shapes import PROMPTS, case, edit_json, outline, question, write_small


def messages_of(folder: Path) -> list[str]:
    return [str(fault) for fault in validate_pack(folder)]


def zipped(folder: Path, target: Path, *, top: str = "") -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, top + path.relative_to(folder).as_posix())
    return target


def test_a_written_pack_has_no_faults(tmp_path: Path) -> None:
    assert messages_of(write_small(tmp_path / "p")) == []


def test_the_hash_is_that_of_the_manifest_as_it_stands(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    assert open_pack(folder).hash == canonical_hash(strict_json((folder / "pack.json").read_bytes()))


def test_a_zip_and_its_folder_have_the_same_hash(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    packed = open_pack(zipped(folder, tmp_path / "p.zip", top="small-1.0.0/"))
    assert packed.hash == open_pack(folder).hash
    assert packed.validate() == []
    assert packed.answer_template == PROMPTS["prompts/answer.txt"]


def test_writing_over_a_folder_that_holds_something_fails(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    with pytest.raises(OSError, match="not empty"):
        write_small(folder)
    assert messages_of(folder) == []


def test_a_broken_source_leaves_no_half_pack(tmp_path: Path) -> None:
    def cases() -> Any:
        yield case()
        raise RuntimeError("source ends early")

    with pytest.raises(RuntimeError):
        write_pack(tmp_path / "p", manifest=outline(), cases=cases(), prompts=PROMPTS, readme="")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"capability": "Z"}, "no capability 'Z'"),
        ({"leaf": "other"}, "no leaf 'other'"),
        ({"scorer": "magic"}, "no scorer 'magic'"),
        ({"query": "  "}, "query: is empty after trimming"),
        ({"gold": []}, "expected a string or a list of accepted strings"),
        ({"gold": None}, "expected a string or a list of accepted strings"),
        ({"dataset": "x"}, "no data set 'x'"),
        ({"evidence": ("s1:2",)}, "session 's1' has no message 2"),
        ({"evidence": ("s9:1",)}, "'s9:1' is no 'session:number'"),
        ({"scorer": "choice", "gold": "A"}, "letters"),
        ({"sample": "t2"}, "'q1' belongs to sample 't2'"),
        ({"options": ({"letter": "A", "text": "x"},)}, "exact takes no options"),
    ],
)
def test_a_faulty_question_is_named(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    if changes.get("scorer") == "choice":
        changes = changes | {"options": ({"letter": "B", "text": "x"}, {"letter": "A", "text": "y"})}
    folder = write_small(tmp_path / "p", case(**changes))
    assert any(expected in message for message in messages_of(folder))


def test_every_fault_is_reported_at_once_with_its_line(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p", case(content="x " * 4_100, gold=3, capability="Z", evidence=()))
    found = {(fault.file, fault.line, fault.field) for fault in validate_pack(folder)}
    assert ("questions.jsonl", 1, "capability") in found
    assert ("questions.jsonl", 1, "gold") in found
    assert ("samples.jsonl", 1, "events.0.add.messages.0.content") in found
    assert ("samples.jsonl", 1, "events.0.add.messages") in found


def test_broken_lines_do_not_stop_the_check(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    with (folder / "questions.jsonl").open("a") as stream:
        stream.write('{"id": "a", "id": "b"}\n{"id": NaN}\nnot json\n{"id": "q9"}\n')
    found = [fault for fault in validate_pack(folder) if fault.file == "questions.jsonl"]
    assert {fault.line for fault in found} == {None, 2, 3, 4, 5}
    assert "the key 'id' is there twice" in found[1].message


def test_a_changed_file_and_an_unlisted_one_are_faults(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    (folder / "README.md").write_text("changed")
    (folder / "extra.txt").write_text("more")
    assert [fault.file for fault in validate_pack(folder)] == ["extra.txt", "README.md"]


def test_wrong_counts_are_faults(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    edit_json(folder / "pack.json", counts={"samples": 2, "adds": 1, "asks": 1, "questions": 1})
    assert messages_of(folder) == ["pack.json: counts.samples: says 2, found 1"]


def test_ids_that_come_twice_are_faults(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p", case(), case())
    text = "\n".join(messages_of(folder))
    assert "the ask id 'a1' is there twice" in text
    assert "the id 'q1' is there twice" in text
    assert "the id 't1' is there twice" in text


def test_a_question_nobody_asks_is_a_fault(tmp_path: Path) -> None:
    first = case()
    folder = write_small(tmp_path / "p", Case(first.sample, [*first.questions, question(id="q2")]))
    assert messages_of(folder) == ["questions.jsonl line 2: id: the question 'q2' is never asked"]


def test_a_manifest_that_is_none_is_reported_and_not_raised(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    edit_json(folder / "pack.json", version="one", colour="red")
    assert {fault.field for fault in validate_pack(folder)} == {"version", "colour"}
    with pytest.raises(PackError):
        open_pack(folder)


@pytest.mark.parametrize("name", ["../escape.txt", "/etc/passwd", "a\\b.txt", "C:/x", "a/../../b"])
def test_a_zip_with_an_unsafe_path_is_refused(tmp_path: Path, name: str) -> None:
    target = tmp_path / "p.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(name, "x")
    assert "plain path" in str(validate_pack(target)[0])


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    target = tmp_path / "p.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples.jsonl", b"0" * 40_000_000)
    assert "times its size" in str(validate_pack(target)[0])


def test_a_link_in_a_zip_or_out_of_a_folder_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "p.zip"
    with zipfile.ZipFile(target, "w") as archive:
        link = zipfile.ZipInfo("README.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert "link" in str(validate_pack(target)[0])
    folder = write_small(tmp_path / "p")
    (folder / "leak").symlink_to("/etc/hostname")
    assert "leaves the pack" in str(validate_pack(folder)[0])


def test_a_line_over_the_limit_is_refused(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "p")
    pack = open_pack(folder, limits=ReadLimits(line_bytes=50))
    with pytest.raises(PackError, match="line 1 is over"):
        list(pack.samples())


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(PackError, match="textual-tiny"):
        open_pack("no-such-pack")


def test_evidence_counts_messages_over_all_adds_of_a_session(tmp_path: Path) -> None:
    found = case()
    assert [m.content for m in evidence_messages(found.sample, found.questions[0])] == [
        "The boat is called Tern."
    ]


def test_evidence_before_an_ask_leaves_out_what_comes_later() -> None:
    found = case()
    asked, told = found.sample.events[1], found.sample.events[0]
    late = found.sample.model_copy(update={"events": (asked, told)})
    assert evidence_messages(late, found.questions[0], before="a1") == []


def test_schemas_are_published_for_each_file() -> None:
    assert set(schemas()) == {"pack.json", "samples.jsonl", "questions.jsonl"}


def test_every_scorer_has_a_gold_shape() -> None:
    assert set(GOLD_SHAPES) == set(SCORERS)
