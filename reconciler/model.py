"""The nouns of writing back: what drifted, what is wanted in code, the edits, and the proposal a human merges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gateway.model.json import Json
from gateway.model.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A value that the code must come to declare."""

    address: str
    """Terraform address of one instance, e.g. `module.jobs["a"].aws_sqs_queue.this`."""
    attribute: str
    """Dotted path, e.g. `desired_capacity`, `tags.owner`, `versioning_configuration.status`."""
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change to the text of one Terraform file: bytes `start` to `end` of `path` become `new`. Nothing else changes."""

    path: Path
    """Relative to the stack's root directory."""
    start: int
    end: int
    old: bytes
    new: bytes
    wanted: Wanted
    chain: tuple[str, ...] = ()
    """How the value was traced from the attribute to this place, one step a line, each with `file:line`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What no edit could express, for a human, with the chain that led to it."""

    wanted: Wanted
    reason: str
    """A whole sentence."""
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The result of editing: new bytes of every changed file, the edits that led there, and what is left."""

    files: Mapping[Path, bytes] = field(default_factory=dict)
    """By path relative to the stack's root directory."""
    edits: tuple[Edit, ...] = ()
    left: tuple[Left, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftOrigin:
    """Who made a change that did not come through us, as CloudTrail tells it."""

    actor: str
    event: str
    """`service:Operation`."""
    at: datetime
    event_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Live differs from declared."""

    wanted: Wanted
    """The live value, in the provider's form."""
    before: Json
    """What code or state said."""
    record: Record | None = None
    """The DECIDED record of the mutation that caused it; None for foreign drift."""
    origin: DriftOrigin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One thing that was shown before an edit may be proposed."""

    name: str
    """parses, formatted, untouched, captured, plan_clean, nothing_else."""
    held: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Edits with proof and story, for a human to merge."""

    stack: str
    mutation_id: str
    edited: Edited
    proofs: tuple[Proof, ...]
    branch: str = ""
    commit: str = ""
    diff: str = ""
