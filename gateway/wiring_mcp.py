"""Part of the composition root: the MCP door, and the description that leads to it."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from urllib.parse import urlsplit

from gateway.authn.bearer import Bearer
from gateway.cloud.aws import software_version
from gateway.doors.api.context import Context
from gateway.doors.mcp.desk import Desk
from gateway.doors.mcp.door import McpDoor
from gateway.doors.mcp.metadata import PATH, ProtectedResource
from gateway.doors.router import App
from gateway.doors.stopping import Stopping
from gateway.settings import ServerSettings
from gateway.settings_mcp import LOOPBACK_HOSTS, LOOPBACK_ORIGINS
from gateway.wiring import Ports


def mcp_doors(ports: Ports, context: Context, stack: AsyncExitStack, stopping: Stopping) -> Mapping[str, App]:
    """The doors by path; none if they are switched off. What they hold open ends with the stack."""
    settings = ports.settings
    if not settings.mcp.enabled:
        return {}
    base_url = base_url_of(settings.server)
    resource = ProtectedResource(base_url, settings.mcp.authorization_servers)
    door = McpDoor(
        Desk(context=context, stacks=ports.stacks, rules=ports.engine.rules, base_url=base_url),
        Bearer(ports.keys, ports.clock),
        resource,
        hosts=hosts_of(settings.server, settings.mcp.hosts),
        origins=(base_url, *settings.mcp.origins, *LOOPBACK_ORIGINS),
        max_body_bytes=settings.server.max_body_bytes,
        most_streams=settings.mcp.most_streams,
        version=software_version(),
    )
    stopping.add(door.stop_streams)
    running = asyncio.ensure_future(door.run())
    stack.push_async_callback(_end, running)
    return {"/mcp": door, PATH: resource}


def base_url_of(server: ServerSettings) -> str:
    """Where clients reach the gateway, as far as the settings say it."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return server.public_url.rstrip("/") or f"http://{host}:{server.port}"


def hosts_of(server: ServerSettings, more: tuple[str, ...]) -> tuple[str, ...]:
    """The values of the `Host` header that are accepted: those of the settings, of the public URL, and of this machine."""
    public = urlsplit(server.public_url).netloc
    own = (server.host, f"{server.host}:{server.port}") if server.host not in ("0.0.0.0", "::") else ()  # noqa: S104  not bound here
    return tuple(dict.fromkeys(each for each in (*more, public, *own, *LOOPBACK_HOSTS) if each))


async def _end(running: "asyncio.Future[None]") -> None:
    running.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await running
