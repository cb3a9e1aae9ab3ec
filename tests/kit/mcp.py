"""A client of the MCP door: the official SDK's own, in either era of the protocol, with the key of an actor."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.kit.gate import Gate

MODERN, LEGACY = "2026-07-28", "legacy"
ERAS = (MODERN, LEGACY)
WAIT = 300.0

_certificates = cache(httpx2.create_ssl_context)
"""Read once in a process: for each client they would be read anew, which takes thirty times as long as a call."""


@asynccontextmanager
async def mcp_client(gate: Gate, actor: str = "agent", era: str = MODERN, **more: Any) -> AsyncIterator[Client]:
    """A connected client of this actor."""
    async with mcp_client_at(gate.url, gate.bearer(actor), era, **more) as client:
        yield client


@asynccontextmanager
async def mcp_client_at(url: str, headers: Mapping[str, str], era: str = MODERN, **more: Any) -> AsyncIterator[Client]:
    """A connected client of the gateway at this URL, whose requests carry these headers."""
    mode = {"legacy": "legacy"}.get(era, "auto")
    async with httpx2.AsyncClient(headers=dict(headers), timeout=WAIT, verify=_certificates(), **more) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=WAIT) as client:
            yield client


async def call(
    gate: Gate, name: str, arguments: dict[str, Any], actor: str = "agent", era: str = MODERN
) -> CallToolResult:
    """The result of one call of a tool by a client of its own."""
    async with mcp_client(gate, actor, era) as client:
        return await client.call_tool(name, arguments)
