"""One call of a tool: its ports, its request, its answer, and errors as answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.core.errors import Overloaded, SentinelError, TryLater
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.masking import without_digests
from gateway.core.model.verdict import RuleText
from gateway.doors.api.ports import ApiPorts
from gateway.doors.api.problems import RETRY_SAFE, status_of
from gateway.terraform.stacks import Stacks


@dataclass(frozen=True, slots=True, kw_only=True)
class McpPorts:
    """The ports of the tools."""

    api: ApiPorts
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
    """The answer of a tool: a JSON object, and whether it is an error that the model should see and mend."""

    content: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


_INTERNAL = 500


def error_answer(error: SentinelError, caller: Caller) -> ToolAnswer:
    """The answer for an error. An error that the API does not know says nothing about itself."""
    if status_of(error) == _INTERNAL:
        return internal_answer()
    detail = str(error) if caller.sees_all else str(without_digests(str(error)))
    members: dict[str, Any] = {"code": error.code, "detail": detail, "retry_safe": type(error) in RETRY_SAFE}
    if isinstance(error, Overloaded | TryLater):
        members["retry_after_seconds"] = error.retry_after
    return ToolAnswer(content=members, is_error=True)


def internal_answer() -> ToolAnswer:
    """The answer for an unexpected error, which is logged; the caller is told nothing about it."""
    detail = "Sentinel had an internal error; its log says more. Nothing was sent to AWS."
    return ToolAnswer(content={"code": "internal", "detail": detail, "retry_safe": False}, is_error=True)
