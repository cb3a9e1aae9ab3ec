"""A Terraform `Plan` as it leaves the client that made it: what it changes, without any secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gateway.core.model.json import Json, digest


class PlannedAction(StrEnum):
    """What a plan does to one resource."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    REPLACE = "replace"
    """Delete and create, in either order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """What a plan does to one resource, attribute by attribute."""

    address: str
    resource_type: str
    action: PlannedAction
    previous: str = ""
    """Its address before the plan, if a `moved` block renames it; else empty."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """The new value of each changed attribute, in the provider's form; of a map's `tags` one entry for each key."""
    secrets: tuple[str, ...] = ()
    """The changed attributes whose value is a secret, so that it is not told."""
    unknown: tuple[str, ...] = ()
    """The changed attributes whose value is known only after the apply."""
    computed: tuple[str, ...] = ()
    """Attributes that the code does not give: AWS or the provider chooses their value."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Of a secret its digest, of what is known only after the apply that of the code that it comes from, keyed by the client's own secret."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags that the provider adds to those of the code (`default_tags`)."""
    region: str = ""
    """The region of its provider; empty if the plan does not tell."""

    @property
    def size(self) -> int:
        """How many effects it counts as."""
        return 1 + len(self.values) + len(self.secrets) + len(self.unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All changes of one plan."""

    changes: tuple[PlannedChange, ...]
    terraform_version: str = ""

    @property
    def digest(self) -> str:
        """Digest of the changes without secrets, 64 hex digits; their order does not matter.

        Plans with other secrets, or other code for what is known only after the apply, differ by their marks, if the client gives any.
        """
        return digest([change_to_json(change) for change in sorted(self.changes, key=lambda each: each.address)])


def change_to_json(change: PlannedChange) -> dict[str, Json]:
    """The JSON form of a change, as `POST /v1/plans` takes it."""
    return {
        "address": change.address,
        "type": change.resource_type,
        "action": change.action.value,
        "previous": change.previous,
        "values": dict(change.values),
        "secrets": list(change.secrets),
        "unknown": list(change.unknown),
        "computed": list(change.computed),
        "marks": dict(change.marks),
        "tags": dict(change.tags),
        "region": change.region,
    }
