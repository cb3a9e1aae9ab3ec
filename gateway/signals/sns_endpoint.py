"""Asks Amazon SNS for its signing certificates, and confirms subscriptions. The host follows from the region of a topic of the settings."""

from collections.abc import Callable, Mapping
from typing import Final

import aiohttp

from gateway.core.errors import UpstreamUnavailable
from gateway.core.settings.signals import topic_region

_SECONDS: Final = 10.0
_MOST_BYTES: Final = 64 * 1024
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
        return await self._get(f"{self._url_of(region)}/{name}", {})

    async def confirm(self, topic: str, token: str) -> None:
        """Confirm the subscription to a topic. Raises `errors.UpstreamUnavailable`."""
        query = {"Action": "ConfirmSubscription", "TopicArn": topic, "Token": token}
        await self._get(f"{self._url_of(topic_region(topic))}/", query)

    async def _get(self, url: str, query: Mapping[str, str]) -> bytes:
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_SECONDS)) as session,
                session.get(url, params=query, allow_redirects=False) as reply,
            ):
                body = await reply.content.read(_MOST_BYTES)
                if reply.status == _OK:
                    return body
                reason = f"answered {reply.status}"
        except (aiohttp.ClientError, TimeoutError) as error:
            reason = f"did not answer ({type(error).__name__})"
        raise UpstreamUnavailable(
            f"{url} {reason}, so the message was not taken; SNS will repeat it. A gateway that cannot reach SNS needs `certificate` "
            "in the settings of the source, and a person who confirms the subscription."
        )
