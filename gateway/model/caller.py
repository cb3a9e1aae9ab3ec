"""Who asks: the authenticated `Caller`."""

from dataclasses import dataclass
from enum import StrEnum

from gateway.model.ids import is_session_key
from gateway.model.motive import Motive


class ActorKind(StrEnum):
    """What sort of actor holds a key."""

    HUMAN = "human"
    AGENT = "agent"
    SERVICE = "service"
    PIPELINE = "pipeline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An actor that has proved who it is."""

    actor: str
    """Name of the actor, unique, e.g. `agent-scaler`."""
    kind: ActorKind
    key_id: str
    """The key it proved itself with."""
    roles: tuple[str, ...] = ()
    """Roles that policy may look at. `approver` may approve held mutations; `operator` may manage keys."""
    on_behalf_of: str = ""
    """The actor this one acts for, empty where it acts for itself."""
    motive: Motive | None = None
    """The motive stored with the key (of a session, or a pipeline's standing motive)."""

    @property
    def sees_all(self) -> bool:
        """Whether the caller may see the records and claims of every actor. Agents and services see only their own."""
        return self.kind in (ActorKind.HUMAN, ActorKind.PIPELINE)

    @property
    def in_session(self) -> bool:
        """Whether the caller used a session key."""
        return is_session_key(self.key_id)
