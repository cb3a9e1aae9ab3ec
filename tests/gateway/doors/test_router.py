"""Routing a request to its door, after validating its head."""

from typing import Any

import pytest

from gateway.aws.door.bucket_host import BucketHosts
from gateway.core.errors import LedgerUnavailable, Malformed, Overloaded
from gateway.core.http.asgi import Message, Scope
from gateway.core.http.body_budget import BodyBudget
from gateway.doors.router import DoorRouter, signed_for_aws
from tests.kit.doubles import CloudDouble, FixedClock, LedgerDouble, line

HOST = (b"host", b"localhost")
SIGNED = (b"authorization", b"AWS4-HMAC-SHA256 Credential=x")
BEARER = (b"authorization", b"Bearer x.y")


def _scope(path: str = "/", *headers: tuple[bytes, bytes], query: bytes = b"") -> Scope:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": list(headers),
    }


@pytest.mark.parametrize(
    ("scope", "aws"),
    [
        (_scope("/", HOST, SIGNED), True),
        (_scope("/v1/createjobqueue", HOST, SIGNED), True),
        (_scope("/v1/records", HOST, (b"authorization", b" aws4-hmac-sha256 x")), True),
        (_scope("/", HOST, (b"authorization", b"AWS key:signature")), True),
        (_scope("/", HOST, query=b"a=1&X-Amz-Signature=00"), True),
        (_scope("/", HOST, query=b"X-Amz-Algorithm=AWS4"), True),
        (_scope("/", HOST), False),
        (_scope("/v1/records", HOST, BEARER), False),
        (_scope("/", HOST, (b"authorization", b"AWSome x")), False),
        (_scope("/v1/records", HOST, BEARER, query=b"X-Amz-Signature=00"), False),
    ],
)
def test_the_authentication_scheme_selects_the_door(scope: Scope, aws: bool) -> None:
    assert signed_for_aws(scope) is aws


class Door:
    """Records the requests that reach it."""

    def __init__(self) -> None:
        self.hosts = BucketHosts()
        self.served: list[str] = []
        self.turned_away: list[str] = []

    async def __call__(self, scope: Scope, receive: Any, _send: Any) -> None:
        """Serve a request, its body read."""
        self.served.append(str(scope.get("path")))
        if scope["type"] == "http":
            await receive()

    async def turn_away(self, _scope: Scope, _receive: Any, _send: Any, error: Malformed) -> None:
        """Refuse a request."""
        self.turned_away.append(error.code)


class Fixture:
    """A router with both doors."""

    def __init__(self, ledger: LedgerDouble | None = None) -> None:
        self.ledger = ledger or LedgerDouble()
        self.aws, self.app, self.mcp = Door(), Door(), Door()
        self.sent: list[Message] = []
        pipeline = line(self.ledger, CloudDouble(events=[]))
        self.budget = BodyBudget(10)
        self.router = DoorRouter(
            self.app,
            aws=self.aws,  # type: ignore[arg-type]  # a double
            pipeline=pipeline,
            clock=FixedClock(),
            budget=self.budget,
            doors={"/mcp": self.mcp},
        )

    async def request(self, scope: Scope, body: bytes = b"") -> None:
        """One request."""

        async def send(message: Message) -> None:
            self.sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": body}

        await self.router(scope, receive, send)


async def test_each_goes_to_its_door() -> None:
    fixture = Fixture()
    await fixture.request(_scope("/signed", HOST, SIGNED))
    await fixture.request(_scope("/v1/records", HOST, BEARER))
    await fixture.request({"type": "lifespan"})
    assert (fixture.aws.served, fixture.app.served) == (["/signed"], ["/v1/records", "None"])


async def test_a_further_door_has_its_path_and_all_below_it() -> None:
    fixture = Fixture()
    for path in ("/mcp", "/mcp/x", "/mcpx", "/other/mcp"):
        await fixture.request(_scope(path, HOST))
    await fixture.request(_scope("/mcp", HOST, SIGNED))
    assert fixture.mcp.served == ["/mcp", "/mcp/x"]
    assert fixture.app.served == ["/mcpx", "/other/mcp"]
    assert fixture.aws.served == ["/mcp"], "a bucket may have that name"


@pytest.mark.parametrize("scope", [_scope("/", SIGNED), _scope("/v1/x", SIGNED), _scope("/bucket")])
async def test_a_malformed_aws_request_is_refused_in_aws_format(scope: Scope) -> None:
    fixture = Fixture()
    await fixture.request(scope)
    assert (fixture.aws.turned_away, fixture.aws.served, fixture.app.served) == (["host"], [], [])


@pytest.mark.parametrize("path", ["/v1/records", "/healthz", "/readyz", "/mcp"])
async def test_a_malformed_api_request_is_a_recorded_problem(path: str) -> None:
    fixture = Fixture()
    await fixture.request(_scope(path, BEARER))
    start, body = fixture.sent
    assert (start["status"], dict(start["headers"])[b"connection"]) == (400, b"close")
    assert b'"code":"host"' in body["body"]
    assert fixture.ledger.refusals[0].code == "host"
    assert fixture.app.served == []


async def test_what_cannot_be_recorded_is_503() -> None:
    fixture = Fixture(LedgerDouble(refusal_fails=LedgerUnavailable("down")))
    await fixture.request(_scope("/v1/records", BEARER))
    assert fixture.sent[0]["status"] == 503


@pytest.mark.parametrize("proof", [SIGNED, BEARER])
async def test_the_bodies_of_all_requests_share_one_budget(proof: tuple[bytes, bytes]) -> None:
    fixture = Fixture()
    for _ in range(20):
        await fixture.request(_scope("/v1/mutations", HOST, proof), b"12345")
    assert fixture.budget.used == 0
    with pytest.raises(Overloaded):
        await fixture.request(_scope("/v1/mutations", HOST, proof), b"12345678901")
    assert fixture.budget.used == 0


@pytest.mark.parametrize(("proof", "page"), [((), True), ((SIGNED,), False)])
async def test_a_browser_at_the_root_sees_a_page_unless_it_is_signed(
    proof: tuple[tuple[bytes, bytes], ...], *, page: bool
) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    ledger = LedgerDouble()
    router = DoorRouter(
        Door(),
        aws=Door(),  # type: ignore[arg-type]  # a double
        pipeline=line(ledger, CloudDouble(events=ledger.events)),
        clock=FixedClock(),
        budget=BodyBudget(1000),
    )
    await router(_scope("/", HOST, (b"accept", b"text/html"), *proof), receive, send)
    assert (bool(sent) and sent[0]["status"] == 200) is page
