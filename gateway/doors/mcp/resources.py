"""The MCP resources, read by URI: `sentinel://stacks`, `claims`, `policies`, `context/…` and `mutations/…`."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qs, unquote

from gateway.core.errors import NotFound
from gateway.doors.api.claims import visible_claims
from gateway.doors.api.ports import told
from gateway.doors.mcp.arguments import MOST_CLAIMS
from gateway.doors.mcp.proposals import wait_for_decision
from gateway.doors.mcp.tool_call import McpPorts, ToolRequest

MUTATION_URI: Final = "sentinel://mutations/"
_CONTEXT_URI: Final = "sentinel://context/"
_MUTATION: Final = re.compile(r"mut_[0-9a-z]{1,60}")

Page = Callable[[McpPorts, ToolRequest], Awaitable[Mapping[str, Any]]]


async def page_of(ports: McpPorts, request: ToolRequest, uri: str) -> Mapping[str, Any]:
    """The content behind a URI. Raises `errors.NotFound`, and what the tool of the same content raises."""
    page = PAGES.get(uri)
    if page is not None:
        return await page[1](ports, request)
    if uri.startswith(_CONTEXT_URI):
        path, _, query = uri.removeprefix(_CONTEXT_URI).partition("?")
        attribute = (parse_qs(query).get("attribute") or [""])[0]
        found = await ports.api.readers.context(request.caller, unquote(path), attribute, None)
        return told(request.caller, found)
    if (mutation := mutation_of(uri)) is not None:
        return await wait_for_decision(ports, request.caller, mutation, 0)
    raise NotFound("There is no such resource. resources/list and resources/templates/list name them all.")


def mutation_of(uri: str) -> str | None:
    """The mutation that a URI names; None if it names none."""
    name = uri.removeprefix(MUTATION_URI)
    return name if uri.startswith(MUTATION_URI) and _MUTATION.fullmatch(name) else None


async def _stacks(ports: McpPorts, request: ToolRequest) -> Mapping[str, Any]:
    loaded = ports.stacks.snapshot()
    stacks = [
        {
            "name": stack.name,
            "mode": stack.mode.value,
            "resources": len(set(stack.addresses)),
            "revision": stack.revision,
            "state_serial": stack.state.serial,
        }
        for stack in loaded.all
    ]
    return {"stacks": stacks, "problems": list(loaded.problems) if request.caller.sees_all else []}


async def _claims(ports: McpPorts, request: ToolRequest) -> Mapping[str, Any]:
    return await visible_claims(ports.api, request.caller, limit=MOST_CLAIMS)


async def _policies(ports: McpPorts, request: ToolRequest) -> Mapping[str, Any]:  # noqa: ARG001  the shape of every page
    rules = ports.rules()
    return {
        "rules": [{"rule": name, "title": rules[name].title, "source": rules[name].source} for name in sorted(rules)]
    }


PAGES: Final[Mapping[str, tuple[str, Page]]] = {
    "sentinel://stacks": ("The stacks that Sentinel guards", _stacks),
    "sentinel://claims": ("Your standing claims; those of everybody for people and pipelines", _claims),
    "sentinel://policies": ("The rules in force, with their titles", _policies),
}
"""URI → what it is, and how it is read."""

TEMPLATES: Final[Mapping[str, str]] = {
    "sentinel://context/{+address}{?attribute}": "What is known of a resource, as get_context tells",
    "sentinel://mutations/{id}": "How far a mutation has come; updates can be listened for",
}
"""URI template → what it is."""
