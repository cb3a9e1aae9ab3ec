"""The master key, from which the secrets of all keys and the key of masks are derived: taken from the settings, or generated once and stored in a private file."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Final

from gateway.core.errors import SettingsInvalid

MIN_LENGTH: Final = 32
"""Fewest characters of a master key."""

FILE_NAME: Final = "master.key"
"""Name of its file in the data directory."""


def derived_key(master: bytes, purpose: str) -> bytes:
    """A key of its own for each purpose, 32 bytes. It tells nothing about the master key or the other keys.

    HKDF-SHA256 (RFC 5869) with one block of output.
    """
    extracted = hmac.new(b"sentinel", master, hashlib.sha256).digest()
    return hmac.new(extracted, purpose.encode() + b"\x01", hashlib.sha256).digest()


def master_key(given: str, data: Path, *, create: bool = True) -> bytes:
    """The key `given` in the settings, else the one in `data/master.key`, which is created with mode 0600 if it is missing.

    Raises `errors.SettingsInvalid` for a key that is too short, and for a file that cannot be read, that others can read, or,
    unless `create`, that is missing.
    """
    if given:
        return _long_enough(given, "The master key in the settings")
    path = data / FILE_NAME
    try:
        if not path.exists():
            if not create:
                message = (
                    f"There is no master key at {path}, and the settings give none. Without the one that the ledger was written with, neither "
                    "its hashes nor the issued keys can be checked. Restore the file from a backup, or set SENTINEL_MASTER_KEY. Nothing was changed."
                )
                raise SettingsInvalid(message)
            _create(path, secrets.token_urlsafe(48).encode())
        return _long_enough(_private_text(path), f"The master key in {path}")
    except (OSError, UnicodeDecodeError) as error:
        message = f"The master key {path} cannot be read or created ({error}). Make the gateway's user the owner of its directory."
        raise SettingsInvalid(message) from error


def copied_key(path: Path) -> bytes:
    """The key in a copy of such a file, which others may read too. Raises `errors.SettingsInvalid`."""
    try:
        return _long_enough(path.read_text(encoding="ascii").strip(), f"The master key in {path}")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"The master key {path} cannot be read ({error}). Nothing was changed.") from error


def keep_key(path: Path, key: bytes) -> None:
    """Store a key in its file, unless there is one. On disk when this returns. Raises OSError."""
    _create(path, key)


def _private_text(path: Path) -> str:
    with path.open(encoding="ascii") as file:
        # The mode of the open file, which cannot be replaced between this check and the read.
        mode = os.fstat(file.fileno()).st_mode & 0o777
        if mode & 0o077:
            message = f"The master key {path} can be read by others (mode {mode:04o}). Run `chmod 600` on it. If others may have read it, replace it and issue new keys."
            raise SettingsInvalid(message)
        return file.read().strip()


def _create(path: Path, key: bytes) -> None:
    """Create the file. The key is written to a temporary file and linked into place, so nobody reads half a key, and of two
    processes only one succeeds.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, key + b"\n")
        os.fsync(file)
    finally:
        os.close(file)
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _long_enough(key: str, what: str) -> bytes:
    if len(key) < MIN_LENGTH:
        message = f"{what} has {len(key)} characters; it needs at least {MIN_LENGTH}."
        raise SettingsInvalid(message)
    return key.encode()
