"""Asks Amazon SNS for its signing certificates, and confirms subscriptions. The host follows from the region of a topic of the settings."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from gateway.core.errors import UpstreamUnavailable
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure, ResponseTooLong
from gateway.core.settings.signals import topic_region

_CLIENT: Final = OutboundClient(seconds=10.0, most_bytes=64 * 1024)
_OK: Final = 200


def sns_url(region: str) -> str:
    """The URL of SNS in a region."""
    return f"https://sns.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


class SnsEndpoint:
    """Amazon SNS, asked without credentials: both requests are public."""

    def __init__(self, url_of: Callable[[str], str] = sns_url) -> None:
        """`url_of` gives the URL of a region."""
        self._url_of = url_of

    async def certificate(self, region: str, name: str) -> bytes:
        """A signing certificate in PEM form. Raises `errors.UpstreamUnavailable`."""
        return await self._get(f"{self._url_of(region)}/{name}")

    async def confirm(self, topic: str, token: str) -> None:
        """Confirm the subscription to a topic. Raises `errors.UpstreamUnavailable`."""
        query = urlencode({"Action": "ConfirmSubscription", "TopicArn": topic, "Token": token})
        await self._get(f"{self._url_of(topic_region(topic))}/?{query}")

    async def _get(self, url: str) -> bytes:
        try:
            reply = await _CLIENT.request("GET", url)
            if reply.status == _OK:
                return reply.body
            reason = f"answered {reply.status}"
        except ResponseTooLong as error:
            reason = f"answered {error}"
        except OutboundFailure as error:
            reason = f"did not answer ({error})"
        raise UpstreamUnavailable(
            f"{url.partition('?')[0]} {reason}, so the message was not taken; SNS will repeat it. A gateway that cannot reach SNS needs `certificate` "
            "in the settings of the source, and a person who confirms the subscription."
        )
