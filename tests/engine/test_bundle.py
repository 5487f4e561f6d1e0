from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aml.lib.canonical import canonical_hash, canonical_json, sha256_hex
from evaluations.engine.aggregate import aggregate_clusters
from evaluations.engine.bundle import BundleItem, StatementData, cells, verify_bundle, write_bundle
from evaluations.engine.bundle.files import CLUSTERS, ITEMS, SIGNATURE, STATEMENT, zip_bytes
from evaluations.engine.bundle.merkle import merkle_root
from evaluations.engine.bundle.signing import key_id, local_key, sign
from evaluations.engine.naming import sample_salt
from evaluations.engine.types import Aggregate, AskScore, Fault

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
KEY_ID = key_id(KEY.public_key().public_bytes_raw())
CONTRACT = {"format": "aml-contract/1", "models": {"answer": "a", "judge": "b"}}
WEIGHTS = {"A": 0.25, "B": 0.75}


def item(number: int) -> BundleItem:
    failed = number == 7
    sample, dataset = f"s{number % 6}", f"d{number % 2}"
    value = 0.0 if failed else (number % 5) / 7
    capability = "AB"[number % 4 // 2]
    failed_by = Fault.PARTICIPANT if failed else None
    score = AskScore(f"a{number}", f"q{number}", sample, dataset, capability, value, failed_by=failed_by)
    digest = sha256_hex(f"answer {number}".encode())
    return BundleItem(
        score, sample_salt(b"s", sample), answer=f"answer {number}", answer_sha256=digest, grades=("CORRECT",)
    )


ITEMS_MADE = [item(number) for number in range(60)]


def figures(items: list[BundleItem]) -> Aggregate:
    return aggregate_clusters(cells(items), weights=WEIGHTS, seed=canonical_hash(CONTRACT))


def statement(**fields: Any) -> StatementData:
    made = StatementData(
        subject={"entry": "Ünïcode", "version": "1", "fingerprint": None},
        contract=CONTRACT,
        lineage={"software": "0.1.0"},
        scores=figures(ITEMS_MADE),
        offline=True,
        unofficial=True,
        self_run=False,
        outcome="succeeded",
    )
    return replace(made, **fields)


def write(path: Path, *, sealed: bool = True, **fields: Any) -> Path:
    write_bundle(path, statement=statement(**fields), items=ITEMS_MADE, key=KEY, sealed=sealed)
    return path


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bundles")
    kinds = {"sealed": True, "public": False}
    return {
        name + suffix: write(folder / (name + suffix), sealed=sealed)
        for name, sealed in kinds.items()
        for suffix in ("", ".zip")
    }


@pytest.mark.parametrize("name", ["sealed", "public", "sealed.zip", "public.zip"])
def test_what_was_written_verifies(bundles: dict[str, Path], name: str) -> None:
    report = verify_bundle(bundles[name])
    assert report.ok, report.lines


def test_sealed_and_public_tell_the_same_figures_from_different_sources(bundles: dict[str, Path]) -> None:
    sealed, public = (verify_bundle(bundles[name]).lines for name in ("sealed", "public"))
    assert any(line.startswith("ok     overall") and line.endswith(ITEMS) for line in sealed)
    told = {line.removesuffix(CLUSTERS) for line in public if line.startswith("ok     overall")}
    assert told == {line.removesuffix(ITEMS) for line in sealed if line.startswith("ok     overall")}


def test_sealed_and_public_have_one_merkle_root(bundles: dict[str, Path]) -> None:
    roots = {
        orjson.loads((bundles[name] / STATEMENT).read_bytes())["merkle_root"] for name in ("sealed", "public")
    }
    assert len(roots) == 1


def test_the_public_bundle_names_no_sample_ask_or_answer(bundles: dict[str, Path]) -> None:
    text = b"".join(path.read_bytes() for path in bundles["public"].iterdir())
    for secret in (b'"s1"', b'"a1"', b'"q1"', b"answer 1", sample_salt(b"s", "s1").encode()):
        assert secret not in text


def test_two_writings_of_one_bundle_are_the_same_bytes(bundles: dict[str, Path], tmp_path: Path) -> None:
    again = write(tmp_path / "again.zip")
    assert again.read_bytes() == bundles["sealed.zip"].read_bytes()


PLACES = [("sealed", name) for name in (STATEMENT, ITEMS, CLUSTERS, SIGNATURE)] + [
    ("public", name) for name in (STATEMENT, CLUSTERS, SIGNATURE)
]


@pytest.mark.parametrize(("name", "file"), PLACES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_byte_changed_in_any_file_is_noticed(
    bundles: dict[str, Path], name: str, file: str, place: float, flip: int
) -> None:
    path = bundles[name] / file
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[int(place * len(whole))] ^= flip
    try:
        path.write_bytes(changed)
        assert not verify_bundle(bundles[name]).ok
    finally:
        path.write_bytes(whole)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_byte_changed_in_a_zip_is_noticed(bundles: dict[str, Path], place: float, flip: int) -> None:
    whole = bundles["public.zip"].read_bytes()
    changed = bytearray(whole)
    changed[int(place * len(whole))] ^= flip
    copy = bundles["public.zip"].with_name("changed.zip")
    copy.write_bytes(changed)
    assert not verify_bundle(copy).ok


@pytest.mark.parametrize("file", [STATEMENT, ITEMS, CLUSTERS, SIGNATURE])
def test_a_missing_file_is_noticed(bundles: dict[str, Path], tmp_path: Path, file: str) -> None:
    copy = shutil.copytree(bundles["sealed"], tmp_path / "copy")
    (copy / file).unlink()
    assert not verify_bundle(copy).ok


@pytest.mark.parametrize("file", [STATEMENT, ITEMS, CLUSTERS, SIGNATURE])
def test_a_file_cut_short_is_noticed(bundles: dict[str, Path], tmp_path: Path, file: str) -> None:
    copy = shutil.copytree(bundles["sealed"], tmp_path / "copy")
    (copy / file).write_bytes((copy / file).read_bytes()[:-1])
    assert not verify_bundle(copy).ok


def test_an_added_file_or_folder_is_noticed(bundles: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(bundles["public"], tmp_path / "copy")
    (copy / "more").mkdir()
    assert not verify_bundle(copy).ok


def test_bytes_after_the_end_of_a_zip_are_noticed(bundles: dict[str, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy.zip"
    copy.write_bytes(bundles["sealed.zip"].read_bytes() + b"\n")
    assert not verify_bundle(copy).ok


def resigned(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A forger's work: the statement changed and signed again with the same key."""
    told = orjson.loads((path / STATEMENT).read_bytes())
    change(told)
    text = canonical_json(told) + b"\n"
    (path / STATEMENT).write_bytes(text)
    (path / SIGNATURE).write_bytes(sign(text, key=KEY).encode())
    return path


FORGERIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "overall": lambda told: told["scores"]["overall"].update(mean=0.999999),
    "interval": lambda told: told["scores"]["overall"].update(low=0.000001),
    "capability": lambda told: told["scores"]["capabilities"][0]["score"].update(mean=0.5),
    "weights": lambda told: told["scores"]["capabilities"][0].update(weight=0.5),
    "counts": lambda told: told["counts"].update(zero_by_failure=0),
    "contract": lambda told: told["contract"]["spec"].update(models={}),
    "seed": lambda told: told["contract"].update(hash="0" * 64),
    "root": lambda told: told.update(merkle_root="0" * 64),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_wrong_figure_is_noticed_even_when_signed(tmp_path: Path, name: str) -> None:
    forged = resigned(write(tmp_path / "forged"), FORGERIES[name])
    assert not verify_bundle(forged).ok


def test_another_signer_is_refused_where_the_trusted_keys_are_known(bundles: dict[str, Path]) -> None:
    assert verify_bundle(bundles["public"], trusted_keys={KEY_ID}).ok
    assert not verify_bundle(bundles["public"], trusted_keys={"0" * 64}).ok


def test_without_trusted_keys_the_report_names_the_key(bundles: dict[str, Path]) -> None:
    assert any(KEY_ID in line for line in verify_bundle(bundles["public"]).lines)


def test_a_self_run_says_so_and_is_no_error(tmp_path: Path) -> None:
    report = verify_bundle(write(tmp_path / "own", self_run=True), trusted_keys={"0" * 64})
    assert report.ok
    assert "note   self-run, not signed by a platform" in report.lines


def test_an_open_run_is_told_as_open(tmp_path: Path) -> None:
    open_item = replace(ITEMS_MADE[0], score=replace(ITEMS_MADE[0].score, value=None, reason="OPEN"))
    items = [open_item, *ITEMS_MADE[1:]]
    made = statement(scores=figures(items), outcome=None)
    write_bundle(tmp_path / "open", statement=made, items=items, key=KEY, sealed=True)
    report = verify_bundle(tmp_path / "open")
    assert report.ok
    assert any("overall open" in line for line in report.lines)


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x05\x06" + bytes(18), zip_bytes({"x": b"y"})])
def test_rubbish_is_refused_without_an_exception(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "rubbish.zip"
    path.write_bytes(data)
    assert not verify_bundle(path).ok


def test_a_path_that_is_nothing_is_refused(tmp_path: Path) -> None:
    assert not verify_bundle(tmp_path / "nothing").ok


def test_the_laptops_key_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "key"
    first, second = local_key(path), local_key(path)
    assert first.private_bytes_raw() == second.private_bytes_raw()
    assert path.stat().st_mode & 0o077 == 0


def test_the_merkle_root_is_that_of_rfc_6962() -> None:
    def node(left: str, right: str) -> str:
        return sha256_hex(b"\x01" + bytes.fromhex(left) + bytes.fromhex(right))

    a, b, c = (sha256_hex(b"\x00" + line) for line in (b"a", b"b", b"c"))
    assert merkle_root([]) == sha256_hex(b"")
    assert merkle_root([b"a"]) == a
    assert merkle_root([b"a", b"b", b"c"]) == node(node(a, b), c)
