"""A ports over readers of the case's stack, for tools without a gateway; `gate` is a whole gateway."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.verdict import RuleText
from gateway.doors.mcp.tool_call import McpPorts, ToolRequest
from gateway.line.wakeups import Wakeups
from tests.kit.context_reader import reader
from tests.kit.doubles import AGENT, NOW, FixedClock


async def _nothing() -> bytes:
    return b""


def request_of(caller: Caller = AGENT) -> ToolRequest:
    """A request of this caller."""
    inbound = Inbound(method="POST", target="/mcp", headers=(), read_body=_nothing, received_at=NOW)
    return ToolRequest(caller=caller, inbound=inbound)


@pytest.fixture
def ports() -> McpPorts:
    """A ports whose context has what readers need; a test adds the rest."""
    found = reader()
    context: Any = SimpleNamespace(readers=found, wakeups=Wakeups(), clock=FixedClock())
    rules = {"SEN-1": RuleText("A title", "a.rego:1")}
    return McpPorts(api=context, stacks=found.stacks, rules=lambda: rules, base_url="https://sentinel.example")


@pytest.fixture
def request_by() -> Any:
    """Makes the request of a caller."""
    return request_of
