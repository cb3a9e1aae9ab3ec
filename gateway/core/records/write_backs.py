"""The bodies of RECONCILED and PROPOSED: what the reconciler wrote into the code, and what became of the pull request."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from gateway.core.records.record import Body, Stage


class RecordedEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A value that was written into the code."""

    address: str
    attribute: str
    value: Any
    path: str
    chain: tuple[str, ...]


class RecordedProof(msgspec.Struct, frozen=True, kw_only=True):
    """A proof of an edit."""

    name: str
    held: bool
    detail: str


class RecordedLeft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value that was not written, and why. The value of a secret is null."""

    address: str
    attribute: str
    value: Any
    reason: str
    chain: tuple[str, ...]
    superseded_by: str = ""
    diff: str = ""
    """What a person may apply instead."""


class WriteBackBody(Body, frozen=True, kw_only=True):
    """What became of values that the code does not have. What does not apply is absent."""

    branch: str = ""
    commit: str = ""
    files: tuple[str, ...] = ()
    diff: str | None = None
    edits: tuple[RecordedEdit, ...] = ()
    proofs: tuple[RecordedProof, ...] = ()
    left: tuple[RecordedLeft, ...] = ()
    """What a human must look at."""
    kept_out: tuple[RecordedLeft, ...] = ()
    """What does not belong in code."""
    superseded_by: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    """Differences that were there before."""
    tried: Mapping[str, Any] = {}
    """The circumstances in which something was left."""
    corrects: int = 0
    """The number of the record that this one replaces."""
    nothing_to_do: str = ""
    """Why nothing was written although nothing is left."""
    merged: bool | None = None
    """Whether the protected branch declares the values."""

    @property
    def edited_addresses(self) -> set[str]:
        """The addresses whose values were written into the code."""
        return {edit.address for edit in self.edits}


class ReconciledBody(WriteBackBody, frozen=True, kw_only=True):
    """What the reconciler did about a mutation; with `merged` the mutation's claims and applied values end."""

    stage: ClassVar[Stage] = Stage.RECONCILED

    state_refreshed: bool = False
    """Whether the state was brought up to date with the merged code."""
    state_not_refreshed: str = ""
    """Why it was not."""
    claims_ended: tuple[str, ...] | None = None
    """Written by the ledger."""


class ProposedBody(Body, frozen=True, kw_only=True):
    """What became of a stack's pull request. Each state of each commit is recorded once."""

    stage: ClassVar[Stage] = Stage.PROPOSED

    state: str
    """`open`, `closed`, `declined` (a person closed it) or `failed`."""
    repository: str
    branch: str
    base: str
    commit: str = ""
    number: int | None = None
    url: str = ""
    mutations: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    reason: str = ""
