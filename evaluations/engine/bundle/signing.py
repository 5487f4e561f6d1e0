"""Ed25519 over the bytes of ``statement.json``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aml.lib.canonical import canonical_json, sha256_hex

ALGORITHM = "ed25519"


@dataclass(frozen=True, slots=True)
class Signature:
    """``key_id`` is the SHA-256 of the raw public key; everything is lower-case hex."""

    algorithm: str
    key_id: str
    public_key: str
    signature: str

    def encode(self) -> bytes:
        """The one spelling that ``verify`` accepts: canonical JSON and a line feed."""
        return canonical_json({name: getattr(self, name) for name in self.__slots__}) + b"\n"


def key_id(public_key: bytes) -> str:
    return sha256_hex(public_key)


def sign(data: bytes, *, key: Ed25519PrivateKey) -> Signature:
    public = key.public_key().public_bytes_raw()
    return Signature(ALGORITHM, key_id(public), public.hex(), key.sign(data).hex())


def is_signed(data: bytes, *, signature: Signature) -> bool:
    """Whether the signature is by the key it names. Whether that key is trusted is another question."""
    try:
        public = bytes.fromhex(signature.public_key)
        Ed25519PublicKey.from_public_bytes(public).verify(bytes.fromhex(signature.signature), data)
    except (InvalidSignature, ValueError):
        return False
    return signature.algorithm == ALGORITHM and signature.key_id == key_id(public)


def local_key(path: Path) -> Ed25519PrivateKey:
    """The laptop's own key: made on first use, readable by its owner only."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        seed = Ed25519PrivateKey.generate().private_bytes_raw()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(seed.hex().encode() + b"\n")
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text().strip()))
