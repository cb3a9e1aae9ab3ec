"""A client of the MCP door: the official SDK's own, in either era of the protocol, with the key of an actor."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.kit.gate import Gate

MODERN, LEGACY = "2026-07-28", "legacy"
ERAS = (MODERN, LEGACY)
WAIT = 300.0


@asynccontextmanager
async def mcp_client(gate: Gate, actor: str = "agent", era: str = MODERN, **more: Any) -> AsyncIterator[Client]:
    """A connected client of this actor."""
    mode = {"legacy": "legacy"}.get(era, "auto")
    async with httpx2.AsyncClient(headers=gate.bearer(actor), timeout=WAIT, **more) as http:
        transport = streamable_http_client(f"{gate.url}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=WAIT) as client:
            yield client


async def call(
    gate: Gate, name: str, arguments: dict[str, Any], actor: str = "agent", era: str = MODERN
) -> CallToolResult:
    """The result of one call of a tool by a client of its own."""
    async with mcp_client(gate, actor, era) as client:
        return await client.call_tool(name, arguments)
