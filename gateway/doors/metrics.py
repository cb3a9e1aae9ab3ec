"""`/metrics`: the figures of the gateway, to keys with the role `metrics` and to networks that the settings name; to nobody else."""

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Final, TypeAlias

from starlette.responses import Response

from gateway.core.errors import NotAllowed, SentinelError
from gateway.core.http.asgi import Receive, RequestBody, Scope, Send, inbound_of
from gateway.core.model.inbound import Inbound
from gateway.core.ports import Authenticator, Clock
from gateway.doors.api.problems import problem, status_of
from gateway.line.pipeline import Pipeline

ROLE: Final = "metrics"
PATH: Final = "/metrics"
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Scrape: TypeAlias = Callable[[str], Awaitable[tuple[bytes, str]]]
"""The figures as text in a form that the header `Accept` allows, and its type."""


class MetricsDoor:
    """The ASGI application below `/metrics`."""

    def __init__(
        self,
        *,
        pipeline: Pipeline,
        authenticator: Authenticator,
        clock: Clock,
        peers: Sequence[Network],
        scrape: Scrape,
    ) -> None:
        self._pipeline = pipeline
        self._authenticator = authenticator
        self._clock = clock
        self._peers = peers
        self._scrape = scrape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self._answer(scope, inbound_of(scope, RequestBody(receive, 0), self._clock))
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, inbound: Inbound) -> Response:
        if scope["path"] != PATH:
            return problem(HTTPStatus.NOT_FOUND, "not_found", "The figures are at /metrics.")
        if scope["method"] not in ("GET", "HEAD"):
            return problem(HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", "The figures are read with GET.")
        try:
            await self._admit(inbound)
        except SentinelError as error:
            return problem(status_of(error), error.code, str(error))
        text, kind = await self._scrape(inbound.header("accept") or "")
        return Response(text, headers={"content-type": kind, "cache-control": "no-store"})

    async def _admit(self, inbound: Inbound) -> None:
        """Raise `errors.NotAuthenticated` or `errors.NotAllowed`, recorded, unless the scraper may read the figures."""
        if self._is_peer(inbound.peer):
            return
        caller = await self._pipeline.authenticate(inbound, self._authenticator)
        if ROLE not in caller.roles:
            error = NotAllowed(
                "The figures are for keys with the role `metrics` (`sentinel key create … --role metrics`)."
            )
            await self._pipeline.turn_away(inbound, error, caller)
            raise error

    def _is_peer(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        plain = getattr(address, "ipv4_mapped", None) or address
        return any(plain in network for network in self._peers)
