"""Sends answers to the chat: only to the host of the settings, and without reading what it says."""

import json
from typing import Any, Final

from gateway.core.errors import SentinelError
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure

_CLIENT: Final = OutboundClient(seconds=10.0, most_bytes=0)
_OK: Final = 200


class ChatUnusable(SentinelError):
    """The chat did not take an answer. What was decided is recorded all the same."""

    code = "chat_host"


class SlackAnswers:
    """The host where the chat takes answers."""

    def __init__(self, host: str) -> None:
        """`host` is a scheme and a host, from the settings."""
        self._host = host.rstrip("/")

    async def answer(self, path: str, document: dict[str, Any]) -> None:
        """Send an answer once. Raises `ChatUnusable`, whose text does not hold the path: it is a secret for half an hour."""
        headers = {"content-type": "application/json"}
        try:
            reply = await _CLIENT.request(
                "POST", f"{self._host}{path}", headers=headers, body=json.dumps(document).encode()
            )
        except OutboundFailure as error:
            raise ChatUnusable(f"The chat could not be answered ({error}).") from None
        if reply.status != _OK:
            raise ChatUnusable(f"The chat answered {reply.status}.")
