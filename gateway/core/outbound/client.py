"""The client for outbound HTTP: every request that is not a call of AWS and not a library's own goes through it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from gateway.core.outbound.addresses import Network
from gateway.core.outbound.response import HttpResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundClient:
    """Sends each request once, on a connection of its own: requests are rare, and a kept connection that the other side closes at this moment
    would leave in doubt whether the request was carried out. So nothing has to be closed, and any event loop may use it.
    """

    seconds: float
    """Limit of one whole exchange, from the look-up of the host to the last byte."""
    most_bytes: int
    """Limit of a response's body. With 0 the body is not read at all."""
    connect_seconds: float | None = None
    """A shorter limit of connecting alone."""
    unpack: bool = False
    """Whether packed responses are asked for and unpacked; `most_bytes` then limits the unpacked body."""
    networks: Sequence[Network] | None = None
    """If given, requests go only to these networks and, by https, to the public internet."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        proxy: str = "",
    ) -> HttpResponse:
        """The response to one request; a redirect is a response like any other. Origin and target of the URL are sent as they are.

        `proxy` is the URL of a proxy; none is taken from the environment. Raises `NotSent` if no byte was sent (also `AddressRefused`), otherwise
        `NoAnswer` (also `ResponseOverdue`, `ResponseTooLong`).
        """
        # aiohttp takes 18 MB and a quarter of a second, and most gateways send nothing but calls of AWS.
        transport: Any = await asyncio.to_thread(import_module, "gateway.core.outbound.transport")
        response: HttpResponse = await transport.exchange(
            self, method, url, headers=headers or {}, body=body, proxy=proxy
        )
        return response
