"""The authenticated `Caller` of a request, and the connection (`Sender`) that it came from."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.core.model.ids import is_session_key
from gateway.core.model.inbound import Inbound
from gateway.core.model.motive import Motive, exceeds


class ActorKind(StrEnum):
    """The kind of actor that a key belongs to."""

    HUMAN = "human"
    AGENT = "agent"
    SERVICE = "service"
    PIPELINE = "pipeline"


RECONCILER: Final = "reconciler"
"""The role of the reconciler's own key."""
_OF_STACK: Final = "stack/"
"""Begins the roles that name the stacks of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated actor."""

    actor: str
    """Name of the actor, unique, e.g. `agent-scaler`."""
    kind: ActorKind
    key_id: str
    """The key that it authenticated with."""
    roles: tuple[str, ...] = ()
    """Roles of the key, which policies can test. A human with `approver` may approve held mutations."""
    on_behalf_of: str = ""
    """The actor that this one acts for; empty if it acts for itself."""
    motive: Motive | None = None
    """The motive stored with the key (of a session, or a pipeline's standing motive)."""
    motive_only: bool = False
    """Whether the caller may state no other motive than that of the key."""
    plan: str = ""
    """The plan's mutation if the key was made for the apply of a plan: its calls are judged by that plan. Else empty."""

    @property
    def sees_all(self) -> bool:
        """Whether the caller may see the records and claims of every actor. Agents and services see only their own."""
        return self.kind in (ActorKind.HUMAN, ActorKind.PIPELINE)

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks that the key names by its roles (`stack/shop`), whose states it may keep; none if it names none."""
        return tuple(role.removeprefix(_OF_STACK) for role in self.roles if role.startswith(_OF_STACK))

    def may_state(self, motive: Motive) -> bool:
        """Whether the key lets the caller state this motive."""
        return not self.motive_only or (self.motive is not None and not exceeds(motive, self.motive))

    @property
    def in_session(self) -> bool:
        """Whether the caller used a session key."""
        return is_session_key(self.key_id)


LONGEST_USER_AGENT: Final = 256
"""Characters of a user agent that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Where a request came from. Its caller wrote the user agent, so it proves nothing."""

    peer: str = ""
    """Network address of the other end of the connection, which may be a proxy; empty if it is not known."""
    user_agent: str = ""
    """The `User-Agent` header, cut; characters that cannot be printed are replaced by `?`."""


UNKNOWN: Final = Sender()


def sender_of(inbound: Inbound) -> Sender:
    """The sender of a request."""
    return Sender(peer=inbound.peer, user_agent=_printable(inbound.header("user-agent") or ""))


def _printable(text: str) -> str:
    kept = text[:LONGEST_USER_AGENT]
    if kept.isprintable():  # nearly always; looking at each character would cost a read 20 µs
        return kept
    return "".join(each if each.isprintable() else "?" for each in kept)
