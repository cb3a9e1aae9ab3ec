"""The `Contract` of a resource: what its owner allows, as declared beside the Terraform code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gateway.core.model.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One limit on one attribute, already evaluated for the state after the change."""

    attribute: str
    name: str
    """min, max, max_step, one_of, matches, cidr_within, ports, forbid_world, max_items, or condition. A condition has no attribute,
    except the validation of a variable: its attribute is the one that the variable sets."""
    limit: Json
    """The evaluated limit. For `condition` its result, true or false."""
    source: str
    """`file:line` of the limit."""
    message: str = ""
    """The author's `error_message`; empty if there is none."""
    unknown: str = ""
    """Why the limit could not be evaluated, in which case it denies. Empty if it was evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentGrant:
    """What one block of a contract lets agents do with a resource beside setting attributes. By default nothing."""

    source: str
    """`file:line` of the block."""
    allow_delete: bool = False
    allow_invoke: frozenset[str] = frozenset()
    """Operations, each as `Operation` or `service:Operation`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """Everything that the contracts say about one resource. If several match, all of them apply."""

    owner: str = ""
    managed_by_agent: bool = False
    """Whether an agent may touch the resource at all. True only if every matching block says so."""
    mutable: tuple[str, ...] = ()
    """Attributes an agent may set without a bound."""
    bounded: tuple[str, ...] = ()
    """Attributes that have bounds."""
    immutable: tuple[str, ...] = ()
    """Attributes that no caller may set through Sentinel."""
    critical: bool = False
    prevent_delete: bool = False
    source: str = ""
    """`file:line` of the deciding contract block: the first matching block that withholds the resource from agents, else the first match.
    Empty if no contract names the resource."""
    grants: tuple[AgentGrant, ...] = ()
    """One for each matching block. An agent may delete or invoke only what all of them grant."""
    evaluate: Callable[[Mapping[str, Json], Mapping[str, Json]], tuple[Bound, ...]] = field(
        default=lambda _after, _before: (), compare=False
    )
    """The bounds, evaluated for (attributes after the change, attributes before it). Pure; never raises."""

    def withholding_delete(self) -> tuple[str, ...]:
        """`file:line` of every matching block that does not let agents delete the resource; empty only if all do."""
        return self._withholding(lambda grant: grant.allow_delete)

    def withholding_invoke(self, service: str, operation: str) -> tuple[str, ...]:
        """`file:line` of every matching block that does not let agents invoke the operation; empty only if all do."""
        names = {operation, f"{service}:{operation}"}
        return self._withholding(lambda grant: not names.isdisjoint(grant.allow_invoke))

    def _withholding(self, grants: Callable[[AgentGrant], bool]) -> tuple[str, ...]:
        if not self.grants:
            return (self.source,)
        return tuple(grant.source for grant in self.grants if not grants(grant))
