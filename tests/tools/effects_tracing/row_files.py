"""Writes derived rows into the files of `gateway/core/derived/`: the rows of one origin are replaced, those of the others are kept."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from gateway.core.derived_rows import DIRECTORY, DerivedRow, Origin, file_text, rows_of_text

DERIVED = Path(str(DIRECTORY))


def replace_rows(
    origin: Origin,
    rows: Iterable[DerivedRow],
    sources: Mapping[str, str],
    directory: Path = DERIVED,
    *,
    types: Collection[str] | None = None,
) -> None:
    """Make `rows` the only rows of their origin in all files, or the only ones of these resource types. `sources` are the versions that they come from.

    Rows of other origins stay, also those of the same operation and type: the reader decides between them. A file without rows is removed.
    Raises `ValueError` for a row of another origin or type, and for two rows of one operation and type.
    """
    by_service: dict[str, dict[tuple[str, str], DerivedRow]] = {}
    for row in rows:
        if row.origin is not origin:
            raise ValueError(f"{row.service}:{row.operation} is of origin {row.origin}, not {origin}.")
        if types is not None and row.resource_type not in types:
            raise ValueError(f"{row.service}:{row.operation} is of {row.resource_type}, whose rows are to stay.")
        found = by_service.setdefault(row.service, {})
        if (row.operation, row.resource_type) in found:
            raise ValueError(f"{row.service}:{row.operation} has two rows for {row.resource_type}.")
        found[row.operation, row.resource_type] = row

    def stays(row: DerivedRow) -> bool:
        return row.origin is not origin or (types is not None and row.resource_type not in types)

    written = {path.stem for path in directory.glob("*.json")}
    for service in sorted(written | by_service.keys()):
        _replace(directory / f"{service}.json", stays, tuple(by_service.get(service, {}).values()), sources)


def _replace(
    path: Path, stays: Callable[[DerivedRow], bool], rows: tuple[DerivedRow, ...], sources: Mapping[str, str]
) -> None:
    text = path.read_bytes() if path.exists() else b""
    kept = tuple(row for row in rows_of_text(path.stem, text) if stays(row))
    if not kept and not rows:
        path.unlink(missing_ok=True)
        return
    stated = json.loads(text)["sources"] if text else {}
    ordered = sorted((*kept, *rows), key=lambda row: row.origin)
    made = file_text(path.stem, {**stated, **sources} if rows else stated, tuple(ordered)).encode()
    if made != text:
        path.write_bytes(made)
