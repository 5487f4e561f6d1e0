from pathlib import Path

import pytest

from evaluations.engine.journal import Journal, JournalDamaged, read_journal


def written(folder: Path, count: int) -> Path:
    journal = Journal(folder)
    for number in range(count):
        journal.append({"n": number})
    journal.close()
    return folder / "journal.jsonl"


def test_what_was_appended_is_read_in_order(tmp_path: Path) -> None:
    assert [record["n"] for record in read_journal(written(tmp_path, 3))] == [0, 1, 2]


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path / "journal.jsonl")) == []


@pytest.mark.parametrize("kept", range(1, 8))
def test_a_torn_last_line_is_cut_off_and_appended_to(tmp_path: Path, kept: int) -> None:
    path = written(tmp_path, 3)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - kept])
    assert [record["n"] for record in read_journal(path)] == [0, 1]
    journal = Journal(tmp_path)
    journal.append({"n": 7})
    journal.close()
    assert [record["n"] for record in read_journal(path)] == [0, 1, 7]


def test_a_last_line_of_rubbish_is_cut_off_too(tmp_path: Path) -> None:
    path = written(tmp_path, 1)
    path.write_bytes(path.read_bytes() + b"\x00\x00\x00\n")
    assert [record["n"] for record in read_journal(path)] == [0]


def test_damage_in_the_middle_is_told_and_not_repaired(tmp_path: Path) -> None:
    path = written(tmp_path, 3)
    path.write_bytes(path.read_bytes().replace(b'{"n":1}', b'{"n":1 '))
    with pytest.raises(JournalDamaged, match="line 2"):
        list(read_journal(path))


def test_bodies_come_back_after_the_journal_was_opened_again(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    refs = [first.store(body) for body in (b"one" * 100, b"")]
    first.close()
    second = Journal(tmp_path)
    third = second.store(b"three")
    assert [second.load(ref) for ref in (*refs, third)] == [b"one" * 100, b"", b"three"]
    second.close()
