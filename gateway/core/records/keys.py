"""The bodies of records about keys, and about who is who in a chat. No secret of a key is in them."""

from typing import ClassVar

import msgspec

from gateway.core.model.caller import ActorKind, Assumed
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Body, Stage


class RecordedAssumption(msgspec.Struct, frozen=True, kw_only=True):
    """How a temporary key came about that AWS's token service was asked for; see `Assumed`."""

    role: str
    name: str
    parent: str
    subject: str

    @classmethod
    def of(cls, assumed: Assumed) -> "RecordedAssumption":
        """The recorded form."""
        return cls(role=assumed.role, name=assumed.name, parent=assumed.parent, subject=assumed.subject)

    @classmethod
    def read(cls, text: str | None) -> Assumed:
        """What a key's row holds of it, as JSON; what stands there was written with the key."""
        recorded = msgspec.json.decode(text or "{}", type=cls)
        return Assumed(role=recorded.role, name=recorded.name, parent=recorded.parent, subject=recorded.subject)


class KeyIssuedBody(Body, frozen=True, kw_only=True):
    """A key was issued; the record's actor is the key's."""

    stage: ClassVar[Stage] = Stage.KEY_ISSUED

    key: str
    kind: ActorKind
    roles: tuple[str, ...]
    on_behalf_of: str
    motive: RecordedMotive | None
    created_at: str
    expires_at: str | None
    session_of: str
    motive_only: bool
    """Whether the motive is a ceiling."""
    assumed: RecordedAssumption | None = None


class KeyRevokedBody(Body, frozen=True, kw_only=True):
    """A key was revoked."""

    stage: ClassVar[Stage] = Stage.KEY_REVOKED

    key: str
    sessions: tuple[str, ...]
    """The session keys that end with it: its own, and those of plans that were opened by its consent."""
    withdrawn: tuple[str, ...] = ()
    """The unused approvals that ended with it."""


class ChatLinkBody(Body, frozen=True, kw_only=True):
    """Which user of which chat, and which person with which key."""

    team: str
    user: str
    actor: str
    key: str
    """The link ends with this key."""


class ChatLinkAskedBody(ChatLinkBody, frozen=True, kw_only=True):
    """A person wants to be a user of a chat, who has not confirmed it. The code is nowhere."""

    stage: ClassVar[Stage] = Stage.CHAT_LINK_ASKED

    until: str


class ChatLinkedBody(ChatLinkBody, frozen=True, kw_only=True):
    """A user of a chat was linked to a person, or the link was ended; the record's actor is who did it."""

    stage: ClassVar[Stage] = Stage.CHAT_LINKED

    linked: bool
    asked: int | None = None
    """The number of the `chat_link_asked` record whose code the user typed in the chat; absent if the link was ended."""
