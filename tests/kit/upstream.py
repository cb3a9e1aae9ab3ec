"""A scripted AWS on loopback for tests: records requests, and answers correctly, wrongly or not at all."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from aiohttp import web

from gateway.aws.client.credentials import Credentials

REQUEST_ID = "6f7e2c1a-0000-4000-8000-000000000000"

SIMULATED = Credentials(access_key_id="AKIASIMULATED0000000", secret="simulated")
"""Credentials for a simulated AWS."""


@dataclass
class UpstreamStub:
    """The requests so far, and the behaviour for the next ones."""

    asked: list[str] = field(default_factory=list)
    """Operations that arrived, in order."""
    headers: list[Mapping[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    behaviour: str = "ok"
    """ok, null and empty (a success with such a body), refuse (an AWS error), echo (an error that repeats the request), cut (the connection is
    closed), html (a captive portal), slow, wait (until `release`)."""
    results: dict[str, str] = field(default_factory=dict)
    """Operation → the body of its successful answer in JSON, or of a query protocol the XML inside its result; empty for all others."""
    port: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first request has arrived."""
    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> web.AppRunner:
        """Listen on a free port of loopback; call `cleanup` on the returned runner to stop."""
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.router.add_route("*", "/{anything:.*}", self._answer)
        runner = web.AppRunner(application, shutdown_timeout=1)  # a request may wait for a `release` that never comes
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        return runner

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        target = request.headers.get("X-Amz-Target", "").rpartition(".")[2]
        operation = target or parse_qs(body.decode("latin-1")).get("Action", [request.method + " " + request.path])[0]
        self.asked.append(operation)
        self.arrived.set()
        self.headers.append(dict(request.headers))
        self.bodies.append(body)
        match self.behaviour:
            case "cut":
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case "html":
                return web.Response(
                    text="<html><body>Sign in to the guest network</body></html>", content_type="text/html"
                )
            case "wait":
                await self.release.wait()
            case "slow":
                await asyncio.sleep(0.5)
            case "null" | "empty":
                return _response("null" if self.behaviour == "null" else "", "application/x-amz-json-1.0", 200)
            case "echo":
                return _query(operation, "refuse", said=parse_qs(body.decode("latin-1")))
        scope = request.headers.get("Authorization", "")
        if "/s3/aws4_request" in scope:
            return _s3(self.behaviour)
        in_json = target or "/lambda/aws4_request" in scope
        return (
            _json(self.behaviour, self.results.get(operation, "{}"))
            if in_json
            else _query(operation, self.behaviour, result=self.results.get(operation, ""))
        )


def _json(behaviour: str, result: str) -> web.Response:
    if behaviour == "refuse":
        error = '{"__type": "com.amazonaws#ResourceNotFoundException", "message": "No such thing"}'
        return _response(error, "application/x-amz-json-1.0", 400)
    return _response(result, "application/x-amz-json-1.0", 200)


def _s3(behaviour: str) -> web.Response:
    if behaviour == "refuse":
        error = f"<Error><Code>NoSuchBucket</Code><Message>No such bucket</Message><RequestId>{REQUEST_ID}</RequestId></Error>"
        return _response(error, "application/xml", 404)
    return web.Response(status=200, headers={"x-amz-request-id": REQUEST_ID, "ETag": '"0"'})


def _query(operation: str, behaviour: str, said: object = "Group not found", result: str = "") -> web.Response:
    if behaviour == "refuse":
        error = (
            f"<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>{said}</Message></Error>"
            f"<RequestId>{REQUEST_ID}</RequestId></ErrorResponse>"
        )
        return _response(error, "text/xml", 400)
    inside = f"<{operation}Result>{result}</{operation}Result>" if result else f"<{operation}Result/>"
    done = f"<{operation}Response>{inside}<ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata></{operation}Response>"
    return _response(done, "text/xml", 200)


def _response(text: str, content_type: str, status: int) -> web.Response:
    return web.Response(text=text, content_type=content_type, status=status, headers={"x-amzn-RequestId": REQUEST_ID})
