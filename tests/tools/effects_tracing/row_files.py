"""Writes derived rows into the files of `gateway/effects/derived/`: the rows of one origin are replaced, those of the others are kept."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from gateway.effects.derived_rows import DIRECTORY, DerivedRow, Origin, file_text, rows_of_text

DERIVED = Path(str(DIRECTORY))


def replace_rows(
    origin: Origin, rows: Iterable[DerivedRow], sources: Mapping[str, str], directory: Path = DERIVED
) -> None:
    """Make `rows` the only rows of their origin in all files. `sources` are the versions that they come from.

    Rows of other origins stay, also those of the same operation and type: the reader decides between them. A file without rows is removed.
    Raises `ValueError` for a row of another origin, and for two rows of one operation and type.
    """
    by_service: dict[str, dict[tuple[str, str], DerivedRow]] = {}
    for row in rows:
        if row.origin is not origin:
            raise ValueError(f"{row.service}:{row.operation} is of origin {row.origin}, not {origin}.")
        found = by_service.setdefault(row.service, {})
        if (row.operation, row.resource_type) in found:
            raise ValueError(f"{row.service}:{row.operation} has two rows for {row.resource_type}.")
        found[row.operation, row.resource_type] = row
    written = {path.stem for path in directory.glob("*.json")}
    for service in sorted(written | by_service.keys()):
        _replace(directory / f"{service}.json", origin, tuple(by_service.get(service, {}).values()), sources)


def _replace(path: Path, origin: Origin, rows: tuple[DerivedRow, ...], sources: Mapping[str, str]) -> None:
    text = path.read_bytes() if path.exists() else b""
    kept = tuple(row for row in rows_of_text(path.stem, text) if row.origin is not origin)
    if not kept and not rows:
        path.unlink(missing_ok=True)
        return
    stated = json.loads(text)["sources"] if text else {}
    ordered = sorted((*kept, *rows), key=lambda row: row.origin)
    made = file_text(path.stem, {**stated, **sources} if rows else stated, tuple(ordered)).encode()
    if made != text:
        path.write_bytes(made)
