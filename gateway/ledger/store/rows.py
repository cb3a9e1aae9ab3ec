"""The rows that the ledger's statements read: one tuple type for each list of columns, named as in the tables."""

from typing import NamedTuple


class RecordRow(NamedTuple):
    """A whole record."""

    seq: int
    version: int
    stage: str
    at: str
    mutation_id: str
    actor: str
    stack: str
    body: str
    previous: str
    hash: str


class ChainEndRow(NamedTuple):
    """What the next record needs of the last one."""

    seq: int
    hash: str


class LastRecordRow(NamedTuple):
    """The last record, as far as opening the ledger needs it."""

    seq: int
    previous: str
    hash: str


class ClaimRow(NamedTuple):
    """A claim, without the mutation that superseded it."""

    id: str
    mutation_id: str
    address: str
    attribute: str
    value: str
    actor: str
    kind: str
    motive: str | None
    since: str
    until: str | None
    unsettled: int
    ended_at: str | None
    end: str | None
    proof: str
    undone: str


class SignalRow(NamedTuple):
    """A signal."""

    id: str
    source: str
    key: str
    name: str
    service: str
    state: str
    at: str
    since: str
    heard_at: str
    labels: str
    refs: str
    scopes: str


class TimeBoxRow(NamedTuple):
    """One attribute of a time-boxed change."""

    mutation_id: str
    address: str
    attribute: str
    value: str
    base: str
    root: str
    actor: str
    stack: str
    seq: int
    since: str
    until: str
    state: str
    ended_by: str


class AppliedValueRow(NamedTuple):
    """The last applied value of an attribute, when and by which mutation."""

    address: str
    attribute: str
    value: str
    at: str
    mutation_id: str
    seq: int


class StopRow(NamedTuple):
    """A stop."""

    id: str
    scope: str
    name: str
    by: str
    reason: str
    at: str
    ended_at: str | None
    ended_by: str


class StateRow(NamedTuple):
    """What decides whether an event of a signal is news."""

    state: str
    at: str
    since: str


class HolderRow(NamedTuple):
    """Who took a claim on an attribute, and when."""

    address: str
    attribute: str
    actor: str
    since: str
    id: str


class ValueRow(NamedTuple):
    """The last applied value of an attribute, as JSON text."""

    address: str
    attribute: str
    value: str


class AttemptRow(NamedTuple):
    """An attempt, without its outcome."""

    mutation_id: str
    seq: int
    actor: str
    stack: str
    idempotency_key: str | None
    state: str
    owner: str


class DoubtRow(NamedTuple):
    """An attempt in doubt."""

    mutation_id: str
    stack: str
    decided_at: str
    left_at: str


class AttemptOutcomeRow(NamedTuple):
    """What a repeated attempt is answered with."""

    mutation_id: str
    call_digest: str
    state: str
    request_id: str
    reason: str
    reply_status: int | None
    reply_headers: str | None
    reply_body: bytes | None


class HoldRow(NamedTuple):
    """A held mutation."""

    actor: str
    on_behalf_of: str
    stack: str
    call_digest: str
    state: str
    summary: str
    binding: str


class ApprovalRow(NamedTuple):
    """An approval."""

    id: str
    mutation_id: str
    approver: str
    until: str
    state: str
    binding: str
    others: str
    broke_glass: int
    keys: str | None


class ApprovalKeysRow(NamedTuple):
    """Who gave an approval, with which keys, and what used it."""

    id: str
    mutation_id: str
    actor: str
    approver: str
    others: str
    keys: str | None
    used_by: str


class KeyRow(NamedTuple):
    """An issued key."""

    id: str
    actor: str
    kind: str
    roles: str
    on_behalf_of: str
    motive: str | None
    expires_at: str | None
    revoked_at: str | None
    session_of: str
    motive_only: int
    assumed: str | None


class StoredKeyRow(NamedTuple):
    """A whole row of `keys`."""

    id: str
    actor: str
    kind: str
    roles: str
    on_behalf_of: str
    motive: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    session_of: str
    motive_only: int
    assumed: str | None


class PlanSessionRow(NamedTuple):
    """The session of a plan."""

    mutation_id: str
    key_id: str
    seq: int
    actor: str
    stack: str
    digest: str
    until: str
    ended_at: str | None
    end: str


class PlanUseRow(NamedTuple):
    """How often a planned change was used by one operation."""

    address: str
    action: str
    operation: str
    times: int
