"""The directory of learned rows: written by `sentinel effects accept`, reviewed as code, and read beside the rows that ship with Sentinel."""

import json
from collections.abc import Mapping
from pathlib import Path

from gateway.core.derived_rows import DerivedRow, Origin, file_text, rows_of_text
from gateway.core.errors import SettingsInvalid


def learned_rows(directory: Path, service: str) -> tuple[DerivedRow, ...]:
    """The accepted rows of a service. Raises `errors.SettingsInvalid` for a file that is not as `accept` writes it."""
    path = directory / f"{service}.json"
    if not path.is_file():
        return ()
    try:
        rows = rows_of_text(service, path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsInvalid(
            f"The learned rows in {path} cannot be read; restore the file from its repository."
        ) from error
    if other := [row.operation for row in rows if row.origin is not Origin.LEARNED]:
        raise SettingsInvalid(f"{path} has rows that were not learned: {', '.join(sorted(other)[:3])}. Remove them.")
    return rows


def check_learned(directory: Path | None) -> None:
    """Raise `errors.SettingsInvalid` unless every file of the directory can be read. A directory that is not there yet has none."""
    if directory is not None:
        for path in sorted(directory.glob("*.json")):
            learned_rows(directory, path.stem)


def accept(directory: Path, row: DerivedRow, *, by: str, mutations: tuple[str, ...]) -> Path:
    """Write a row into the file of its service, in place of an earlier one of its operation and type. Returns the file.

    The file names who accepted it and from which mutations. Raises `errors.SettingsInvalid`, OSError.
    """
    path = directory / f"{row.service}.json"
    kept = [
        each
        for each in learned_rows(directory, row.service)
        if (each.operation, each.resource_type) != (row.operation, row.resource_type)
    ]
    sources = {
        **_sources(path),
        f"{row.operation} {row.resource_type}": f"accepted by {by}, from {', '.join(mutations)}",
    }
    directory.mkdir(parents=True, exist_ok=True)
    write(path, file_text(row.service, sources, (*kept, row)))
    return path


def write(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old text or the new one, never a part. Raises OSError."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text)
    beside.replace(path)


def _sources(path: Path) -> Mapping[str, str]:
    """Who accepted each row of a file. Raises `errors.SettingsInvalid`."""
    try:
        found = json.loads(path.read_bytes())["sources"] if path.is_file() else {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsInvalid(f"{path} cannot be read; restore the file from its repository.") from error
    return {str(name): str(text) for name, text in found.items()}
