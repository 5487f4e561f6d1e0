"""Writing a bundle: sealed (with ``items.jsonl``) or public (without)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aml.lib.canonical import canonical_hash, canonical_json, sha256_hex
from evaluations.engine.aggregate import Cell
from evaluations.engine.bundle.content import (
    FORMAT,
    BundleItem,
    StatementData,
    cells,
    encode_cell,
    encode_counts,
    encode_scores,
)
from evaluations.engine.bundle.files import CLUSTERS, ITEMS, SIGNATURE, STATEMENT, write_files
from evaluations.engine.bundle.merkle import merkle_root
from evaluations.engine.bundle.signing import sign


def write_bundle(
    destination: Path,
    *,
    statement: StatementData,
    items: Iterable[BundleItem],
    key: Ed25519PrivateKey,
    sealed: bool,
) -> None:
    """A folder, or a zip where the name ends in ``.zip``. ``items`` is read once, in the pack's order.

    Sealed and public bundle of one run have the same Merkle root, so that who holds the sealed one can
    show that the public one is its own.
    """
    known = list(items)
    lines = [item.encode() for item in known]
    clusters = _clusters_file(cells(known))
    files = {CLUSTERS: clusters}
    if sealed:
        files[ITEMS] = b"".join(line + b"\n" for line in lines)
    text = _statement(statement, files=files, root=merkle_root(lines), sealed=sealed)
    files[STATEMENT] = text
    files[SIGNATURE] = sign(text, key=key).encode()
    write_files(destination, files=files)


def _clusters_file(found: Iterable[Cell]) -> bytes:
    return b"".join(encode_cell(cell) + b"\n" for cell in found)


def _statement(statement: StatementData, *, files: dict[str, bytes], root: str, sealed: bool) -> bytes:
    return (
        canonical_json(
            {
                "format": FORMAT,
                "kind": "sealed" if sealed else "public",
                "subject": dict(statement.subject),
                "contract": {"hash": canonical_hash(statement.contract), "spec": dict(statement.contract)},
                "lineage": dict(statement.lineage),
                "outcome": statement.outcome,
                "counts": encode_counts(statement.scores),
                "scores": encode_scores(statement.scores),
                "offline": statement.offline,
                "unofficial": statement.unofficial,
                "self_run": statement.self_run,
                "notes": list(statement.notes),
                "merkle_root": root,
                "files": {name: sha256_hex(data) for name, data in files.items()},
            }
        )
        + b"\n"
    )
