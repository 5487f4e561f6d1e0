"""Checking a bundle: nothing missing, nothing added, nothing changed, and every figure as recomputed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from aml.lib.canonical import canonical_hash, canonical_json, sha256_hex
from evaluations.engine.aggregate import Cell, aggregate_clusters
from evaluations.engine.bundle.content import (
    FORMAT,
    BundleItem,
    cells,
    encode_counts,
    encode_scores,
    read_cells,
    split_lines,
)
from evaluations.engine.bundle.files import (
    CLUSTERS,
    ITEMS,
    SIGNATURE,
    STATEMENT,
    BundleError,
    read_files,
)
from evaluations.engine.bundle.merkle import merkle_root
from evaluations.engine.bundle.signing import Signature, is_signed
from evaluations.engine.types import Aggregate

PUBLIC_FILES = frozenset({STATEMENT, CLUSTERS, SIGNATURE})
MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """``lines`` to print, in order; ``ok`` only if everything agrees."""

    lines: tuple[str, ...]
    ok: bool


class _Checks:
    """Collects lines; every one says what was looked at."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ok = True

    def check(self, holds: bool, *, text: str, wrong: str) -> bool:
        self.lines.append(f"ok     {text}" if holds else f"WRONG  {wrong}")
        self.ok = self.ok and holds
        return holds

    def note(self, text: str) -> None:
        self.lines.append(f"note   {text}")

    def report(self) -> VerifyReport:
        return VerifyReport(tuple(self.lines), self.ok)


def verify_bundle(path: Path, *, trusted_keys: Collection[str] | None = None) -> VerifyReport:
    """``trusted_keys`` are key ids; without them any key will do, and the report names it.

    A self-run is never a platform's, whoever signed it: that is said and is no error.
    """
    checks = _Checks()
    try:
        files = read_files(path)
        statement = _read_statement(files, checks=checks)
        if statement is not None:
            _check_signature(files, statement=statement, checks=checks, trusted=trusted_keys)
            _check_contents(files, statement=statement, checks=checks)
    except BundleError as error:
        checks.check(False, text="", wrong=str(error))
    except MALFORMED as error:
        checks.check(False, text="", wrong=f"the bundle does not have the form {FORMAT}: {error!r}")
    return checks.report()


def read_statement(path: Path) -> dict[str, Any]:
    """The statement of a bundle, unchecked."""
    return dict(orjson.loads(read_files(path)[STATEMENT]))


def _read_statement(files: Mapping[str, bytes], *, checks: _Checks) -> dict[str, Any] | None:
    raw = files.get(STATEMENT, b"")
    try:
        statement = orjson.loads(raw)
        canonical = canonical_json(statement) + b"\n" == raw and statement["format"] == FORMAT
    except MALFORMED as error:
        checks.check(False, text="", wrong=f"{STATEMENT} can't be read: {error}")
        return None
    if not checks.check(
        canonical, text=f"format {FORMAT}", wrong=f"{STATEMENT} was changed or is of another format"
    ):
        return None
    return dict(statement)


def _check_signature(
    files: Mapping[str, bytes],
    *,
    statement: Mapping[str, Any],
    checks: _Checks,
    trusted: Collection[str] | None,
) -> None:
    raw = files.get(SIGNATURE, b"")
    signature = Signature(**orjson.loads(raw))
    good = signature.encode() == raw and is_signed(files[STATEMENT], signature=signature)
    checks.check(
        good,
        text=f"signature by key {signature.key_id[:16]}…",
        wrong="the signature is not of this statement",
    )
    if statement["self_run"]:
        checks.note("self-run, not signed by a platform")
    elif trusted is not None:
        checks.check(
            signature.key_id in trusted,
            text="signed by a platform key that you trust",
            wrong=f"the key {signature.key_id} is none that you trust",
        )
    else:
        checks.note(
            f"says that it is signed by a platform key; compare with the platform's: {signature.key_id}"
        )
    if statement["offline"]:
        checks.note("offline models: deterministic stand-ins, not a language model")
    if statement["unofficial"]:
        checks.note("unofficial")


def _check_contents(files: Mapping[str, bytes], *, statement: Mapping[str, Any], checks: _Checks) -> None:
    sealed = statement["kind"] == "sealed"
    expected = PUBLIC_FILES | ({ITEMS} if sealed else set())
    found = ", ".join(sorted(files))
    checks.check(
        set(files) == expected,
        text=f"files: {found}",
        wrong=f"files are {found}; expected {sorted(expected)}",
    )
    for name, digest in sorted(statement["files"].items()):
        same = sha256_hex(files.get(name, b"")) == digest
        checks.check(same, text=f"{name} as signed", wrong=f"{name} was changed")
    contract = statement["contract"]
    checks.check(
        canonical_hash(contract["spec"]) == contract["hash"],
        text=f"contract hash {contract['hash']}",
        wrong="the contract's hash is not that of its specification",
    )
    clusters = list(read_cells(files[CLUSTERS]))
    if sealed:
        _check_items(files[ITEMS], statement=statement, clusters=clusters, checks=checks)
    _check_figures(statement, clusters=clusters, checks=checks, source=ITEMS if sealed else CLUSTERS)


def _check_items(
    data: bytes, *, statement: Mapping[str, Any], clusters: Sequence[Cell], checks: _Checks
) -> None:
    lines = split_lines(data)
    checks.check(
        merkle_root(lines) == statement["merkle_root"],
        text=f"Merkle root over {len(lines)} items",
        wrong="the Merkle root is not that of the items",
    )
    items = [BundleItem.decode(line) for line in lines]
    checks.check(
        cells(items) == list(clusters),
        text=f"{CLUSTERS} recomputed from {ITEMS}",
        wrong=f"{CLUSTERS} is not what {ITEMS} gives",
    )
    answers = all(
        item.answer is None or sha256_hex(item.answer.encode()) == item.answer_sha256 for item in items
    )
    checks.check(answers, text="every answer has its hash", wrong="an answer does not have its hash")


def _check_figures(
    statement: Mapping[str, Any], *, clusters: Sequence[Cell], checks: _Checks, source: str
) -> None:
    again = recompute(clusters, statement=statement)
    checks.check(
        encode_counts(again) == statement["counts"],
        text=f"counts recomputed from {source}",
        wrong=f"counts are {statement['counts']}, {source} gives {encode_counts(again)}",
    )
    told, found = statement["scores"], encode_scores(again)
    _check_figure("overall", told=told["overall"], found=found["overall"], checks=checks, source=source)
    for one, other in zip(told["capabilities"], found["capabilities"], strict=True):
        name = other["capability"]
        checks.check(
            {**one, "score": None} == {**other, "score": None},
            text=f"{name}: weight {other['weight']}, {other['scored']} of {other['asks']} asks scored",
            wrong=f"{name}: weight or counts are not what {source} gives",
        )
        _check_figure(name, told=one["score"], found=other["score"], checks=checks, source=source)


def _check_figure(
    name: str, *, told: dict[str, float] | None, found: dict[str, float] | None, checks: _Checks, source: str
) -> None:
    shown = "open" if found is None else "{mean:.6f} [{low:.6f}, {high:.6f}]".format(**found)
    checks.check(
        told == found,
        text=f"{name} {shown} recomputed from {source}",
        wrong=f"{name} is told as {told}, {source} gives {shown}",
    )


def recompute(clusters: Sequence[Cell], *, statement: Mapping[str, Any]) -> Aggregate:
    """The figures that these clusters give under the statement's own contract and weights."""
    weights = {one["capability"]: one["weight"] for one in statement["scores"]["capabilities"]}
    return aggregate_clusters(clusters, weights=weights, seed=statement["contract"]["hash"])
