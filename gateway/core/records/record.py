"""A `Record` of the ledger and its stages. New fields are added only at the end, with a default, so that old records stay readable."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.core.model.json import Json


class Stage(StrEnum):
    """The step in the life of a mutation, or of a key, that a record describes; PASSED counts calls that no decision was made about."""

    TURNED_AWAY = "turned_away"
    DECIDED = "decided"
    SETTLED = "settled"
    APPROVED = "approved"
    REJECTED = "rejected"
    BROKE_GLASS = "broke_glass"
    """A human passed a held mutation at once, in an emergency."""
    RELEASED = "released"
    EXPIRED = "expired"
    RECONCILED = "reconciled"
    PASSED = "passed"
    KEY_ISSUED = "key_issued"
    KEY_REVOKED = "key_revoked"
    PROPOSED = "proposed"
    """What became of a stack's pull request."""
    DRIFTED = "drifted"
    """A change from outside: live differs from code, and no mutation explains it."""
    DRIFT_DECIDED = "drift_decided"
    """What is to be done about it, by policy or by a human."""
    DRIFT_SETTLED = "drift_settled"
    """What came of that."""
    SIGNALLED = "signalled"
    """What a source said about a signal, such as an alert."""
    DOWNGRADED = "downgraded"
    """A claim whose motive nothing proves any more."""
    UNDONE = "undone"
    """The live value of a claimed attribute is another one, or is the claimed one again: an implicit conflict."""
    RESCHEDULED = "rescheduled"
    """The end of a time-boxed change was moved, or it was let come at once."""
    NOT_PUT_BACK = "not_put_back"
    """A time-boxed change was left as it is at its end: others have the attribute, or a human must look."""
    UNNEEDED = "unneeded"
    """A claim ended because the code came to declare its value."""
    STOPPED = "stopped"
    """A person stopped changes."""
    RESUMED = "resumed"
    """A person ended a stop."""
    BREAKER = "breaker"
    """The circuit breaker of an actor opened, let one call try, or closed."""
    PLAN_CHECKED = "plan_checked"
    """A Terraform plan was judged before its apply; nothing was sent."""
    NOTIFIED = "notified"
    """What became of notices to one receiver, and which still wait."""
    RESEND_ASKED = "resend_asked"
    """A person wants a notice sent again."""
    CHAT_LINKED = "chat_linked"
    """A person linked a user of a chat to their own key, or ended that."""
    CHAT_LINK_ASKED = "chat_link_asked"
    """A person wants such a link, with their key; the user of the chat has yet to confirm it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One event. The ledger sets `seq`, `previous` and `hash` when it appends the record."""

    stage: Stage
    at: datetime
    mutation_id: str = ""
    """Empty for a request that was refused before it became a mutation."""
    actor: str = ""
    stack: str = ""
    body: Mapping[str, Json] = field(default_factory=dict)
    """The details of this stage; `docs/investigators.md` lists the members. Never holds a secret."""
    version: int = 2
    seq: int = 0
    """1, 2, 3 … without gaps; 0 until it is appended."""
    previous: str = ""
    """Hash of the preceding record, 64 hex digits; 64 zeros for the first record."""
    hash: str = ""
