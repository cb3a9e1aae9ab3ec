"""Reads files of CloudTrail records, as CloudTrail delivers them, as LookupEvents gives them, and one JSON object per line."""

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from gateway.core.errors import EventsInvalid
from gateway.core.json_reader import JsonFault, JsonRefused, read_json

LARGEST = 64 * 1024 * 1024
"""Bytes of a file's events, decompressed: as Python objects they take twenty times that at worst. CloudTrail's own files are far smaller."""


def event_files(path: Path) -> list[Path]:
    """The files of events: the one at `path`, or those in and below the directory, as CloudTrail delivers them. Digest files are none."""
    if not path.is_dir():
        return [path]
    found = (file for suffix in ("*.json", "*.json.gz") for file in path.rglob(suffix))
    return sorted(file for file in found if "CloudTrail-Digest" not in file.parts)


def read_records(path: Path) -> list[Any]:
    """The raw records of a file, which may be compressed; None for a line that is not JSON. Raises `errors.EventsInvalid`."""
    try:
        with path.open("rb") as file:
            return parse_records(file.read(LARGEST + 1), str(path))
    except OSError as error:
        message = f"The events in {path} cannot be read: {error}. Nothing was changed."
        raise EventsInvalid(message) from error


def parse_records(content: bytes, path: str) -> list[Any]:
    """The raw records in a file's content; `path` names it in errors. Raises `errors.EventsInvalid`."""
    try:
        text = _unpacked(content).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        message = f"The events in {path} cannot be read: {error}. Nothing was changed."
        raise EventsInvalid(message) from error
    try:
        document = read_json(text)
    except JsonRefused as error:
        if error.fault is JsonFault.SYNTAX:
            return _lines(path, text)
        message = f"A text of the events in {path} {error}, so they were not read. Nothing was changed."
        raise EventsInvalid(message) from error
    match document:
        case {"Records": list(records)} | {"Events": list(records)}:
            return records
        case list():
            return document
        case {"eventName": _}:
            return [document]
    message = f'The events in {path} are not a CloudTrail file: expected {{"Records": […]}}, a list, or one JSON object per line.'
    raise EventsInvalid(message)


def _unpacked(content: bytes) -> bytes:
    """The content, decompressed if it is gzip, up to a limit: a small file must not fill the memory. Raises OSError."""
    unpacked = content
    if content.startswith(b"\x1f\x8b"):
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(LARGEST + 1)
    if len(unpacked) > LARGEST:
        message = f"it holds more than {LARGEST} bytes"
        raise OSError(message)
    return unpacked


def _lines(path: str, text: str) -> list[Any]:
    """One record per line; None for a line that is not JSON. Raises `EventsInvalid` if no line is JSON."""
    lines = [line for line in text.splitlines() if line.strip()]
    records: list[Any] = []
    good = 0
    for line in lines:
        try:
            records.append(read_json(line))
            good += 1
        except JsonRefused:
            records.append(None)
    if not good:
        message = f"The events in {path} are not JSON at all. Nothing was changed."
        raise EventsInvalid(message)
    return records


def unwrapped(record: Any) -> Any:
    """A record itself, or the one that a result of LookupEvents holds as text; None if that cannot be read."""
    if isinstance(record, dict) and isinstance(text := record.get("CloudTrailEvent"), str):
        try:
            return read_json(text)
        except JsonRefused:
            return None
    return record
