"""Forwarding reads: what is sent, what is returned, and what happens if either side breaks off."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest

from gateway.aws.door.reads import MAX_BUFFERED_BYTES, KeyStands, Reads, forwarded_headers, without_signature
from gateway.core.errors import Malformed, UpstreamUnavailable
from gateway.core.http.asgi import BODY_FOLLOWS
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Call
from gateway.core.model.signature import PayloadKind, Signature
from tests.kit import nouns

CALLER = nouns.caller()
CALL = Call(service="sqs", operation="GetQueueUrl", region="us-east-1")


class Answer:
    def __init__(self, parts: list[bytes], *, length: int | None = None, breaks: bool = False) -> None:
        self.status = 200
        self.headers = [
            (b"Content-Type", b"x/y"),
            (b"Date", b"d"),
            (b"Server", b"s"),
            (b"Transfer-Encoding", b"chunked"),
            (b"x-amzn-RequestId", b"r"),
        ]
        self.length = length
        self._parts, self._breaks = parts, breaks
        self.abandoned = False
        self.taken = 0

    async def read(self) -> bytes:
        if self._breaks:
            raise UpstreamUnavailable("AWS broke off.")
        return b"".join(self._parts)

    async def parts(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            self.taken += 1
            yield part
            await asyncio.sleep(0)
        if self._breaks:
            raise UpstreamUnavailable("AWS broke off.")

    def abandon(self) -> None:
        self.abandoned = True


class Upstream:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: dict[str, Any] = {}

    async def open(self, call: Call, **request: Any) -> Any:
        self.asked = {"call": call, **request}
        return self.answer


class Client:
    """The ASGI side of a client that hangs up after so many messages."""

    def __init__(self, disconnect_after: int = 1_000_000) -> None:
        self.got: list[Any] = []
        self._disconnect_after = disconnect_after
        self._gone = asyncio.Event()

    async def receive(self) -> Any:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.got.append(message)
        if len(self.got) >= self._disconnect_after:
            self._gone.set()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.got)


def inbound(
    method: str = "POST", target: str = "/", body: bytes = b'{"a":1}', headers: tuple[tuple[str, str], ...] = ()
) -> Inbound:
    async def read_body() -> bytes:
        return body

    return Inbound(method=method, target=target, headers=headers, read_body=read_body, received_at=datetime.now(UTC))


def signature(kind: PayloadKind = PayloadKind.BODY, *, presigned: bool = False) -> Signature:
    return Signature(
        access_key_id="K",
        timestamp="20261121T120000Z",
        at=datetime(2026, 11, 21, 12, tzinfo=UTC),
        region="us-east-1",
        service="sqs",
        signed_headers=("host",),
        payload_kind=kind,
        payload_hash="",
        value="0" * 64,
        expires=timedelta(seconds=60) if presigned else None,
    )


async def _stands(_caller: Caller) -> bool:
    return True


async def forward(
    answer: Answer,
    client: Client,
    *,
    request: Inbound | None = None,
    proof: Signature | None = None,
    stands: KeyStands = _stands,
) -> Upstream:
    upstream, request = Upstream(answer), request or inbound()
    await Reads(upstream, stands=stands).forward(
        client.receive,
        client.send,
        inbound=request,
        target=request.target,
        caller=CALLER,
        call=CALL,
        signature=proof or signature(),
    )
    return upstream


async def test_a_small_reply_is_sent_in_one_piece_and_as_it_came() -> None:
    client, answer = Client(), Answer([b"{}"], length=2)
    upstream = await forward(answer, client)
    start, body = client.got
    assert start == {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"Content-Type", b"x/y"), (b"x-amzn-RequestId", b"r")],
        BODY_FOLLOWS: True,
    }
    assert body == {"type": "http.response.body", "body": b"{}"}
    assert upstream.asked["payload"] == sha256(b'{"a":1}').hexdigest()
    assert upstream.asked["body"] == b'{"a":1}'
    assert answer.abandoned


@pytest.mark.parametrize("length", [None, MAX_BUFFERED_BYTES + 1])
async def test_a_long_reply_is_streamed(length: int | None) -> None:
    client = Client()
    await forward(Answer([b"a", b"b", b"c"], length=length), client)
    assert client.body == b"abc"
    assert [message.get("more_body") for message in client.got[1:]] == [True, True, True, None]


async def test_a_small_reply_that_breaks_off_leaves_the_door_free_to_answer() -> None:
    client, answer = Client(), Answer([b"{"], length=2, breaks=True)
    with pytest.raises(UpstreamUnavailable):
        await forward(answer, client)
    assert client.got == []
    assert answer.abandoned


async def test_a_long_reply_that_breaks_off_is_never_completed() -> None:
    client = Client()
    with pytest.raises(ConnectionResetError):
        await forward(Answer([b"a"], breaks=True), client)
    assert client.got[-1] == {"type": "http.response.body", "body": b"a", "more_body": True}


class Silent(Answer):
    """A reply that stops in its middle, until it is abandoned."""

    def __init__(self) -> None:
        super().__init__([b"a"])
        self.left = asyncio.Event()

    async def parts(self) -> AsyncIterator[bytes]:
        yield b"a"
        await self.left.wait()
        raise UpstreamUnavailable("AWS broke off.")

    def abandon(self) -> None:
        self.left.set()


class Ending(Silent):
    """The same, but what is left of it looks complete."""

    async def parts(self) -> AsyncIterator[bytes]:
        yield b"a"
        await self.left.wait()


async def test_a_client_that_hangs_up_ends_a_stream_in_which_nothing_comes() -> None:
    client = Client(disconnect_after=2)
    await asyncio.wait_for(forward(Silent(), client), 300)
    assert client.body == b"a"


@pytest.mark.parametrize("says", [b"a", b""], ids=["silent", "at its end"])
async def test_a_stream_is_broken_off_when_its_key_ends(monkeypatch: pytest.MonkeyPatch, says: bytes) -> None:
    """Never completed, so that nobody takes the part for the whole, whether AWS goes on or not."""
    monkeypatch.setattr("gateway.aws.door.reads.KEY_SECONDS", 0.0)
    asked: list[str] = []

    async def revoked(caller: Caller) -> bool:
        asked.append(caller.key_id)
        return len(asked) < 3

    client = Client()
    answer: Answer = Silent() if says else Ending()
    with pytest.raises(ConnectionResetError):
        await asyncio.wait_for(forward(answer, client, stands=revoked), 300)
    assert asked == [CALLER.key_id] * 3
    assert client.got[-1].get("more_body") is True


async def test_a_client_that_hangs_up_ends_a_read_that_is_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.aws.door.reads.PATIENCE_SECONDS", 0.0)
    client, ended = Client(), asyncio.Event()

    class Never(Upstream):
        async def open(self, call: Call, **request: Any) -> Any:
            client._gone.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

    with pytest.raises(UpstreamUnavailable, match="hung up"):
        await asyncio.wait_for(
            Reads(Never(Answer([])), stands=_stands).forward(
                client.receive,
                client.send,
                inbound=inbound(),
                target="/",
                caller=CALLER,
                call=CALL,
                signature=signature(),
            ),
            300,
        )
    assert ended.is_set()
    assert client.got == []


async def test_a_read_that_is_cancelled_while_its_client_is_there_stays_cancelled() -> None:
    client, waits = Client(), asyncio.Event()

    class Never(Upstream):
        async def open(self, call: Call, **request: Any) -> Any:
            waits.set()
            await asyncio.Event().wait()

    reading = asyncio.ensure_future(
        Reads(Never(Answer([])), stands=_stands).forward(
            client.receive, client.send, inbound=inbound(), target="/", caller=CALLER, call=CALL, signature=signature()
        )
    )
    await waits.wait()
    reading.cancel()
    await asyncio.wait([reading], timeout=300)
    assert reading.cancelled()


async def test_a_slow_reply_reaches_a_client_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.aws.door.reads.PATIENCE_SECONDS", 0.0)
    client = Client()

    class Slow(Upstream):
        async def open(self, call: Call, **request: Any) -> Any:
            await asyncio.sleep(0.05)
            return self.answer

    await Reads(Slow(Answer([b"ok"], length=2)), stands=_stands).forward(
        client.receive, client.send, inbound=inbound(), target="/", caller=CALLER, call=CALL, signature=signature()
    )
    assert client.body == b"ok"


async def test_a_client_that_hangs_up_ends_the_stream() -> None:
    client, answer = Client(disconnect_after=3), Answer([b"x"] * 1000)
    await forward(answer, client)
    assert answer.taken < 10
    assert answer.abandoned


def test_only_headers_for_aws_are_forwarded() -> None:
    sent = [
        ("host", "gw"),
        ("authorization", "AWS4-HMAC-SHA256 …"),
        ("x-amz-date", "d"),
        ("x-amz-security-token", "t"),
        ("x-amz-content-sha256", "h"),
        ("x-sentinel-intent", "cost"),
        ("x-forwarded-host", "evil.com"),
        ("x-http-method-override", "DELETE"),
        ("cookie", "a=b"),
        ("connection", "keep-alive"),
        ("transfer-encoding", "chunked"),
        ("content-length", "3"),
        ("expect", "100-continue"),
        ("x-original-url", "/"),
        ("forwarded", "host=evil.com"),
        ("proxy-authorization", "x"),
    ]
    kept = [
        ("x-amz-target", "A.B"),
        ("x-amzn-query-mode", "true"),
        ("amz-sdk-invocation-id", "i"),
        ("content-type", "c"),
        ("range", "bytes=0-1"),
        ("user-agent", "boto3"),
        ("accept-encoding", "identity"),
        ("if-none-match", "e"),
    ]
    assert forwarded_headers([*sent, *kept]) == kept


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            "/b/k?X-Amz-Algorithm=A&X-Amz-Credential=C&X-Amz-Date=D&X-Amz-Expires=1&X-Amz-SignedHeaders=host&X-Amz-Signature=s",
            "/b/k",
        ),
        ("/b/k?versionId=a%2Bb&X-Amz-Signature=s&x-id=GetObject", "/b/k?versionId=a%2Bb&x-id=GetObject"),
        ("/?Action=A&X-Amz-Security-Token=t", "/?Action=A"),
        ("/b?acl&X-Amz-Signatur%65=s", "/b?acl"),
        ("/b?X-Amz-Other=1", "/b?X-Amz-Other=1"),
    ],
)
async def test_a_presigned_target_is_forwarded_without_its_signature(target: str, expected: str) -> None:
    assert without_signature(target) == expected
    upstream = await forward(
        Answer([], length=0),
        Client(),
        request=inbound("GET", target, b""),
        proof=signature(PayloadKind.UNSIGNED, presigned=True),
    )
    assert (upstream.asked["target"], upstream.asked["payload"]) == (expected, "UNSIGNED-PAYLOAD")


async def test_a_chunked_read_is_refused() -> None:
    with pytest.raises(Malformed, match="chunked"):
        await forward(Answer([]), Client(), proof=signature(PayloadKind.UNSIGNED_CHUNKS_TRAILER))
