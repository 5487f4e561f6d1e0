"""Reading a pack's files from a folder or a zip, without trusting either."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What a pack may hold, in bytes and files; a zip's ratio is unpacked over packed."""

    files: int = 50_000
    file_bytes: int = 4_096 * MIB
    total_bytes: int = 16_384 * MIB
    line_bytes: int = 256 * MIB
    ratio: int = 400
    ratio_free_bytes: int = 16 * MIB  # small files may compress as well as they like


class ContainerError(Exception):
    """The folder or zip can't be read safely; the message says which file and why."""


class Container(Protocol):
    """Names are relative, with forward slashes."""

    def names(self) -> list[str]: ...

    def open(self, name: str) -> IO[bytes]:
        """A binary stream; ``KeyError`` where there is no such file."""
        ...


def safe_name(name: str) -> bool:
    """True for a plain relative path that can't leave its folder on any system."""
    path = PurePosixPath(name)
    parts = name.split("/")
    ugly = "\\" in name or ":" in name or any(ord(char) < 32 for char in name)
    return bool(name) and not ugly and not path.is_absolute() and not {"", ".", ".."} & set(parts)


class FolderContainer:
    """Regular files below ``root``; symbolic links that leave it are refused."""

    def __init__(self, root: Path, *, limits: ReadLimits) -> None:
        self._root = root.resolve()
        self._limits = limits

    def names(self) -> list[str]:
        found = [self._name(path) for path in sorted(self._root.rglob("*")) if path.is_file()]
        if len(found) > self._limits.files:
            raise ContainerError(f"the pack holds more than {self._limits.files} files")
        return found

    def _name(self, path: Path) -> str:
        name = path.relative_to(self._root).as_posix()
        if not path.resolve().is_relative_to(self._root):
            raise ContainerError(f"{name} is a link that leaves the pack")
        return name

    def open(self, name: str) -> IO[bytes]:
        path = self._root / name
        if not safe_name(name) or not path.is_file():
            raise KeyError(name)
        self._name(path)
        if path.stat().st_size > self._limits.file_bytes:
            raise ContainerError(f"{name} is larger than {self._limits.file_bytes // MIB} MiB")
        return path.open("rb")


class ZipContainer:
    """A zip read in place, never unpacked to disk. One common top folder is taken off."""

    def __init__(self, path: Path, *, limits: ReadLimits) -> None:
        self._limits = limits
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise ContainerError(f"{path.name} is not a readable zip file: {error}") from error
        self._entries = self._read_entries()

    def _read_entries(self) -> dict[str, zipfile.ZipInfo]:
        infos = [info for info in self._zip.infolist() if not info.is_dir()]
        if len(infos) > self._limits.files:
            raise ContainerError(f"the zip holds more than {self._limits.files} files")
        if sum(info.file_size for info in infos) > self._limits.total_bytes:
            raise ContainerError(f"the zip unpacks to more than {self._limits.total_bytes // MIB} MiB")
        entries: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            self._check(info)
            if info.filename in entries:
                raise ContainerError(f"{info.filename} is in the zip twice")
            entries[info.filename] = info
        return _without_top_folder(entries)

    def _check(self, info: zipfile.ZipInfo) -> None:
        name, limits = info.filename, self._limits
        mode = info.external_attr >> 16
        if not safe_name(name):
            raise ContainerError(f"{name!r} is not a plain path inside the pack")
        if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ContainerError(f"{name} is a link or a special file")
        if info.flag_bits & 0x1:
            raise ContainerError(f"{name} is encrypted")
        if info.file_size > limits.file_bytes:
            raise ContainerError(f"{name} unpacks to more than {limits.file_bytes // MIB} MiB")
        packed = max(info.compress_size, 1)
        if info.file_size > limits.ratio_free_bytes and info.file_size > packed * limits.ratio:
            raise ContainerError(f"{name} unpacks to more than {limits.ratio} times its size")

    def names(self) -> list[str]:
        return sorted(self._entries)

    def open(self, name: str) -> IO[bytes]:
        # zipfile stops at the size the directory declares and checks the CRC, so a file that
        # lies about its size can't grow past the limits checked above.
        return self._zip.open(self._entries[name])


def _without_top_folder(
    entries: dict[str, zipfile.ZipInfo],
) -> dict[str, zipfile.ZipInfo]:
    tops = {name.split("/", 1)[0] for name in entries}
    if "pack.json" in entries or len(tops) != 1:
        return entries
    prefix = next(iter(tops)) + "/"
    if prefix + "pack.json" not in entries:
        return entries
    return {name.removeprefix(prefix): info for name, info in entries.items()}


def open_container(path: Path, *, limits: ReadLimits) -> Container:
    """Raises ``ContainerError`` for what is neither a folder nor a safe zip."""
    if path.is_dir():
        return FolderContainer(path, limits=limits)
    if path.is_file():
        return ZipContainer(path, limits=limits)
    raise ContainerError(f"{path} is neither a folder nor a file")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turns what a damaged zip raises while it is read into a ``ContainerError``."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        NotImplementedError,
        OSError,
        EOFError,
    ) as error:
        raise ContainerError(f"{name} can't be read: {error}") from error


def lines(container: Container, *, name: str, limits: ReadLimits) -> Iterator[tuple[int, bytes]]:
    """Numbered lines (from 1) without their line ends; a final empty line is left out."""
    with reading(name), container.open(name) as stream:
        number = 0
        while line := stream.readline(limits.line_bytes + 1):
            number += 1
            if len(line) > limits.line_bytes:
                raise ContainerError(f"{name} line {number} is over {limits.line_bytes // MIB} MiB")
            yield number, line.rstrip(b"\r\n")


def read_file(container: Container, *, name: str, limit: int = 16 * MIB) -> bytes:
    """The whole of a small file; ``ContainerError`` above ``limit`` bytes."""
    with reading(name), container.open(name) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise ContainerError(f"{name} is over {limit // MIB} MiB")
    return data
