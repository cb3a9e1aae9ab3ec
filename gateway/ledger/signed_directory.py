"""A directory of files with a manifest: it names each file by its digest, is signed with the ledger's key, and is written last, so it completes the directory."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gateway.core.errors import LedgerBroken, SettingsInvalid

MANIFEST: Final = "manifest.json"
_FORM: Final = 1
_LARGEST: Final = 1024 * 1024


def write_manifest(directory: Path, kind: str, content: Mapping[str, Any], key: Ed25519PrivateKey) -> None:
    """Complete the directory: sign `content` and the digests of its files, on disk when this returns. `kind` says what it is, e.g. `backup`.

    Raises OSError.
    """
    files = {path.name: file_digest(path) for path in sorted(directory.iterdir()) if not path.name.startswith(".")}
    signed = {"form": _FORM, **content, "files": files}
    text = json.dumps({**signed, "signature": key.sign(_bytes(kind, signed)).hex()}, indent=1) + "\n"
    target = directory / MANIFEST
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(directory: Path, kind: str, key: Ed25519PublicKey) -> dict[str, Any]:
    """The signed content, with the digests of the files under `files`.

    Raises `errors.SettingsInvalid` if the directory is not complete, and `errors.LedgerBroken` if its manifest was changed or is another key's.
    """
    path = directory / MANIFEST
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_LARGEST))
        signature = bytes.fromhex(found.pop("signature"))
        known = found["form"] == _FORM and isinstance(found["files"], dict)
    except OSError as error:
        message = f"There is no complete {kind} in {directory} ({MANIFEST} cannot be read: {error.strerror}). Nothing was changed."
        raise SettingsInvalid(message) from error
    except (ValueError, KeyError, AttributeError, TypeError):
        known, found, signature = False, {}, b""
    if not known:
        message = f"{path} is not the manifest of a {kind} that this Sentinel can read. Nothing was changed."
        raise LedgerBroken(message)
    try:
        key.verify(signature, _bytes(kind, found))
    except InvalidSignature as error:
        message = (
            f"The {kind} {directory} was changed, or made with another master key than the one of the settings. Nothing was changed. Set the master key "
            "that the ledger was written with (SENTINEL_MASTER_KEY, or the file master.key in the data directory)."
        )
        raise LedgerBroken(message) from error
    return dict(found)


def check_files(directory: Path, kind: str, files: Mapping[str, str]) -> None:
    """Raise `errors.LedgerBroken` unless each file has the digest that the manifest says."""
    for name, digest in files.items():
        path = directory / Path(name).name
        if not path.is_file() or file_digest(path) != digest:
            message = f"{path} is missing or is not the file that was written for this {kind}. Nothing was changed. Use another copy of it."
            raise LedgerBroken(message)


def sync_directory(directory: Path) -> None:
    """Have the names in the directory on disk when this returns. Raises OSError."""
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, 64 hex digits. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bytes(kind: str, content: Mapping[str, Any]) -> bytes:
    return f"sentinel/{kind}\n".encode() + json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
