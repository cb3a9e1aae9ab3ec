"""What the tools and resources share: the API's context, and what only this door needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.doors.api.context import Context
from gateway.model.caller import Caller
from gateway.model.inbound import Inbound
from gateway.model.rule_text import RuleText
from gateway.terraform.stacks import Stacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The ports of the tools."""

    context: Context
    stacks: Stacks
    rules: Callable[[], Mapping[str, RuleText]] = dict
    """The rules in force, by id."""
    base_url: str = ""
    """Where people reach the console."""

    def console_url(self, mutation_id: str) -> str:
        """The page on which a human decides about a mutation."""
        return f"{self.base_url}/console/mutations/{mutation_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """One call of a tool by an authenticated caller."""

    caller: Caller
    inbound: Inbound
    """The HTTP request that carries it; its body belongs to the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answers: a JSON object, and whether it is an error that the model should see and mend."""

    content: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
