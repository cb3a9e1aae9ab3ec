"""Each tool answers as the API does; what a caller did wrong is an answer, and what went wrong inside says nothing."""

from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.core.errors import NotFound
from gateway.doors.mcp.arguments import MOST_CLAIMS
from gateway.doors.mcp.resources import page_of
from gateway.doors.mcp.tool_call import McpPorts
from gateway.doors.mcp.tools import TOOLS, call_tool
from tests.kit.stacks import GROUP

READS = {"find_resources", "get_context", "get_history", "list_claims", "list_drift", "explain_decision", "dry_run_mutation", "wait_for_decision"}  # fmt: skip


def test_what_each_tool_may_do_is_said() -> None:
    assert {name for name, tool in TOOLS.items() if not tool.changes} == READS
    assert [name for name, tool in TOOLS.items() if tool.destructive] == ["propose_mutation", "end_change"]
    for tool in TOOLS.values():
        assert tool.title
        assert tool.description.endswith(".")
        assert tool.output_schema["type"] == "object"
        assert tool.members.keys() <= tool.output_schema["properties"].keys()


async def test_a_tool_answers(ports: McpPorts, request_by: Any) -> None:
    found = await call_tool(ports, request_by(), "find_resources", {"q": "consumer-processor"})
    assert not found.is_error
    assert [each["address"] for each in found.content["resources"]] == [GROUP]
    context = await call_tool(ports, request_by(), "get_context", {"address": GROUP})
    assert context.content["data_health"]
    history = await call_tool(ports, request_by(), "get_history", {"address": GROUP})
    assert history.content["history"] == []


async def test_a_mistake_is_an_answer(ports: McpPorts, request_by: Any) -> None:
    wrong = await call_tool(ports, request_by(), "get_context", {"address": 5})
    assert (wrong.is_error, wrong.content["code"]) == (True, "malformed")
    missing = await call_tool(ports, request_by(), "get_context", {"address": "aws_lb.none"})
    assert (missing.is_error, missing.content["code"]) == (True, "not_found")


async def test_what_breaks_inside_is_logged_and_not_told(ports: McpPorts, request_by: Any) -> None:
    with capture_logs() as logged:
        broken = await call_tool(ports, request_by(), "list_claims", {})
    assert (broken.is_error, broken.content["code"]) == (True, "internal")
    assert "queries" not in str(broken.content)
    assert [each["event"] for each in logged] == ["tool_broke"]


async def test_claims_come_page_by_page(ports: McpPorts, request_by: Any) -> None:
    """An answer with all of ten thousand claims would keep every other caller of this process waiting."""
    asked: list[dict[str, Any]] = []

    async def claims(**query: Any) -> list[Any]:
        asked.append(query)
        return []

    async def shown(*_: Any, **__: Any) -> list[Any]:
        return []

    context: Any = ports.api
    context.queries, context.time_boxes = SimpleNamespace(claims=claims), SimpleNamespace(shown=shown)
    await call_tool(ports, request_by(), "list_claims", {"before": "clm_7"})
    await page_of(ports, request_by(), "sentinel://claims")
    assert [(each["before"], each["limit"]) for each in asked] == [("clm_7", 50), ("", MOST_CLAIMS)]
    more = await call_tool(ports, request_by(), "list_claims", {"limit": MOST_CLAIMS + 1})
    assert more.content["code"] == "malformed"


async def test_an_unknown_tool_is_an_error_of_the_protocol(ports: McpPorts, request_by: Any) -> None:
    with pytest.raises(NotFound, match="tools/list"):
        await call_tool(ports, request_by(), "rm_rf", {})
