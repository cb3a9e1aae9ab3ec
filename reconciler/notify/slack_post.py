"""Sends to the Web API of Slack, which says in the body of its answer whether it took a message, and where it has it."""

import json
import re
from typing import Any, Final

import aiohttp

from reconciler.notify.post import Post, PostAnswer

_LARGEST: Final = 64 * 1024
"""Bytes of an answer that are read. Slack answers with the message it was sent."""
_CODE: Final = re.compile(r"[a-z_]{1,64}")
_CHANNEL: Final = re.compile(r"[A-Z0-9]{2,32}")
_TIME: Final = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
_GONE: Final = "message_not_found"
_UNAVAILABLE: Final = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited"}
)


class SlackPost(Post):
    """Calls methods of the Web API."""

    async def _answer(self, reply: aiohttp.ClientResponse) -> PostAnswer:
        """The answer; of what Slack wrote only a code, a channel and a time, each in its form."""
        answer = await super()._answer(reply)
        if answer.error:
            return answer
        said = _object(await _beginning(reply))
        if said.get("ok") is True:
            return PostAnswer(status=answer.status, message=_place(said))
        code = str(said.get("error"))
        if code == _GONE:
            return answer  # somebody deleted the card, so nothing asks any more
        named = code if _CODE.fullmatch(code) else "no known code"
        return PostAnswer(status=0 if code in _UNAVAILABLE else answer.status, error=f"The chat refused it: {named}.")


async def _beginning(reply: aiohttp.ClientResponse) -> bytes:
    """The body, as far as it is read."""
    content = bytearray()
    async for part in reply.content.iter_chunked(_LARGEST):
        content += part
        if len(content) > _LARGEST:
            break
    return bytes(content)


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _place(said: dict[str, Any]) -> str:
    """Where the chat has the message; empty if it says nothing in that form."""
    channel, time = said.get("channel"), said.get("ts")
    known = _CHANNEL.fullmatch(str(channel)) and _TIME.fullmatch(str(time))
    return f"{channel}/{time}" if known else ""
