"""Asks the gateway to put a change back: over its JSON API, with the reconciler's own key, so by the same line as every other change."""

import asyncio
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.core.errors import SettingsInvalid
from reconciler.errors import GatewayUnreachable

_CONNECT_SECONDS: Final = 10.0
_REPLY_SECONDS: Final = 960.0
"""Longer than the gateway waits for AWS."""
_LARGEST: Final = 16 * 1024 * 1024
_APPLIED: Final = 200
_HELD: Final = 202
_ANSWERS: Final = range(200, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayAnswer:
    """What the gateway said about a put-back."""

    status: int
    code: str
    detail: str
    """A sentence."""

    @property
    def applied(self) -> bool:
        """Whether the change was put back."""
        return self.status == _APPLIED

    @property
    def held(self) -> bool:
        """Whether a human must approve it."""
        return self.status == _HELD

    @property
    def refused(self) -> bool:
        """Whether a check or AWS said no, as opposed to: not now. A person's stop and a spent budget are a "not now".

        Only the code says it: the sentence holds text that others wrote.
        """
        return self.code in (
            "refused",
            "aws_refused",
            "malformed",
            "not_allowed",
            "not_found",
            "not_sendable",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayApi:
    """The JSON API of the gateway at one URL."""

    url: str
    key_id: str
    key_secret: str = field(repr=False)

    async def put_back(self, mutation_id: str) -> GatewayAnswer:
        """Have a change put back that is due; what came of it. It may be asked again: the ledger lets it happen once.

        Raises `errors.GatewayUnreachable` if there is no answer, or none of Sentinel's; `errors.SettingsInvalid` if there is no key.
        """
        if not self.key_id:
            raise SettingsInvalid(
                "The reconciler has no key for the gateway, so it puts nothing back. Set `reconcile.key_id` and `reconcile.key_secret`."
            )
        status, reply = await asyncio.to_thread(self._exchange, f"/v1/mutations/{mutation_id}/put-back")
        try:
            document: Any = json.loads(reply)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, Mapping) or status not in _ANSWERS or status == 401:  # noqa: PLR2004  HTTP
            raise GatewayUnreachable(
                f"The gateway at {self.url} answered {status}, which says nothing about the change."
            )
        return GatewayAnswer(
            status=status, code=str(document.get("code", "")), detail=str(document.get("detail", ""))[:2_000]
        )

    def _exchange(self, path: str) -> tuple[int, bytes]:
        """Send one request. Redirects are not followed, so the key is sent to no other server."""
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=_CONNECT_SECONDS)
        headers = {"Authorization": f"Bearer {self.key_id}.{self.key_secret}", "Accept": "application/json"}
        try:
            connection.connect()
            connection.sock.settimeout(_REPLY_SECONDS)
            connection.request("POST", f"{parts.path.rstrip('/')}{path}", headers=headers)
            reply = connection.getresponse()
            return reply.status, reply.read(_LARGEST)
        except (OSError, http.client.HTTPException) as error:
            raise GatewayUnreachable(f"The gateway at {self.url} gave no answer ({type(error).__name__}).") from error
        finally:
            connection.close()
