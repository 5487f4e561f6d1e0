"""A Merkle root over lines, after RFC 6962: leaves and inner nodes hash under different prefixes,
so that no inner node can be passed off as a leaf."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


class MerkleTree:
    """Takes leaves one by one and holds only the finished subtrees: memory is logarithmic."""

    def __init__(self) -> None:
        self._peaks: list[tuple[int, bytes]] = []  # (leaves below, hash), sizes strictly falling
        self.leaves = 0

    def append(self, line: bytes) -> None:
        size, node = 1, hashlib.sha256(b"\x00" + line).digest()
        while self._peaks and self._peaks[-1][0] == size:
            left_size, left = self._peaks.pop()
            size, node = left_size + size, _join(left, node)
        self._peaks.append((size, node))
        self.leaves += 1

    def root(self) -> str:
        """64 hex digits; of no leaves, the SHA-256 of nothing."""
        if not self._peaks:
            return hashlib.sha256(b"").hexdigest()
        node = self._peaks[-1][1]
        for _, left in reversed(self._peaks[:-1]):
            node = _join(left, node)
        return node.hex()


def merkle_root(lines: Iterable[bytes]) -> str:
    tree = MerkleTree()
    for line in lines:
        tree.append(line)
    return tree.root()


def _join(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
