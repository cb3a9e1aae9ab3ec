"""Finds the provider executable of a stack, and checks that the stack's lock file names it.

Terraform compares the package with the lock file at each run, and so must a program that starts a provider itself.
Source: "Dependency Lock File" of Terraform's documentation; `h1:` is the hash "Hash1" of Go's package `sumdb/dirhash`.
"""

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from reconciler.errors import PluginUnavailable

LOCK_FILE: Final = ".terraform.lock.hcl"
_BLOCK: Final = re.compile(r'^provider "(?P<source>[^"]+)" \{\n(?P<body>.*?)^\}', re.MULTILINE | re.DOTALL)
_HASH: Final = re.compile(r'"(h1:[A-Za-z0-9+/=]+)"')


def executable_of(data: Path, source: str) -> Path:
    """The executable of a provider below the plug-in data of a stack (`.terraform`), e.g. of `registry.terraform.io/hashicorp/aws`.

    Raises `errors.PluginUnavailable` unless there is exactly one.
    """
    name = source.rpartition("/")[2]
    found = sorted((data / "providers" / source).glob(f"*/*/terraform-provider-{name}*"))
    if len(found) != 1 or "../" in source:
        raise PluginUnavailable.because(f"{len(found)} executables of {source} are installed, not one.")
    return found[0]


def check_locked(executable: Path, source: str, lock_file: Path) -> None:
    """Compare the provider's package with the hashes of the lock file. Reads all of it the first time, about a second for AWS.

    Raises `errors.PluginUnavailable` if none fits, or the lock file has none of this kind.
    """
    try:
        text = lock_file.read_text()
    except OSError as error:
        raise PluginUnavailable.because(f"{lock_file.name} cannot be read.") from error
    known = [_HASH.findall(block["body"]) for block in _BLOCK.finditer(text) if block["source"] == source]
    if not known or package_hash(executable.parent) not in known[0]:
        raise PluginUnavailable.because(f"The package of {source} is not one that {lock_file.name} names.")


def package_hash(folder: Path) -> str:
    """The hash of all files below a folder, as `h1:…`."""
    files = sorted(path for path in folder.resolve().rglob("*") if path.is_file())
    state = tuple(
        (
            path.relative_to(folder.resolve()).as_posix(),
            path.stat().st_mtime_ns,
            path.stat().st_size,
            path.stat().st_ino,
        )
        for path in files
    )
    return _package_hash(folder.resolve(), state)


@lru_cache(maxsize=16)
def _package_hash(folder: Path, state: tuple[tuple[str, int, int, int], ...]) -> str:
    lines = (f"{_file_hash(folder / name)}  {name}\n" for name, *_ in sorted(state))
    return f"h1:{base64.b64encode(hashlib.sha256(''.join(lines).encode()).digest()).decode()}"


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
