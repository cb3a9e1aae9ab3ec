"""A local server that speaks Anthropic's Messages API: it answers with texts given to it, and keeps what it was asked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class MessagesApi:
    """The server. `answers` are given one after another; an int is a status with an error body."""

    answers: list[str | int] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, request: web.Request) -> web.Response:
        """One message."""
        self.asked.append(await request.json())
        self.keys.append(request.headers.get("Authorization", "").removeprefix("Bearer "))
        given = self.answers.pop(0)
        if isinstance(given, int):
            error = {"type": "error", "error": {"type": "api_error", "message": "no"}}
            return web.json_response(error, status=given)
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": self.asked[-1]["model"], "stop_reason": "end_turn",
            "stop_sequence": None, "content": [{"type": "text", "text": given}], "usage": {"input_tokens": 900, "output_tokens": 100},
        }  # fmt: skip
        return web.json_response(message)


@asynccontextmanager
async def messages_api(*answers: str | int | dict[str, Any]) -> AsyncIterator[MessagesApi]:
    """A running server; a dict is an answer in JSON."""
    api = MessagesApi(answers=[json.dumps(each) if isinstance(each, dict) else each for each in answers])
    application = web.Application()
    application.router.add_post("/v1/messages", api.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    api.port = runner.addresses[0][1]
    try:
        yield api
    finally:
        await runner.cleanup()
