"""Sends answers to the chat: only to the host of the settings, without redirects, and without reading what it says."""

import asyncio
import json
from typing import Any, Final

import aiohttp

from gateway.core.errors import SentinelError

_SECONDS: Final = 10.0
_OK: Final = 200


class ChatUnusable(SentinelError):
    """The chat did not take an answer. What was decided is recorded all the same."""

    code = "chat_host"


class SlackAnswers:
    """One connection pool to one host."""

    def __init__(self, host: str) -> None:
        """`host` is a scheme and a host, from the settings."""
        self._host = host.rstrip("/")
        self._session: aiohttp.ClientSession | None = None

    async def answer(self, path: str, document: dict[str, Any]) -> None:
        """Send an answer once. Raises `ChatUnusable`, whose text does not hold the path: it is a secret for half an hour."""
        try:
            async with asyncio.timeout(_SECONDS):
                status = await self._sent(path, json.dumps(document).encode())
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise ChatUnusable(f"The chat could not be answered ({type(error).__name__}).") from None
        if status != _OK:
            raise ChatUnusable(f"The chat answered {status}.")

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _sent(self, path: str, body: bytes) -> int:
        if self._session is None:
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        headers = {"content-type": "application/json"}
        reply = await self._session.post(f"{self._host}{path}", data=body, headers=headers, allow_redirects=False)
        try:
            return reply.status
        finally:
            reply.close()
