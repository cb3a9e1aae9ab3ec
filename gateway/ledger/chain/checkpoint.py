"""A checkpoint of the ledger as signed text, and the file outside the database that holds the last one, so that changing both takes more than access to one.

The text is a checkpoint of https://c2sp.org/tlog-checkpoint in a note of https://c2sp.org/signed-note, so that other tools can
check its signature. Our root is the hash of the last record of a chain, not of a Merkle tree.
"""

import base64
import binascii
import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gateway.core.errors import LedgerBroken, LedgerUnavailable

ORIGIN: Final = "sentinel/ledger"
"""The first line of every checkpoint, and the name of its key."""

_ED25519: Final = b"\x01"
_ID_LENGTH: Final = 4
_LARGEST: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What was signed: the ledger had `size` records, and the last one had this hash."""

    size: int
    hash: str
    """64 hex digits."""

    @property
    def text(self) -> str:
        """The three lines that are signed."""
        return f"{ORIGIN}\n{self.size}\n{base64.b64encode(bytes.fromhex(self.hash)).decode()}\n"


def sign(checkpoint: Checkpoint, key: Ed25519PrivateKey) -> str:
    """The checkpoint as a signed note."""
    signature = _key_id(key.public_key()) + key.sign(checkpoint.text.encode())
    return f"{checkpoint.text}\n— {ORIGIN} {base64.b64encode(signature).decode()}\n"


def parse(note: str, key: Ed25519PublicKey) -> Checkpoint:
    """The checkpoint of a signed note. Raises `errors.LedgerBroken` unless this key signed exactly these bytes.

    Signatures of other keys, such as those of witnesses, may stand beside ours.
    """
    text, separator, signatures = note[:_LARGEST].partition("\n\n")
    text += "\n"
    if not separator or not any(_is_signed(text, line, key) for line in signatures.split("\n")):
        raise LedgerBroken(
            "The checkpoint carries no signature of this master key: it was changed, or belongs to another ledger."
        )
    return _content(text)


def _is_signed(text: str, line: str, key: Ed25519PublicKey) -> bool:
    try:
        dash, name, encoded = line.split(" ")
        signature = base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        return False
    if (dash, name, signature[:_ID_LENGTH]) != ("—", ORIGIN, _key_id(key)):
        return False
    try:
        key.verify(signature[_ID_LENGTH:], text.encode())
    except InvalidSignature:
        return False
    return True


def _content(text: str) -> Checkpoint:
    """The content of signed lines. Extension lines after the third are allowed, as the format says."""
    try:
        origin, size, root, *_ = text.split("\n")
        checkpoint = Checkpoint(size=int(size), hash=base64.b64decode(root, validate=True).hex())
    except (ValueError, binascii.Error) as error:
        raise LedgerBroken("The checkpoint is signed, but this Sentinel cannot read it. Use a newer one.") from error
    if origin != ORIGIN or len(checkpoint.hash) != hashlib.sha256().digest_size * 2:
        raise LedgerBroken("The checkpoint is signed, but is not one of a Sentinel ledger.")
    return checkpoint


def _key_id(key: Ed25519PublicKey) -> bytes:
    """The first bytes of a hash over name and key, which tell keys apart (signed-note, "Signatures")."""
    return hashlib.sha256(f"{ORIGIN}\n".encode() + _ED25519 + key.public_bytes_raw()).digest()[:_ID_LENGTH]


LOCK_SECONDS: Final = 30.0
"""How long a process waits for another one that writes the checkpoint; one takes some milliseconds, and reading back many records some seconds."""
_AGAIN_SECONDS: Final = 0.01
FILE_NAME: Final = "ledger.checkpoint"
"""Its name in the data directory."""


class CheckpointFile:
    """The last checkpoint in a file. A reader sees the old or the new one, never half of one."""

    def __init__(self, path: Path, key: Ed25519PrivateKey) -> None:
        self.path = path
        self._key = key

    def read(self) -> Checkpoint | None:
        """The checkpoint; None if there is no file yet. Raises `errors.LedgerBroken` if its signature is not ours, `errors.LedgerUnavailable`."""
        try:
            with open(self.path, "rb", opener=_open_file) as file:
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
        # In containers, two processes may have the same id; nobody else can have made a file of this name, or a link.
        temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            self._make_directory()
            with temporary.open("x", encoding="utf-8") as file:
                file.write(sign(checkpoint, self._key))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
            _sync(self.path.parent)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
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
            _lock(file, self.path)
            yield
        finally:
            os.close(file)

    def _make_directory(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)


def _lock(file: int, path: Path) -> None:
    """Take the lock. Raises `errors.LedgerUnavailable` if another process has it for longer than a checkpoint takes."""
    until = monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if monotonic() >= until or error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                message = f"The checkpoint {path} cannot be locked: {error.strerror}. Another process holds its lock, or its disk has no locks."
                raise LedgerUnavailable(message) from error
        else:
            return
        sleep(_AGAIN_SECONDS)


def _open_file(path: str, flags: int) -> int:
    """Open a file, and nothing else: a pipe in its place would have its reader wait for ever. Raises OSError."""
    opened = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EINVAL, "it is no file")
    return opened


def _sync(directory: Path) -> None:
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
