"""The ASGI application behind `/mcp`: authenticates each request as every door does, then hands it to the SDK, which is loaded at the first."""

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import structlog

from gateway.core.errors import SentinelError
from gateway.core.http.asgi import Receive, RequestBody, Scope, Send, inbound_of, send_response
from gateway.core.ports import Authenticator
from gateway.doors.api.problems import status_of
from gateway.doors.mcp.tool_call import McpPorts, ToolRequest

PATH: Final = "/.well-known/oauth-protected-resource"


class ProtectedResource:
    """The ASGI application behind `/.well-known/oauth-protected-resource`, with or without `/mcp` behind it. Public by its nature."""

    def __init__(self, base_url: str, authorization_servers: tuple[str, ...]) -> None:
        """`base_url` is where clients reach the gateway."""
        self.url = f"{base_url}{PATH}/mcp"
        """Where this description is."""
        self._document: dict[str, Any] = {
            "resource": f"{base_url}/mcp",
            "resource_name": "Sentinel",
            "bearer_methods_supported": ["header"],
            "authorization_servers": list(authorization_servers),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  ASGI's shape
        """Answer a GET or HEAD; any other method is not allowed, and any other path not found."""
        headers = [("content-type", "application/json"), ("cache-control", "max-age=3600")]
        if scope["path"].rstrip("/") not in (PATH, f"{PATH}/mcp"):
            await send_response(send, 404, headers, b'{"error":"not_found"}')
        elif scope["method"] not in ("GET", "HEAD"):
            await send_response(send, 405, [*headers, ("allow", "GET, HEAD")], b'{"error":"method_not_allowed"}')
        else:
            body = json.dumps(self._document).encode()
            await send_response(send, 200, headers, b"" if scope["method"] == "HEAD" else body)


if TYPE_CHECKING:
    from gateway.doors.mcp.subscriptions import Subscriptions as Listening

log = structlog.get_logger()

_UNAUTHORIZED = 401
_NOT_ALLOWED = 405
_UNAVAILABLE = 503


class McpDoor:
    """The door. `run` must run beside it until the gateway stops."""

    def __init__(
        self,
        ports: McpPorts,
        authenticator: Authenticator,
        resource: ProtectedResource,
        *,
        hosts: Sequence[str],
        origins: Sequence[str],
        max_body_bytes: int,
        most_streams: int,
        version: str,
    ) -> None:
        """`hosts` and `origins` are the values of these headers that are accepted."""
        self._ports = ports
        self._authenticator = authenticator
        self._resource = resource
        self._hosts = list(hosts)
        self._origins = list(origins)
        self._max_body_bytes = max_body_bytes
        self._most_streams = most_streams
        self._version = version
        self._wanted = asyncio.Event()
        self._ready = asyncio.Event()
        self._manager: Any = None
        self._listening: Listening | None = None

    async def run(self) -> None:
        """Load the SDK once somebody is authenticated, and keep its transport open until cancelled."""
        await self._wanted.wait()
        try:
            # In a thread: the import takes seconds, and other requests do not wait for it.
            manager, self._listening = await asyncio.to_thread(self._load)
            async with manager.run():
                self._manager = manager
                self._ready.set()
                log.info("mcp_ready")
                await asyncio.Event().wait()
        except Exception:
            log.exception("mcp_broke")
            raise
        finally:
            self._manager = None
            self._ready.set()

    def stop_streams(self) -> None:
        """End what clients hold open, so that the gateway can stop."""
        if self._listening is not None:
            self._listening.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. A caller without a key is recorded and told where it is described how to get in."""
        api = self._ports.api
        inbound = inbound_of(scope, RequestBody(receive, 0), api.clock)
        try:
            caller = await api.pipeline.authenticate(inbound, self._authenticator)
        except SentinelError as error:
            await self._refuse(send, status_of(error), error.code, str(error))
            return
        if scope["method"] != "POST":
            # The stream of the older era's GET would never carry anything: no session is kept that could have a message for it.
            await self._refuse(
                send, _NOT_ALLOWED, "method_not_allowed", "Send every message by POST; there is no stream to GET."
            )
            return
        self._wanted.set()
        await self._ready.wait()
        if self._manager is None:
            await self._refuse(send, _UNAVAILABLE, "unavailable", "The tools cannot be served now; the log says why.")
            return
        # The SDK hands this scope to the handlers.
        scope["sentinel.request"] = ToolRequest(caller=caller, inbound=inbound)
        await self._manager.handle_request(scope, receive, send)

    def _load(self) -> "tuple[Any, Listening]":
        from gateway.doors.mcp.server import manager_of, server_of  # noqa: PLC0415  loaded when it is needed
        from gateway.doors.mcp.subscriptions import Subscriptions as Listening  # noqa: PLC0415  loaded when it is needed

        listening = Listening(self._ports, most=self._most_streams)
        server = server_of(self._ports, listening, self._version)
        manager = manager_of(server, hosts=self._hosts, origins=self._origins, max_body_bytes=self._max_body_bytes)
        return manager, listening

    async def _refuse(self, send: Send, status: int, code: str, detail: str) -> None:
        """A JSON-RPC error without an id: the request was not read."""
        error = {"code": -32000 if status != _UNAVAILABLE else -32603, "message": detail, "data": {"code": code}}
        headers = [("content-type", "application/json")]
        if status == _NOT_ALLOWED:
            headers.append(("allow", "POST"))
        if status == _UNAUTHORIZED:
            headers.append(("www-authenticate", f'Bearer resource_metadata="{self._resource.url}"'))
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        await send_response(send, status, headers, body)
