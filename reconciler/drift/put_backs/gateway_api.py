"""Asks the gateway to put a change back: over its JSON API, with the reconciler's own key, so by the same line as every other change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.core.errors import SettingsInvalid
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure
from reconciler.errors import GatewayUnreachable

_CLIENT: Final = OutboundClient(connect_seconds=10.0, seconds=960.0, most_bytes=16 * 1024 * 1024)
"""It waits longer than the gateway waits for AWS."""
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
        headers = {"Authorization": f"Bearer {self.key_id}.{self.key_secret}", "Accept": "application/json"}
        try:
            reply = await _CLIENT.request(
                "POST", f"{self.url.rstrip('/')}/v1/mutations/{mutation_id}/put-back", headers=headers
            )
        except OutboundFailure as error:
            raise GatewayUnreachable(f"The gateway at {self.url} gave no answer ({error}).") from error
        status, document = reply.status, reply.document()
        if not isinstance(document, Mapping) or status not in _ANSWERS or status == 401:  # noqa: PLR2004  HTTP
            raise GatewayUnreachable(
                f"The gateway at {self.url} answered {status}, which says nothing about the change."
            )
        return GatewayAnswer(
            status=status, code=str(document.get("code", "")), detail=str(document.get("detail", ""))[:2_000]
        )
