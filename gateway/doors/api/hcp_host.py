"""Talks to HCP Terraform for its run task: fetches the plan, reports the result. Asks only the hosts that the settings list."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from gateway.core.errors import SentinelError
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import HttpResponse, OutboundFailure, ResponseTooLong

_SECONDS: Final = 120.0
_MOST_REDIRECTS: Final = 3
_OK: Final = 200
_REDIRECTS: Final = frozenset({302, 303, 307, 308})
_JSON_API: Final = "application/vnd.api+json"


class HostUnusable(SentinelError):
    """HCP Terraform did not answer as a run task needs it."""

    code = "run_task_host"


class HcpHost:
    """HCP Terraform. The token goes only to the host that the request named, never along with a redirect to another."""

    def __init__(self, require_listed: Callable[[str], None], *, largest_plan: int) -> None:
        """`require_listed` raises `errors.NotAllowed` for a URL that must not be asked."""
        self._require_listed = require_listed
        self._largest_plan = largest_plan
        self._plans = OutboundClient(seconds=_SECONDS, most_bytes=largest_plan, unpack=True)
        self._results = OutboundClient(seconds=_SECONDS, most_bytes=0)

    async def plan(self, url: str, token: str) -> bytes:
        """The plan in JSON, which HCP Terraform serves by a redirect to its archive. Raises `HostUnusable`, `errors.NotAllowed`."""
        first, at = _origin(url), url
        for _ in range(_MOST_REDIRECTS + 1):
            self._require_listed(at)
            reply = await self._fetch(at, {"Authorization": f"Bearer {token}"} if _origin(at) == first else {})
            if reply.status == _OK:
                return reply.body
            if reply.status not in _REDIRECTS:
                raise HostUnusable(
                    f"HCP Terraform answered {reply.status} when it was asked for the plan, so the plan was not judged."
                )
            at = _redirected(at, reply.header("location"))
        raise HostUnusable(
            "HCP Terraform redirected too often when it was asked for the plan, so the plan was not judged."
        )

    async def report(self, url: str, token: str, document: dict[str, Any]) -> None:
        """Send the result once. Raises `HostUnusable`, `errors.NotAllowed`."""
        self._require_listed(url)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": _JSON_API}
        try:
            reply = await self._results.request("PATCH", url, headers=headers, body=json.dumps(document).encode())
        except OutboundFailure as error:
            raise HostUnusable(f"The result of the run task did not arrive ({error}).") from None
        if reply.status != _OK:
            raise HostUnusable(
                f"HCP Terraform answered {reply.status} to the result of the run task, so it does not have it."
            )

    async def _fetch(self, url: str, headers: Mapping[str, str]) -> HttpResponse:
        try:
            return await self._plans.request("GET", url, headers=headers)
        except ResponseTooLong:
            raise HostUnusable(f"The plan has more than {self._largest_plan} bytes, so it was not judged.") from None
        except OutboundFailure as error:
            raise _not_asked(error) from None


def _redirected(url: str, location: str) -> str:
    """Where a redirect leads. Raises `HostUnusable` for what is not a URL."""
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise _not_asked(error) from None


def _not_asked(error: Exception) -> HostUnusable:
    why = str(error) if isinstance(error, OutboundFailure) else type(error).__name__
    return HostUnusable(f"HCP Terraform could not be asked for the plan ({why}), so it was not judged.")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
