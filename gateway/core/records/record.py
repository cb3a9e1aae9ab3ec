"""A `Record` of the ledger, its stages, and what the bodies of all stages have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar, Final

import msgspec

from gateway.core.model.json import to_json


class Stage(StrEnum):
    """The step in the life of a mutation, or of a key, that a record describes; PASSED counts calls that no decision was made about."""

    TURNED_AWAY = "turned_away"
    DECIDED = "decided"
    SETTLED = "settled"
    APPROVED = "approved"
    REJECTED = "rejected"
    BROKE_GLASS = "broke_glass"
    """A human passed a held mutation at once, in an emergency."""
    WITHDRAWN = "withdrawn"
    """An approval that nobody had used ended with the key that it was given with; the call waits again."""
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
    DRIFT_LOOKED = "drift_looked"
    """Somebody looked for changes from outside of a stack: the first look, and at most one an hour."""
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
    POLICY_STAGED = "policy_staged"
    """The stages of the policies' rules changed: which are only tried, or off."""
    PLAN_ENDED = "plan_ended"
    """The session in which a plan was applied ended."""
    NOTIFIED = "notified"
    """What became of notices to one receiver, and which still wait."""
    RESEND_ASKED = "resend_asked"
    """A person wants a notice sent again."""
    CHAT_LINKED = "chat_linked"
    """A person linked a user of a chat to their own key, or ended that."""
    CHAT_LINK_ASKED = "chat_link_asked"
    """A person wants such a link, with their key; the user of the chat has yet to confirm it."""


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The details of a record. `gateway.core.records` has one type for each stage; a member with a default is absent where it has that value.

    Never holds a secret.
    """

    stage: ClassVar[Stage]

    @property
    def members(self) -> dict[str, Any]:
        """The members as JSON values, for those who show them all."""
        members: dict[str, Any] = to_members(self)
        return members


class UnreadableBody(Body, frozen=True, kw_only=True):
    """A body that does not fit the type of its stage: shown as it stands. No decision and no claim follows from it, and nobody writes one."""

    of: Stage
    raw: Mapping[str, Any]
    problem: str
    """Why it cannot be read, as a sentence."""

    @property
    def members(self) -> dict[str, Any]:
        """The members as they stand."""
        return dict(self.raw)


def to_members(part: object) -> Any:
    """A part of a body as JSON values: dicts, lists, texts, numbers."""
    return to_json(unpacked(part))


def unpacked(part: object) -> Any:
    """A part of a body as dicts and tuples, with values in them that only `model.json.to_json` makes JSON of."""
    return msgspec.to_builtins(part, builtin_types=_AS_THEY_ARE, enc_hook=to_json)


_AS_THEY_ARE: Final = (bytes, bytearray, datetime, Decimal)
"""Types that `model.json.to_json` writes in another way than msgspec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One event. The ledger sets `seq`, `previous` and `hash` when it appends the record."""

    at: datetime
    mutation_id: str = ""
    """Empty for a request that was refused before it became a mutation."""
    actor: str = ""
    stack: str = ""
    body: Body
    version: int = 2
    seq: int = 0
    """1, 2, 3 … without gaps; 0 until it is appended."""
    previous: str = ""
    """Hash of the preceding record, 64 hex digits; 64 zeros for the first record."""
    hash: str = ""

    @property
    def stage(self) -> Stage:
        """The stage, which the type of the body tells."""
        return self.body.of if isinstance(self.body, UnreadableBody) else self.body.stage
