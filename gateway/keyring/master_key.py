"""The master key, from which every gateway secret is derived: given in the settings, or made once and kept in a private file."""

import os
import secrets
from pathlib import Path
from typing import Final

from gateway.errors import SettingsInvalid

MIN_LENGTH: Final = 32
"""Fewest characters of a master key."""

FILE_NAME: Final = "master.key"
"""Its file's name in the data directory."""


def master_key(given: str, data: Path) -> bytes:
    """The key given, else the one in `data/master.key`, which is made with mode 0600 where there is none.

    Raises `errors.SettingsInvalid` for a key that is too short, or a file that others can read or that cannot be read.
    """
    if given:
        return _long_enough(given, "The master key in the settings")
    path = data / FILE_NAME
    try:
        if not path.exists():
            _make(path)
        return _long_enough(_private_text(path), f"The master key in {path}")
    except (OSError, UnicodeDecodeError) as error:
        message = f"The master key {path} cannot be read or made ({error}). Give its directory to the gateway's user."
        raise SettingsInvalid(message) from error


def _private_text(path: Path) -> str:
    with path.open(encoding="ascii") as file:
        # Asked of the open file, so that it cannot be exchanged between question and reading.
        mode = os.fstat(file.fileno()).st_mode & 0o777
        if mode & 0o077:
            message = f"The master key {path} can be read by others (mode {mode:04o}). Run `chmod 600` on it, and issue new keys if others may have read it."
            raise SettingsInvalid(message)
        return file.read().strip()


def _make(path: Path) -> None:
    """Written aside and linked into place, so that nobody reads half a key and of two processes one wins."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, secrets.token_urlsafe(48).encode() + b"\n")
        os.fsync(file)
    finally:
        os.close(file)
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()
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
