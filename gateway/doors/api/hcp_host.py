"""Talks to HCP Terraform for its run task: fetches the plan, reports the result. Asks only the hosts that the settings list."""

import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import aiohttp

from gateway.core.errors import SentinelError

_SECONDS: Final = 120.0
_MOST_REDIRECTS: Final = 3
_OK: Final = 200
_REDIRECTS: Final = frozenset({302, 303, 307, 308})
_JSON_API: Final = "application/vnd.api+json"


class HostUnusable(SentinelError):
    """HCP Terraform did not answer as a run task needs it."""

    code = "run_task_host"


class HcpHost:
    """One connection pool. The token goes only to the host that the request named, never along with a redirect to another."""

    def __init__(self, require_listed: Callable[[str], None], *, largest_plan: int) -> None:
        """`require_listed` raises `errors.NotAllowed` for a URL that must not be asked."""
        self._require_listed = require_listed
        self._largest_plan = largest_plan
        self._session: aiohttp.ClientSession | None = None

    async def plan(self, url: str, token: str) -> bytes:
        """The plan in JSON, which HCP Terraform serves by a redirect to its archive. Raises `HostUnusable`, `errors.NotAllowed`."""
        first, at = _origin(url), url
        for _ in range(_MOST_REDIRECTS + 1):
            self._require_listed(at)
            headers = {"Authorization": f"Bearer {token}"} if _origin(at) == first else {}
            try:
                async with self._client().get(at, headers=headers, allow_redirects=False) as reply:
                    if reply.status in _REDIRECTS:
                        at = urljoin(at, reply.headers.get("Location", ""))
                        continue
                    if reply.status != _OK:
                        raise HostUnusable(
                            f"HCP Terraform answered {reply.status} when it was asked for the plan, so the plan was not judged."
                        )
                    return await self._read(reply)
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                raise HostUnusable(
                    f"HCP Terraform could not be asked for the plan ({type(error).__name__}), so it was not judged."
                ) from None
        raise HostUnusable(
            "HCP Terraform redirected too often when it was asked for the plan, so the plan was not judged."
        )

    async def report(self, url: str, token: str, document: dict[str, Any]) -> None:
        """Send the result once. Raises `HostUnusable`, `errors.NotAllowed`."""
        self._require_listed(url)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": _JSON_API}
        try:
            async with self._client().patch(
                url, data=json.dumps(document), headers=headers, allow_redirects=False
            ) as reply:
                if reply.status != _OK:
                    raise HostUnusable(
                        f"HCP Terraform answered {reply.status} to the result of the run task, so it does not have it."
                    )
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise HostUnusable(f"The result of the run task did not arrive ({type(error).__name__}).") from None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=_SECONDS)
            self._session = aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    async def _read(self, reply: aiohttp.ClientResponse) -> bytes:
        parts, size = [], 0
        async for part in reply.content.iter_chunked(64 * 1024):
            size += len(part)
            if size > self._largest_plan:
                raise HostUnusable(f"The plan has more than {self._largest_plan} bytes, so it was not judged.")
            parts.append(part)
        return b"".join(parts)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
