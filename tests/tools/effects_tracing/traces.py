"""What tracing records: the runs of a type's phases with the requests of each, kept as one file of JSON lines per type and variant."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec


class Phase(StrEnum):
    """What was planned and applied in a run."""

    CREATE = "create"
    UPDATE = "update"
    """Every attribute that can change in place changes at once."""
    EACH = "each"
    """One attribute changes; the run is its path."""
    OMIT = "omit"
    """One optional attribute at the top is left out, after it was set; the run is its name."""
    DELETE = "delete"


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request that may change something, or that could not be read."""

    service: str
    operation: str = ""
    call_class: str = ""
    parameters: Any = {}
    problem: str = ""


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One plan that was applied."""

    phase: Phase
    run: str
    config: Any
    """The configuration, with what is None or empty in it; None for a delete."""
    state: Any
    """The state before it; None for a create."""
    after: Any = None
    """The state after a create that succeeded."""
    calls: list[RecordedCall]
    reads: list[str]
    """`SERVICE:OPERATION` of each read, once."""
    problem: str = ""
    """How it ended, if it did not succeed: an error of the provider, or why it was cut."""


class Summary(msgspec.Struct, kw_only=True, tag="summary"):
    """How tracing a type went; the last line of its file."""

    resource_type: str
    variant: int
    reached: bool = False
    """Whether a request that changes something was seen."""
    reason: str = ""
    """Why the type was given up, if it was."""
    create: str = ""
    """How the first create ended, if it did not succeed."""
    minimal: bool = False
    """Whether only required attributes were kept at some point."""
    is_set: list[str] = []
    unset: list[str] = []
    create_only: list[str] = []
    """Attributes whose change needs a replacement."""
    notes: list[str] = []
    seconds: float = 0.0


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """All runs of one type in one variant."""

    summary: Summary
    runs: list[Run]


_DECODER = msgspec.json.Decoder(Run | Summary)


def path_of(directory: Path, resource_type: str, variant: int) -> Path:
    """The file of a type's traces."""
    return directory / f"{resource_type}.{variant}.jsonl"


def write_trace(directory: Path, trace: Trace) -> None:
    """Write a type's file as a whole, so that a file that is there is complete."""
    path = path_of(directory, trace.summary.resource_type, trace.summary.variant)
    partial = path.with_suffix(".partial")
    lines = [msgspec.json.encode(entry, enc_hook=_left_out) for entry in (*trace.runs, trace.summary)]
    partial.write_bytes(b"\n".join(lines) + b"\n")
    partial.rename(path)


def read_traces(directory: Path) -> Mapping[str, list[Trace]]:
    """Type → its traces, by variant."""
    found: dict[str, list[Trace]] = {}
    for path in sorted(directory.glob("*.jsonl")):
        trace = read_trace(path)
        found.setdefault(trace.summary.resource_type, []).append(trace)
    return found


def read_trace(path: Path) -> Trace:
    """The trace in a file. Raises `msgspec.DecodeError` for a file of another form."""
    entries = [*_entries(path)]
    summary = entries[-1]
    assert isinstance(summary, Summary)
    return Trace(summary=summary, runs=[entry for entry in entries if isinstance(entry, Run)])


def _entries(path: Path) -> Iterator[Run | Summary]:
    for line in path.read_bytes().splitlines():
        yield _DECODER.decode(line)


def _left_out(value: object) -> Any:
    """What JSON cannot say: unknown values are None, bytes and the like are texts."""
    return None if isinstance(value, msgspec.msgpack.Ext) else str(value)
