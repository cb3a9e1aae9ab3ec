"""Which door a request is for, and that the guard comes before each of them."""

from typing import Any

import pytest

from gateway.doors.asgi import Message, Scope
from gateway.doors.router import DoorRouter, signed_for_aws
from gateway.errors import LedgerUnavailable, Malformed
from tests.kit.doubles import CloudDouble, FixedClock, LedgerDouble, line

HOST = (b"host", b"localhost")
SIGNED = (b"authorization", b"AWS4-HMAC-SHA256 Credential=x")
BEARER = (b"authorization", b"Bearer x.y")


def _scope(path: str = "/", *headers: tuple[bytes, bytes], query: bytes = b"", kind: str = "http") -> Scope:
    return {
        "type": kind,
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
def test_the_proof_says_which_door(scope: Scope, aws: bool) -> None:
    assert signed_for_aws(scope) is aws


class Door:
    """Notes who comes."""

    def __init__(self) -> None:
        self.came: list[str] = []
        self.turned_away: list[str] = []

    async def __call__(self, scope: Scope, _receive: Any, _send: Any) -> None:
        """Came in."""
        self.came.append(str(scope.get("path")))

    async def turn_away(self, _scope: Scope, _receive: Any, _send: Any, error: Malformed) -> None:
        """Did not."""
        self.turned_away.append(error.code)


class House:
    """An entrance with both doors."""

    def __init__(self, ledger: LedgerDouble | None = None) -> None:
        self.ledger = ledger or LedgerDouble()
        self.aws, self.app = Door(), Door()
        self.sent: list[Message] = []
        pipeline = line(self.ledger, CloudDouble(events=[]))
        self.entrance = DoorRouter(self.app, aws=self.aws, pipeline=pipeline, clock=FixedClock())  # type: ignore[arg-type]  # a double

    async def enter(self, scope: Scope) -> None:
        """One request."""

        async def send(message: Message) -> None:
            self.sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        await self.entrance(scope, receive, send)


async def test_each_goes_to_its_door() -> None:
    house = House()
    await house.enter(_scope("/signed", HOST, SIGNED))
    await house.enter(_scope("/v1/records", HOST, BEARER))
    await house.enter({"type": "lifespan"})
    assert (house.aws.came, house.app.came) == (["/signed"], ["/v1/records", "None"])


async def test_nobody_speaks_websocket() -> None:
    house = House()
    await house.enter(_scope("/", HOST, kind="websocket"))
    assert house.sent == [{"type": "websocket.close"}]
    assert (house.aws.came, house.app.came) == ([], [])


@pytest.mark.parametrize("scope", [_scope("/", SIGNED), _scope("/v1/x", SIGNED), _scope("/bucket")])
async def test_what_is_odd_and_for_aws_is_turned_away_in_its_words(scope: Scope) -> None:
    house = House()
    await house.enter(scope)
    assert (house.aws.turned_away, house.aws.came, house.app.came) == (["host"], [], [])


@pytest.mark.parametrize("path", ["/v1/records", "/healthz", "/readyz"])
async def test_what_is_odd_and_for_the_api_is_a_recorded_problem(path: str) -> None:
    house = House()
    await house.enter(_scope(path, BEARER))
    start, body = house.sent
    assert (start["status"], dict(start["headers"])[b"connection"]) == (400, b"close")
    assert b'"code":"host"' in body["body"]
    assert house.ledger.refusals[0].code == "host"
    assert house.app.came == []


async def test_what_cannot_be_recorded_is_503() -> None:
    house = House(LedgerDouble(refusal_fails=LedgerUnavailable("down")))
    await house.enter(_scope("/v1/records", BEARER))
    assert house.sent[0]["status"] == 503
