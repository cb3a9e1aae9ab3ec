"""The AWS door: a response for every outcome, and no retryable response if anything may have been sent."""

import gc
import weakref
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.aws.door.bucket_host import BucketHosts
from gateway.aws.door.endpoint import AwsDoor, aws_code
from gateway.aws.door.errors import status_of
from gateway.aws.door.urls import ReplyUrls
from gateway.core import errors
from gateway.core.http.asgi import Message, RequestBody
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Call, CallClass
from gateway.core.model.outcome import Attempt, Failed, InDoubt, Reply, Sent
from gateway.core.model.verdict import Mode, Verdict
from tests.kit.doubles import AGENT, APPLIED, CALL, HUMAN, CloudDouble, FixedClock, LedgerDouble, Reads, asked, line

SCOPE_HEADERS = [
    (b"host", b"localhost"),
    (b"x-amz-date", b"20261121T000000Z"),
    (b"x-amz-target", b"AmazonSQS.PurgeQueue"),
    (b"content-type", b"application/x-amz-json-1.0"),
    (
        b"authorization",
        b"AWS4-HMAC-SHA256 Credential=SNTLAAAAAAAAAAAAAAAA/20261121/us-east-1/sqs/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature="
        + b"0" * 64,
    ),
]


class Streams:
    """Reads that answer, or break."""

    def __init__(self, breaks: Exception | None = None) -> None:
        self.breaks = breaks

    async def forward(self, _receive: Any, send: Any, **_: Any) -> None:
        """One word, or the error."""
        if self.breaks:
            raise self.breaks
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"read"})


class Client:
    """What one request got."""

    def __init__(self) -> None:
        self.sent: list[Message] = []

    async def send(self, message: Message) -> None:
        """Keeps it."""
        self.sent.append(message)

    async def receive(self) -> Message:
        """An empty body."""
        return {"type": "http.request", "body": b""}

    @property
    def status(self) -> int:
        """The status."""
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        """The headers."""
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def text(self) -> str:
        """The body."""
        return b"".join(message["body"] for message in self.sent[1:]).decode()


class NothingPasses:
    """No call of the data plane passes."""

    async def forward(self, *_: Any, **__: Any) -> bool:
        """False."""
        return False

    def count_read(self, *_: Any) -> None:
        """Nothing is counted."""


class NoTokens:
    """Nobody asks for a token."""

    def takes(self, _call: Call) -> bool:
        """False."""
        return False

    def takes_unsigned(self, _inbound: Inbound) -> bool:
        """False."""
        return False


class NoUploads:
    """No request is the upload of an object."""

    def takes(self, _inbound: Inbound) -> bool:
        """False."""
        return False


def _scope(query: bytes = b"", headers: list[tuple[bytes, bytes]] | None = None) -> dict[str, Any]:
    given = SCOPE_HEADERS if headers is None else headers
    return {"type": "http", "method": "POST", "path": "/", "raw_path": b"/", "query_string": query, "headers": given}


def _door(
    ledger: LedgerDouble,
    cloud: CloudDouble,
    reads: Reads | None = None,
    *,
    verdict: Verdict = Verdict.ALLOW,
    mode: Mode = Mode.ENFORCE,
    streams: Streams | None = None,
) -> AwsDoor:
    both = reads or Reads(asked())
    return AwsDoor(
        hosts=BucketHosts(),
        pipeline=line(ledger, cloud, verdict, mode),
        authenticator=both,
        decoder=both,
        reads=streams or Streams(),  # type: ignore[arg-type]  # a double
        data=NothingPasses(),  # type: ignore[arg-type]  # a double
        uploads=NoUploads(),  # type: ignore[arg-type]  # a double
        forms=NoUploads(),  # type: ignore[arg-type]  # a double
        urls=ReplyUrls(),
        tokens=NoTokens(),  # type: ignore[arg-type]  # a double
        clock=FixedClock(),
        max_body_bytes=1000,
        limit_of_large=_same_limit,
    )


async def _same_limit(_inbound: Inbound) -> int:
    return 1000


async def _ask(door: AwsDoor, scope: dict[str, Any] | None = None) -> Client:
    client = Client()
    await door(scope or _scope(), client.receive, client.send)
    return client


@pytest.fixture
def ledger() -> LedgerDouble:
    return LedgerDouble()


@pytest.fixture
def cloud(ledger: LedgerDouble) -> CloudDouble:
    return CloudDouble(events=ledger.events)


async def test_what_was_applied_is_answered_in_aws_own_bytes(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    client = await _ask(_door(ledger, cloud))
    assert (client.status, client.text, client.headers["x-amzn-requestid"]) == (200, "{}", "r-1")
    assert client.headers["x-sentinel-mutation"].startswith("mut_")


@pytest.mark.parametrize(
    ("outcome", "status", "code"),
    [
        (Failed(code="X", message="no", reply=Reply(status=400, headers=(), body=b"aws says no")), 400, "aws says no"),
        (Failed(code="Throttling", message="", reply=Reply(status=503, headers=(), body=b"slow down")), 503, "slow"),
        (Failed(code="ConnectError", message="refused", reply=None), 503, "ServiceUnavailable"),
        (InDoubt(reason="No answer."), 409, "OutcomeUnknown"),
        (InDoubt(reason="In part.", reply=Reply(status=200, headers=(), body=b"one failed")), 200, "one failed"),
    ],
)
async def test_every_outcome_has_its_status(
    ledger: LedgerDouble, cloud: CloudDouble, outcome: Sent, status: int, code: str
) -> None:
    cloud.outcome = outcome
    client = await _ask(_door(ledger, cloud))
    assert client.status == status
    assert code in client.text


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.HOLD])
async def test_a_refusal_is_403_and_says_why(ledger: LedgerDouble, cloud: CloudDouble, verdict: Verdict) -> None:
    client = await _ask(_door(ledger, cloud, verdict=verdict))
    assert client.status == 403
    assert "[says.so] So." in client.text
    assert "AccessDeniedException" in client.text


async def test_observing_says_what_would_have_been(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    client = await _ask(_door(ledger, cloud, verdict=Verdict.DENY, mode=Mode.OBSERVE))
    assert (client.status, client.headers["x-sentinel-would"]) == (200, "deny")


async def test_a_repeated_attempt_says_so(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    ledger.attempts = [Attempt(mutation_id="mut_1", call_digest=CALL.digest, outcome=APPLIED)]
    client = await _ask(_door(ledger, cloud, Reads(asked(key="k"))))
    assert (client.headers["x-sentinel-mutation"], client.headers["idempotent-replayed"]) == ("mut_1", "true")


@pytest.mark.parametrize(
    ("failures", "status", "code", "sent"),
    [
        ({"decided_fails": [errors.LedgerUnavailable("down")]}, 503, "ServiceUnavailable", False),
        ({"decided_fails": [errors.ClaimTaken("a"), errors.ClaimTaken("b")]}, 409, "Conflict", False),
        ({"decided_fails": [errors.ApprovalSpent("spent")]}, 409, "Conflict", False),
        ({"decided_fails": [errors.AttemptInFlight("twice")]}, 409, "ConcurrentRequest", False),
        ({"decided_fails": [errors.SignatureSpent("spent")]}, 400, "ThrottlingException", False),
        ({"decided_fails": [RuntimeError("secret detail")]}, 409, "OutcomeUnknown", False),
        ({"settled_fails": [errors.LedgerUnavailable("down")]}, 409, "OutcomeUnknown", True),
        ({"settled_fails": [RuntimeError("secret detail")]}, 409, "OutcomeUnknown", True),
    ],
)
async def test_no_response_after_the_first_byte_is_retryable(
    failures: dict[str, Any], status: int, code: str, sent: bool
) -> None:
    ledger = LedgerDouble(**failures)
    with capture_logs():
        client = await _ask(_door(ledger, CloudDouble(events=ledger.events)))
    assert (client.status, code in client.text, "send" in ledger.events) == (status, True, sent)
    assert "secret detail" not in client.text


async def test_without_room_for_its_body_a_request_gets_503_and_may_try_again(
    ledger: LedgerDouble, cloud: CloudDouble
) -> None:
    client = await _ask(_door(ledger, cloud, Reads(asked(), errors.Overloaded("full"))))
    assert (client.status, client.headers["retry-after"]) == (503, "1")
    assert "ServiceUnavailable" in client.text
    assert (ledger.events, ledger.refusals) == ([], [])


async def test_without_a_ledger_every_request_gets_503() -> None:
    ledger = LedgerDouble(refusal_fails=errors.LedgerUnavailable("down"))
    door = _door(ledger, CloudDouble(events=ledger.events), Reads(asked(), errors.NotAuthenticated("who?")))
    assert (await _ask(door)).status == 503


@pytest.mark.parametrize(("call_class", "caller"), [(CallClass.READ, AGENT), (CallClass.CRYPTO, HUMAN)])
async def test_what_changes_nothing_is_streamed(
    ledger: LedgerDouble, cloud: CloudDouble, call_class: CallClass, caller: Caller
) -> None:
    client = await _ask(_door(ledger, cloud, Reads(asked(call_class=call_class), caller)))
    assert (client.text, ledger.events) == ("read", [])


async def test_an_agent_uses_no_keys_through_the_gate(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    client = await _ask(_door(ledger, cloud, Reads(asked(call_class=CallClass.CRYPTO))))
    assert (client.status, ledger.refusals[0].code, ledger.events) == (403, "not_allowed", [])


async def test_a_read_that_aws_does_not_answer_may_be_retried(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    door = _door(
        ledger,
        cloud,
        Reads(asked(call_class=CallClass.READ)),
        streams=Streams(errors.UpstreamUnavailable("gone")),
    )
    assert (await _ask(door)).status == 503


async def test_a_read_that_breaks_off_half_way_is_cut_off(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    door = _door(ledger, cloud, Reads(asked(call_class=CallClass.READ)), streams=Streams(ConnectionResetError("half")))
    with pytest.raises(ConnectionResetError):
        await _ask(door)


PRESIGNED = (
    b"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=SNTL/20260301/us-east-1/autoscaling/aws4_request&X-Amz-Date=20260301T120000Z"
    b"&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=" + b"0" * 64
)


async def test_a_presigned_change_is_refused_and_recorded(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    client = await _ask(_door(ledger, cloud), _scope(query=PRESIGNED, headers=[(b"host", b"h")]))
    assert client.status == 403
    assert (ledger.refusals[0].code, ledger.refusals[0].actor, ledger.events) == ("not_allowed", "agent", [])


async def test_a_malformed_request_is_recorded_answered_and_disconnected(
    ledger: LedgerDouble, cloud: CloudDouble
) -> None:
    client = Client()
    error = errors.Malformed("Two hosts.", aws_code="InvalidRequest", code="host")
    await _door(ledger, cloud).turn_away(_scope(), client.receive, client.send, error)
    assert (client.status, client.headers["connection"], ledger.refusals[0].code) == (400, "close", "host")


async def test_a_malformed_request_gets_503_without_a_ledger() -> None:
    ledger, client = LedgerDouble(refusal_fails=errors.LedgerUnavailable("down")), Client()
    door = _door(ledger, CloudDouble(events=ledger.events))
    await door.turn_away(_scope(), client.receive, client.send, errors.Malformed("Two hosts."))
    assert client.status == 503


def _kinds(kind: type[errors.SentinelError]) -> list[type[errors.SentinelError]]:
    return [kind, *(deeper for one in kind.__subclasses__() for deeper in _kinds(one))]


@pytest.mark.parametrize("kind", _kinds(errors.SentinelError), ids=lambda kind: kind.__name__)
def test_only_where_nothing_was_sent_is_an_error_worth_a_retry(kind: type[errors.SentinelError]) -> None:
    error = kind.__new__(kind)
    Exception.__init__(error, "A sentence.")
    if isinstance(error, errors.NotAuthenticated | errors.Malformed):
        return  # these carry their own code
    nothing_sent = errors.LedgerUnavailable | errors.Overloaded | errors.PolicyUnavailable | errors.UpstreamUnavailable
    assert (status_of(aws_code(error)) >= 500) == isinstance(error, nothing_sent)


async def test_the_body_limit_is_the_doors(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    async def endless() -> Message:
        return {"type": "http.request", "body": b"x" * 600, "more_body": True}

    with pytest.raises(errors.BodyTooLarge):
        await RequestBody(endless, _door(ledger, cloud).max_body_bytes).read()


class Waiting(Client):
    """A client whose channel tells when nothing refers to it any more."""

    async def __call__(self) -> Message:
        """An empty body."""
        return await self.receive()


async def test_an_answered_request_does_not_wait_for_the_garbage_collector(
    ledger: LedgerDouble, cloud: CloudDouble
) -> None:
    """Its body asks for its limit by what was read of its head, which refers to the body."""
    client, receive = Client(), Waiting()
    left = weakref.ref(receive)
    gc.disable()
    try:
        door = _door(ledger, cloud, Reads(asked(call_class=CallClass.READ)))
        await door(_scope(), receive, client.send)
        del receive
        assert (client.text, left()) == ("read", None)
    finally:
        gc.enable()
