"""The table of IAM actions by operation, for the policies of sessions of one call."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

SHIPPED: Final = Path(__file__).with_name("session_actions.json.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAction:
    """What a call of an operation needs."""

    action: str
    """e.g. `autoscaling:SetDesiredCapacity`."""
    arn: str = ""
    """The template of the ARN of the one type of resource that the action is about; empty if it has none or several."""
    more: tuple[str, ...] = ()
    """Actions that it needs besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionActions:
    """The table."""

    operations: Mapping[str, Mapping[str, Any]] = field(repr=False)
    tagging: Mapping[str, tuple[str, ...]] = field(repr=False)

    def of(self, service: str, operation: str) -> SessionAction | None:
        """What a call of this operation needs; None if IAM has no action for it that is known."""
        found = self.operations.get(service, {}).get(operation)
        if found is None:
            return None
        return SessionAction(action=found["action"], arn=found.get("arn", ""), more=tuple(found.get("more", ())))

    def tagging_of(self, action: str) -> tuple[str, ...]:
        """The actions that a call with this action needs where it sets tags, too."""
        return self.tagging.get(action.partition(":")[0], ())


@cache
def shipped() -> SessionActions:
    """The shipped table, read once."""
    table = json.loads(gzip.decompress(SHIPPED.read_bytes()))
    return SessionActions(
        operations=table["operations"], tagging={prefix: tuple(names) for prefix, names in table["tagging"].items()}
    )
