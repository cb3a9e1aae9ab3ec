"""The files of an archive: JSON lines of whole records, compressed, in a signed directory; written once, and verified record by record."""

import gzip
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gateway.core.errors import LedgerBroken, SettingsInvalid
from gateway.ledger.chain.archived import Archive
from gateway.ledger.chain.hashes import ChainRow, check_record
from gateway.ledger.signed_directory import (
    MANIFEST,
    check_files,
    file_digest,
    read_manifest,
    sync_directory,
    write_manifest,
)
from gateway.ledger.store.rows import ChainEndRow

KIND: Final = "archive"
_NAME: Final = "sentinel-archive-"
_IN_A_FILE: Final = 100_000
"""Records of one file."""
_MOST: Final = 10_000
"""Archives that are looked for in one directory."""


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """A record as a line: the members of `ChainRow` in its order, then its (address, attribute) pairs."""

    version: int
    seq: int
    stage: str
    at: str
    mutation_id: str
    actor: str
    stack: str
    intent: str
    motivation: str
    verdict: str
    key_id: str
    has_evidence: int
    left_over: int
    body: msgspec.Raw
    previous: str
    hash: str
    resources: list[tuple[str, str]]


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(_Line).decode


def directory_name(first: int, last: int) -> str:
    """The name of the directory of an archive of these records."""
    return f"{_NAME}{first:012d}-{last:012d}"


class RecordFiles:
    """Writes records into the files of a directory, as many as one file takes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._count = 0
        self._raw: BinaryIO | None = None
        self._file: gzip.GzipFile | None = None

    def add(self, row: Sequence[Any], pairs: Sequence[tuple[Any, ...]]) -> None:
        """Write one record. Raises OSError."""
        if self._file is None or self._count % _IN_A_FILE == 0:
            self.close()
            name = f"records-{self._count // _IN_A_FILE + 1:06d}.jsonl.gz"
            self._raw = os.fdopen(os.open(self._directory / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
            # Without a name or a time in it, equal records make an equal file.
            self._file = gzip.GzipFile(filename="", mode="wb", fileobj=self._raw, mtime=0, compresslevel=6)
        members = ChainRow._make(row)._asdict()
        members["body"] = msgspec.Raw(members["body"].encode())
        self._file.write(_encode(_Line(**members, resources=list(pairs))) + b"\n")
        self._count += 1

    def close(self) -> None:
        """End the file, on disk when this returns. Raises OSError."""
        if self._file is not None and self._raw is not None:
            self._file.close()
            self._raw.flush()
            os.fsync(self._raw.fileno())
            self._raw.close()
        self._file = self._raw = None


def complete(
    directory: Path, first: ChainEndRow, last: ChainEndRow, *, until: str, at: str, key: Ed25519PrivateKey
) -> None:
    """Sign the directory. `first` is the record before its first one, `last` its last one. Raises OSError."""
    content = {
        "first": first.seq + 1,
        "last": last.seq,
        "previous": first.hash,
        "hash": last.hash,
        "until": until,
        "at": at,
    }
    write_manifest(directory, KIND, content, key)
    sync_directory(directory)


@dataclass(frozen=True, slots=True)
class ArchiveDirectory:
    """A complete archive whose manifest is this ledger's."""

    path: Path
    first: int
    last: int
    previous: str
    hash: str
    files: dict[str, str]
    digest: str
    """That of its manifest."""

    @classmethod
    def read(cls, path: Path, key: Ed25519PublicKey) -> "ArchiveDirectory":
        """Raises `errors.SettingsInvalid` if it is not complete, `errors.LedgerBroken` if it was changed."""
        found = read_manifest(path, KIND, key)
        return cls(
            path,
            found["first"],
            found["last"],
            found["previous"],
            found["hash"],
            found["files"],
            file_digest(path / MANIFEST),
        )

    def records(self, key: bytes) -> Iterator[tuple[Any, ...]]:
        """The members of every `ChainRow`, in order, each after it was checked. Raises `errors.LedgerBroken`."""
        previous, expected = self.previous, self.first
        for name in sorted(self.files):
            for row, pairs in self._lines(self.path / Path(name).name):
                if row[1] != expected or row[-2] != previous:
                    raise LedgerBroken(
                        f"Record {expected} is missing in {self.path / name}: the next one found is {row[1]}. Use another copy of this archive."
                    )
                try:
                    check_record(key, row, pairs)
                except LedgerBroken as error:
                    raise LedgerBroken(f"{error} (file {self.path / name})") from error
                yield row
                previous, expected = row[-1], row[1] + 1
        if (expected, previous) != (self.last + 1, self.hash):
            raise LedgerBroken(f"The archive {self.path} ends before record {self.last}. Use another copy of it.")

    def _lines(self, path: Path) -> Iterator[tuple[tuple[Any, ...], list[tuple[str, str]]]]:
        try:
            with gzip.open(path, "rb") as file:
                for line in file:
                    found = _decode(line)
                    members = msgspec.structs.astuple(found)
                    body = bytes(found.body).decode()
                    yield (*members[:-4], body, *members[-3:-1]), found.resources
        except (OSError, EOFError, ValueError) as error:
            message = f"{path} cannot be read as records of the ledger ({type(error).__name__}). Use another copy of this archive."
            raise LedgerBroken(message) from error


class ArchiveFiles:
    """The archives below some directories, or in them: what `sentinel verify --archive` names."""

    def __init__(self, paths: Sequence[Path], chain_key: bytes, key: Ed25519PublicKey) -> None:
        """Raises `errors.SettingsInvalid` if there is none, `errors.LedgerBroken` if the manifest of one was changed."""
        self._key = chain_key
        found = [ArchiveDirectory.read(path, key) for path in _directories(paths)]
        self._found = sorted(found, key=lambda each: (each.first, each.last))
        self.unknown: Sequence[str] = ()
        """Of those that were checked: complete archives that the ledger does not know, left by a run that was interrupted."""

    @property
    def places(self) -> Sequence[str]:
        """The directories, as texts."""
        return [str(each.path) for each in self._found]

    def check(self, known: Sequence[Archive]) -> bool:
        """Verify every file by itself; whether they are those of every archive that the ledger knows. Raises `errors.LedgerBroken`."""
        digests = {each.manifest for each in known}
        self.unknown = [str(each.path) for each in self._found if each.digest not in digests]
        there = {each.digest for each in self._found}
        complete = all(each.manifest in there for each in known)
        for each in self._found:
            check_files(each.path, KIND, each.files)
            if not complete or each.digest not in digests:
                for _ in each.records(self._key):
                    pass  # it raises what is wrong
        return complete

    def records(self, known: Sequence[Archive]) -> Iterator[tuple[Any, ...]]:
        """The members of every archived `ChainRow`, in order, each after it was checked. Raises `errors.LedgerBroken`."""
        by_digest = {each.digest: each for each in self._found}
        for archive in known:
            yield from by_digest[archive.manifest].records(self._key)


def _directories(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if (path / MANIFEST).is_file():
            found.append(path)
            continue
        below = sorted(path.glob(f"{_NAME}*")) if path.is_dir() else []
        if not below:
            raise SettingsInvalid(
                f"There is no archive in {path}. Name a directory that `sentinel archive` wrote to, or one archive in it."
            )
        if len(below) > _MOST:
            raise SettingsInvalid(f"There are more than {_MOST} archives in {path}. Name the ones to be checked.")
        found += below
    return list(dict.fromkeys(each.resolve() for each in found))
