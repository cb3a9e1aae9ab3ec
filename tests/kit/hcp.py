"""HCP Terraform as a run task meets it: serves a plan by a redirect to an archive, takes results, and signs requests."""

import asyncio
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from aiohttp import web

KEY = "a-key-that-only-hcp-and-we-know"
TOKEN = "token-of-this-run"


@dataclass
class HcpStub:
    """The plan that it serves, what it was asked, and the results that it got."""

    plan: bytes = b"{}"
    behaviour: str = "ok"
    """ok; missing (the plan is 404), away (a redirect to a host that is not listed), loop, refuses (the result is 422)."""
    port: int = 0
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """(method, path, token)"""
    results: list[dict[str, Any]] = field(default_factory=list)
    reported: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self.port}"

    def request(self, result: str = "taskrs-1", **members: Any) -> dict[str, Any]:
        """A request for a plan, as it is sent."""
        return {
            "payload_version": 1,
            "stage": "post_plan",
            "access_token": TOKEN,
            "capabilities": {"outcomes": True},
            "organization_name": "acme",
            "workspace_name": "kafka-prod",
            "run_id": "run-1",
            "task_result_id": result,
            "task_result_callback_url": f"http://{self.host}/api/v2/task-results/{result}/callback",
            "plan_json_api_url": f"http://{self.host}/api/v2/plans/plan-1/json-output",
            **members,
        }

    async def start(self) -> web.AppRunner:
        """Listen on a free port of loopback."""
        application = web.Application(client_max_size=16 * 1024 * 1024)
        application.router.add_route("*", "/{anything:.*}", self._answer)
        runner = web.AppRunner(application, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]
        return runner

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.asked.append((request.method, request.path, token))
        if request.method == "PATCH":
            self.results.append(json.loads(await request.read()))
            self.reported.set()
            return web.Response(status=422 if self.behaviour == "refuses" else 200)
        if request.path == "/archive":
            return web.Response(body=self.plan, content_type="application/json")
        places = {"loop": request.path, "away": "http://127.0.0.1:1/archive"}
        if self.behaviour == "missing" or token != TOKEN:
            return web.Response(status=404)
        return web.Response(status=307, headers={"Location": places.get(self.behaviour, "/archive")})


def signed(document: dict[str, Any], key: str = KEY) -> tuple[bytes, dict[str, str]]:
    """The body of a request and its headers."""
    body = json.dumps(document).encode()
    signature = hmac.new(key.encode(), body, hashlib.sha512).hexdigest()
    return body, {"Content-Type": "application/json", "X-Tfc-Task-Signature": signature}


class Starts(Protocol):
    """A stub that listens once it is started."""

    async def start(self) -> web.AppRunner:
        """Listen on a free port of loopback."""
        ...


StubT = TypeVar("StubT", bound=Starts)


@contextmanager
def serving(stub: StubT) -> Iterator[StubT]:
    """The stub, listening in a thread of its own until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(stub.start(), loop).result(300)
    try:
        yield stub
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(300)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(300)
        loop.close()
