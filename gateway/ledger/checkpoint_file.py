"""The file that holds the last checkpoint. It lies outside the database, so that changing both takes more than access to one."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.errors import LedgerBroken, LedgerUnavailable
from gateway.ledger.checkpoint import Checkpoint, parse, sign

FILE_NAME: Final = "ledger.checkpoint"
"""Its name in the data directory."""

_LARGEST: Final = 4096


class CheckpointFile:
    """The last checkpoint in a file. A reader sees the old or the new one, never half of one."""

    def __init__(self, path: Path, key: Ed25519PrivateKey) -> None:
        self.path = path
        self._key = key

    def read(self) -> Checkpoint | None:
        """The checkpoint; None if there is no file yet. Raises `errors.LedgerBroken` if its signature is not ours, `errors.LedgerUnavailable`."""
        try:
            with self.path.open("rb") as file:
                note = file.read(_LARGEST).decode()
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise LedgerBroken(
                f"The checkpoint {self.path} is not text: it was changed. Compare with a backup."
            ) from error
        except OSError as error:
            raise LedgerUnavailable(f"The checkpoint {self.path} cannot be read ({error.strerror}).") from error
        try:
            return parse(note, self._key.public_key())
        except LedgerBroken as error:
            raise LedgerBroken(f"{error} (file {self.path})") from error

    def write(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint, on disk when this returns. Raises `errors.LedgerUnavailable`."""
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            self._make_directory()
            with temporary.open("w", encoding="utf-8") as file:
                file.write(sign(checkpoint, self._key))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
            _sync(self.path.parent)
        except OSError as error:
            message = f"The checkpoint {self.path} cannot be written ({error.strerror}). Make the gateway's user the owner of its directory."
            raise LedgerUnavailable(message) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from replacing the checkpoint meanwhile. Raises `errors.LedgerUnavailable`."""
        try:
            self._make_directory()
            file = os.open(self.path.with_name(f".{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            message = f"The checkpoint {self.path} cannot be locked ({error.strerror}). Make the gateway's user the owner of its directory."
            raise LedgerUnavailable(message) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)

    def _make_directory(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)


def _sync(directory: Path) -> None:
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
