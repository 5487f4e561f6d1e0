"""The control arms as the command line starts them: in this process, and resumable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.packs.files import Pack
from benchmarks.types import Message
from evaluations.engine.arms import FullTextSearch, NoMemory, Oracle, oracle_evidence
from evaluations.engine.folder import RunIdentity
from evaluations.engine.journal import read_journal
from evaluations.engine.local_run import Connect
from evaluations.engine.naming import user_id
from evaluations.engine.records import DONE
from evaluations.engine.types import MemoryService, UnitKind

ARMS = ("none", "full-text", "oracle")


def connect_arm(name: str, *, pack: Pack, out: Path) -> Connect:
    """``name`` is one of ``ARMS``; ``out`` is the run's folder, from which a resumed run goes on."""

    def oracle(identity: RunIdentity) -> MemoryService:
        evidence = oracle_evidence(
            samples=pack.samples(),
            questions=pack.questions().values(),
            user_of=lambda sample: user_id(identity.key, sample),
        )
        arm = Oracle(evidence=evidence)
        for sample, messages in _added(pack, out=out):
            arm.remember(user_id(identity.key, sample), messages)
        return arm

    arms: dict[str, Connect] = {
        "none": lambda _identity: NoMemory(),
        # Kept in the run's folder, so that a resumed run finds what was added.
        "full-text": lambda _identity: FullTextSearch(out / "arm.sqlite3"),
        "oracle": oracle,
    }
    return arms[name]


def _added(pack: Pack, *, out: Path) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """What earlier processes of the run have added: they are not sent again."""
    done = {
        (record["lane"], record["event"])
        for record in read_journal(out / "journal.jsonl")
        if record["kind"] == UnitKind.ADD and record["state"] == DONE
    }
    for sample in pack.samples() if done else ():
        for position, event in enumerate(sample.events):
            if event.add is not None and (sample.id, position) in done:
                yield sample.id, event.add.messages
