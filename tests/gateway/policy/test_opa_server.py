"""The OPA server adapter: whatever is not a defined answer in time is a denial, and nothing is asked twice."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from gateway.core.errors import PolicyInvalid, PolicyUnavailable, SettingsInvalid
from gateway.policy.bundle import Bundle, Manifest
from gateway.policy.opa_server import OpaServer

GUARDRAILS = "sentinel/guardrails/result"
PATIENCE = 300_000
"""Milliseconds that an answer may take on a busy machine."""
Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def bundle_of(*packages: str) -> Bundle:
    """A bundle with these guardrail packages, which no engine here compiles."""
    manifest = Manifest(opa="", entrypoints=(), packages=packages, sources={}, wasm_sha256="", data_sha256="")
    return Bundle(wasm=b"", data=b"{}", manifest=manifest)


@asynccontextmanager
async def answering(
    status: int, body: bytes, *, delay: float = 0, hang_up: bool = False, deadline_ms: int = PATIENCE
) -> AsyncIterator[tuple[OpaServer, list[bytes]]]:
    """An adapter, already connected, to a server that gives this one answer; and the requests it saw."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append(head)
        await asyncio.sleep(delay)
        if not hang_up:
            writer.write(
                b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                % (status, len(body))
                + body
            )
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        adapter = OpaServer(f"http://127.0.0.1:{port}", deadline_ms=deadline_ms, bundle=bundle_of("network"))
        await adapter._client.__aenter__()
        try:
            yield adapter, seen
        finally:
            await asyncio.sleep(delay)  # so that the late answer ends within its test
            await adapter.close()


def _body(answer: object) -> bytes:
    return json.dumps(answer).encode()


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_defined_answer_is_given_in_order_with_its_revision() -> None:
    provenance = {"version": "1.22.0", "bundles": {"b": {"revision": "r2"}, "a": {"revision": "r1"}}}
    async with answering(200, _body({"result": [2, 1], "provenance": provenance})) as (adapter, seen):
        assert await adapter.ask(GUARDRAILS, {}) == [1, 2]
        assert adapter.revision == "r1 r2"
        assert adapter.problem == ""
        assert seen[0].startswith(
            b"POST /v1/data/sentinel/guardrails/result?strict-builtin-errors=true&provenance=true "
        )


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"{}"), (200, b"[]"), (200, b'"result"'), (200, b"null"), (200, b"not json"), (200, b""), (204, b""), (400, b"{}"), (404, b"{}"), (500, b"{}"), (503, b"{}"), (302, b"{}")],
)  # fmt: skip
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_whatever_is_no_answer_is_a_denial_and_asked_once(status: int, body: bytes) -> None:
    async with answering(status, body) as (adapter, seen):
        with pytest.raises(PolicyUnavailable):
            await adapter.ask(GUARDRAILS, {})
        assert len(seen) == 1


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_too_late_is_a_denial() -> None:
    async with answering(200, _body({"result": 1}), delay=0.4, deadline_ms=200) as (adapter, _):
        with pytest.raises(PolicyUnavailable, match="longer than 200 ms"):
            await adapter.ask(GUARDRAILS, {})


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_hanging_up_is_a_denial_and_asked_once() -> None:
    async with answering(200, b"", hang_up=True) as (adapter, seen):
        with pytest.raises(PolicyUnavailable):
            await adapter.ask(GUARDRAILS, {})
        assert len(seen) == 1


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_server_that_is_not_there_is_not_opened() -> None:
    adapter = OpaServer("http://127.0.0.1:1", deadline_ms=PATIENCE, bundle=bundle_of("network"))
    with pytest.raises(PolicyUnavailable):
        await adapter.open()


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_server_without_our_guardrails_is_not_opened() -> None:
    body = _body({"result": {"evaluated": {"motive": True}, "findings": []}})
    async with answering(200, body) as (adapter, _):
        lacking = OpaServer(adapter._url, deadline_ms=PATIENCE, bundle=bundle_of("motive", "network"))
        with pytest.raises(PolicyInvalid, match="lacks the guardrails network"):
            await lacking.open()


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_start_that_is_given_up_leaves_no_connection_open() -> None:
    async with answering(200, b"{}", delay=0.1) as (adapter, seen):
        given_up = OpaServer(adapter._url, deadline_ms=PATIENCE, bundle=bundle_of("network"))
        opening = asyncio.ensure_future(given_up.open())
        while not seen:  # noqa: ASYNC110  a list that is only added to
            await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert given_up._client._session is None


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8181", "ftp://127.0.0.1", "http://opa.example.com:8181", "http://10.0.0.1", "http://127.0.0.1:8181/v1", "http://127.0.0.1:99999", "https://user@opa.example.com", "http://[::1", "http://"],
)  # fmt: skip
def test_an_url_that_cannot_be_trusted_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid, match=r"policy\.opa_url"):
        OpaServer(url, deadline_ms=200, bundle=bundle_of())


@pytest.mark.parametrize(
    "url", ["http://localhost", "http://[::1]:8181", "https://opa.example.com", "http://127.0.0.1:8181/"]
)
def test_this_machine_and_tls_are_taken(url: str) -> None:
    assert OpaServer(url, deadline_ms=200, bundle=bundle_of("a")).packages() == {"a"}
