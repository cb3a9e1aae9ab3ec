"""OAuth's description of this resource (RFC 9728), by which a client learns how to authenticate."""

import json
from typing import Any, Final

from gateway.doors.asgi import Receive, Scope, Send, send_response

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
