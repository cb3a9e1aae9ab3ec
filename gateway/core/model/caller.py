"""The authenticated `Caller` of a request, and the connection (`Sender`) that it came from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from gateway.core.model.ids import is_session_key
from gateway.core.model.inbound import Inbound
from gateway.core.model.motive import Motive, exceeds
from gateway.core.quick_init import quick_init


class ActorKind(StrEnum):
    """The kind of actor that a key belongs to."""

    HUMAN = "human"
    AGENT = "agent"
    SERVICE = "service"
    PIPELINE = "pipeline"


RECONCILER: Final = "reconciler"
"""The role of the reconciler's own key."""
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_+=,.@-]")
_LONGEST_IDENTITY: Final = 64
_OF_STACK: Final = "stack/"
"""Begins the roles that name the stacks of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """How a temporary key came about that AWS's token service was asked for: in which role, under which name, and with which key."""

    role: str = ""
    """The role of the gateway, by its name; empty for a federated user."""
    name: str = ""
    """The session name or the federated user's name. Who asked chose it, so it proves nothing."""
    parent: str = ""
    """The key that asked, with which this one ends; empty for a web identity."""
    subject: str = ""
    """The issuer and the subject of a web identity; else empty."""


@quick_init
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
    assumed: Assumed | None = None
    """Set if the key came from AssumeRole or the like. Such a caller never approves, stops or resumes."""

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


def account_of(caller: Caller, account: str, of_roles: Mapping[str, str]) -> str:
    """The AWS account that a caller's calls go to: that of the role that it assumed, else the gateway's."""
    return of_roles.get(caller.assumed.role, account) if caller.assumed is not None else account


def source_identity(actor: str) -> str:
    """The actor as AWS takes a source identity: 2 to 64 letters, digits and characters of `_+=,.@-`; any other one becomes `-`."""
    return _NOT_IN_NAMES.sub("-", actor)[:_LONGEST_IDENTITY].ljust(2, "_")


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
    return _sender(inbound.peer, inbound.by_name.get("user-agent", "")[:LONGEST_USER_AGENT])


@lru_cache(maxsize=256)
def _sender(peer: str, user_agent: str) -> Sender:
    return Sender(peer=peer, user_agent="".join(each if each.isprintable() else "?" for each in user_agent))
