"""The members of record bodies that the tables follow from, as types that are decoded quickly. Other members are skipped.

Every member has a default: a record holds only what it needs, and a member that is missing means what its default means.
"""

from typing import Any, Final

import msgspec

from gateway.core.records.record import Stage

Absent = msgspec.UnsetType
ABSENT: Final = msgspec.UNSET
"""A member that a record does not have."""

_NULL: Final = msgspec.Raw(b"null")


class EffectBody(msgspec.Struct, frozen=True):
    """One effect of a mutation."""

    address: str = ""
    attribute: str = ""
    action: str = ""
    value: msgspec.Raw = _NULL
    implied: bool = False


class CallerBody(msgspec.Struct, frozen=True):
    """Who asked."""

    kind: str = ""
    on_behalf_of: str = ""


class CallBody(msgspec.Struct, frozen=True):
    """The call."""

    digest: str = ""


class DecisionBody(msgspec.Struct, frozen=True):
    """The decision."""

    verdict: str = ""
    carried_out: bool = False
    supersedes: tuple[str, ...] = ()
    approval: str = ""
    binding: msgspec.Raw | Absent = ABSENT
    attached: str = ""
    obligations: dict[str, Any] = {}


class TakenClaimBody(msgspec.Struct, frozen=True):
    """A claim that the mutation took."""

    id: str = ""
    address: str = ""
    attribute: str = ""
    until: str | None = None
    proof: tuple[str, ...] = ()


class AttemptBody(msgspec.Struct, frozen=True):
    """What the attempt's row holds beside the rest of the record."""

    idempotency_key: str = ""
    owner: str = ""
    signature: str = ""


class TimeBoxedBody(msgspec.Struct, frozen=True):
    """An attribute of a time-boxed change."""

    address: str = ""
    attribute: str = ""
    value: msgspec.Raw = _NULL
    base: msgspec.Raw = _NULL
    root: str = ""


class TimeBoxBody(msgspec.Struct, frozen=True):
    """What is put back at the end of a time-boxed change."""

    until: str = ""
    attributes: tuple[TimeBoxedBody, ...] = ()


class PutsBackBody(msgspec.Struct, frozen=True):
    """The time-boxed change that a mutation puts back, and which (address, attribute) pairs of it."""

    mutation: str = ""
    attributes: tuple[tuple[str, str], ...] = ()


class DecidedBody(msgspec.Struct, frozen=True):
    """The body of DECIDED."""

    caller: CallerBody = CallerBody()
    call: CallBody = CallBody()
    motive: msgspec.Raw = _NULL
    effects: tuple[EffectBody, ...] = ()
    decision: DecisionBody = DecisionBody()
    claims: tuple[TakenClaimBody, ...] = ()
    attempt: AttemptBody | Absent = ABSENT
    time_box: TimeBoxBody | Absent = ABSENT
    puts_back: PutsBackBody | Absent = ABSENT
    refused_in_a_row: int | Absent = ABSENT


class SummaryBody(msgspec.Struct, frozen=True):
    """The members of DECIDED that are the summary of a hold, as they stand in the record."""

    call: msgspec.Raw = _NULL
    caller: msgspec.Raw = _NULL
    cut: msgspec.Raw = msgspec.Raw(b"")
    """What a large record leaves out; empty if it leaves nothing out."""
    decision: msgspec.Raw = _NULL
    effects: msgspec.Raw = _NULL
    motive: msgspec.Raw = _NULL


class CutBinding(msgspec.Struct, frozen=True):
    """What the record of a large held call holds in place of the binding."""

    sha256: str


class SettledBody(msgspec.Struct, frozen=True):
    """The body of SETTLED."""

    outcome: str = ""
    request_id: str = ""
    code: str = ""
    reason: str = ""
    claims_ended: tuple[str, ...] = ()
    claims_reopened: tuple[str, ...] = ()
    reply: str | Absent = ABSENT
    settled_by: msgspec.Raw | Absent = ABSENT
    """Present if the outcome was found out after a doubt."""
    why: str = ""
    left_to_human: bool = False
    refused_in_a_row: int | Absent = ABSENT


class ApprovedBody(msgspec.Struct, frozen=True):
    """The body of APPROVED and BROKE_GLASS."""

    approval: str = ""
    requester: str = ""
    digest: str = ""
    until: str = ""
    binding: msgspec.Raw | Absent = ABSENT
    others: tuple[str, ...] = ()
    missing: int = 0


class RejectedBody(msgspec.Struct, frozen=True):
    """The body of REJECTED."""

    requester: str = ""
    digest: str = ""
    withdrawn: str = ""


class ReleasedBody(msgspec.Struct, frozen=True):
    """The body of RELEASED."""

    claims: tuple[str, ...] = ()


class ExpiredBody(msgspec.Struct, frozen=True):
    """The body of EXPIRED and UNNEEDED."""

    claim: str = ""


class ReconciledBody(msgspec.Struct, frozen=True):
    """The body of RECONCILED. The reconciler writes it, so only what the ledger itself adds or reads has a type."""

    merged: msgspec.Raw = _NULL
    claims_ended: tuple[str, ...] = ()


class KeyIssuedBody(msgspec.Struct, frozen=True):
    """The body of KEY_ISSUED: the whole key, without its secret."""

    key: str = ""
    kind: str = ""
    roles: msgspec.Raw = _NULL
    on_behalf_of: str = ""
    motive: msgspec.Raw = _NULL
    created_at: str = ""
    expires_at: str | None = None
    revoked_at: str | None = None
    session_of: str = ""
    motive_only: bool = False


class KeyRevokedBody(msgspec.Struct, frozen=True):
    """The body of KEY_REVOKED."""

    key: str = ""
    sessions: tuple[str, ...] = ()


class SignalledBody(msgspec.Struct, frozen=True):
    """The body of SIGNALLED: the whole signal."""

    source: str = ""
    key: str = ""
    name: str = ""
    service: str = ""
    state: str = ""
    at: str = ""
    since: str = ""
    labels: msgspec.Raw = _NULL
    references: msgspec.Raw = _NULL
    scopes: msgspec.Raw = _NULL


class DowngradedBody(msgspec.Struct, frozen=True):
    """The body of DOWNGRADED."""

    claim: str = ""


class UndoneBody(msgspec.Struct, frozen=True):
    """The body of UNDONE."""

    claim: str = ""
    stands: bool = False
    live: msgspec.Raw = _NULL
    by: msgspec.Raw = _NULL


class MovedClaimBody(msgspec.Struct, frozen=True):
    """A claim whose end was moved."""

    id: str = ""
    until: str = ""


class RescheduledBody(msgspec.Struct, frozen=True):
    """The body of RESCHEDULED."""

    until: str = ""
    claims: tuple[MovedClaimBody, ...] = ()
    attributes: tuple[TimeBoxedBody, ...] = ()


class NotPutBackBody(msgspec.Struct, frozen=True):
    """The body of NOT_PUT_BACK."""

    state: str = ""
    by: str = ""
    attributes: tuple[TimeBoxedBody, ...] = ()


class BreakerBody(msgspec.Struct, frozen=True):
    """The body of BREAKER."""

    of: str = ""
    state: str = ""
    refused_in_a_row: int = 0
    until: str | None = None
    trial: str = ""


class StoppedBody(msgspec.Struct, frozen=True):
    """The body of STOPPED and RESUMED."""

    scope: str = ""
    name: str = ""
    reason: str = ""


BODIES: Final[dict[str, type[msgspec.Struct]]] = {
    Stage.DECIDED: DecidedBody,
    Stage.SETTLED: SettledBody,
    Stage.APPROVED: ApprovedBody,
    Stage.BROKE_GLASS: ApprovedBody,
    Stage.REJECTED: RejectedBody,
    Stage.RELEASED: ReleasedBody,
    Stage.EXPIRED: ExpiredBody,
    Stage.RECONCILED: ReconciledBody,
    Stage.KEY_ISSUED: KeyIssuedBody,
    Stage.KEY_REVOKED: KeyRevokedBody,
    Stage.SIGNALLED: SignalledBody,
    Stage.DOWNGRADED: DowngradedBody,
    Stage.UNDONE: UndoneBody,
    Stage.RESCHEDULED: RescheduledBody,
    Stage.NOT_PUT_BACK: NotPutBackBody,
    Stage.UNNEEDED: ExpiredBody,
    Stage.STOPPED: StoppedBody,
    Stage.RESUMED: StoppedBody,
    Stage.BREAKER: BreakerBody,
}
"""The body of each stage that a table follows from."""


def raw_text(member: msgspec.Raw) -> str:
    """The JSON text of a member, as it stands in the record. Bodies are canonical, so it is canonical too."""
    return bytes(member).decode()


def text_or_none(member: msgspec.Raw) -> str | None:
    """The JSON text of a member; None for null."""
    text = raw_text(member)
    return None if text == "null" else text
