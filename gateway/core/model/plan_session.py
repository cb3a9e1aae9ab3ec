"""The session in which one plan is applied: the changes that its calls may make, and how one call fits them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.model.plan import PlannedAction

FEWEST_SETTING_CALLS: Final = 4
"""How often one operation may set attributes of a planned change that has fewer attributes: a provider removes and adds, and waits in between."""


class PlanSessionEnd(StrEnum):
    """Why a plan's session ended."""

    ENDED = "ended"
    """Its apply was over."""
    EXPIRED = "expired"
    REPLACED = "replaced"
    """The same actor opened another session for the same plan."""
    REVOKED = "revoked"
    """Its key, or the key that it was opened with, was revoked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChange:
    """One planned change of a session, as its calls are compared with it."""

    address: str
    """What the gateway calls the resource: the planned address, or the one before a `moved` block."""
    resource_type: str
    action: PlannedAction
    region: str = ""
    """The region of its provider; empty if the plan does not tell."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """The planned value of each changed attribute, secrets masked."""
    free: frozenset[str] = frozenset()
    """Changed attributes whose value the plan does not tell: secrets, and what is known only after the apply."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags that the provider adds to those of the code."""

    @property
    def size(self) -> int:
        """How many attributes it changes."""
        return len(self.values) + len(self.free)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSession:
    """An open session."""

    id: str
    """The plan's mutation."""
    key_id: str
    actor: str
    stack: str
    digest: str
    """That of the plan, keyed."""
    opened_at: datetime
    until: datetime
    changes: tuple[SessionChange, ...]
    lifted: frozenset[str] = frozenset()
    """The rules whose holds a person lifted when they approved the plan, each with the address that it was about, and once more with the
    attribute too.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOpening:
    """What a mutation that opens a session records beside its effects."""

    key_id: str
    until: datetime
    changes: tuple[SessionChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUse:
    """What a call uses of a planned change."""

    address: str
    action: str
    """`create`, `set` or `delete`, as the actions of effects are written."""
    most: int
    """How often calls of one operation may use it in one session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPart:
    """How one call fits the plan of its session."""

    session: PlanSession
    objection: str = ""
    """Why it fits no planned change, as a sentence; empty if it does."""
    uses: tuple[PlanUse, ...] = ()
    makes: tuple[PlanUse, ...] = ()
    """What it creates of the plan although it does not fit it, if a person approves it: it is there then, and no stranger's."""
    row: str = ""
    """What explains the call: `hand`, or origin and confidence of a derived row."""
    untold: frozenset[tuple[str, str]] = frozenset()
    """Address and attribute of each effect whose value the plan does not tell, so that it was not judged with the plan."""

    @property
    def fits(self) -> bool:
        """Whether the plan explains the call."""
        return not self.objection


UsedChange = tuple[str, str, str]
"""Address, action and `service:Operation` of what calls of a session used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRules:
    """What the policies' data say about sessions of plans."""

    openers: frozenset[ActorKind] = frozenset({ActorKind.HUMAN, ActorKind.PIPELINE})
    """Who may open one."""
    exact_services: frozenset[str] = frozenset()
    """Services whose calls only a row explains that knows every attribute."""
    guarded: frozenset[str] = frozenset()
    """Attributes that guardrails judge. What a call gives them must be what the plan says."""
    guarded_by_type: Mapping[str, frozenset[str]] = field(default_factory=dict)
    counted: Mapping[str, str] = field(default_factory=dict)
    """By resource type, the parameter that says how many a call creates. A planned creation is one."""
    stores: frozenset[str] = frozenset()
    """Resource types whose deletion loses data: the call must say which resource."""

    def is_guarded(self, resource_type: str, attribute: str) -> bool:
        """Whether a guardrail judges the attribute, or one around it."""
        own = self.guarded_by_type.get(resource_type, frozenset())
        parts = attribute.split(".")
        ways: Collection[str] = [attribute, *(".".join(parts[:end]) for end in range(1, len(parts))), parts[-1]]
        return any(way in self.guarded or way in own for way in ways)
