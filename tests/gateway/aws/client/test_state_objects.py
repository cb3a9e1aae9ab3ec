"""States are read from S3 as botocore would, kept by their ETag, and what goes wrong is a sentence."""

import http.client
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import boto3
import pytest
from moto.server import ThreadedMotoServer

from gateway.aws.client.credentials import Credentials, FixedCredentials
from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.states import BucketStates
from gateway.core.errors import CodeInvalid, NotSendable
from gateway.core.service_models import ServiceModels
from gateway.core.times import SystemClock
from gateway.terraform.config.backend import StateObject
from tests.kit.upstream import SIMULATED

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
WANTED = StateObject(bucket="states-of-two-stacks", key="env:/blue/shop one/terraform.tfstate", region="eu-west-1")


@dataclass
class Clock:
    at: float = 0.0

    def __call__(self) -> float:
        return self.at


@dataclass
class Counted:
    """How often S3 sent the bytes, and how often it only said that they are the same."""

    statuses: list[int] = field(default_factory=list)


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def put(origin: str) -> Iterator[object]:
    client = boto3.client(
        "s3",
        endpoint_url=origin,
        region_name="eu-west-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
    client.create_bucket(Bucket=WANTED.bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    yield lambda body: client.put_object(Bucket=WANTED.bucket, Key=WANTED.key, Body=body)
    client.delete_object(Bucket=WANTED.bucket, Key=WANTED.key)
    client.delete_bucket(Bucket=WANTED.bucket)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    original = http.client.HTTPConnection.getresponse

    def getresponse(self: http.client.HTTPConnection) -> http.client.HTTPResponse:
        reply = original(self)
        counted.statuses.append(reply.status)
        return reply

    monkeypatch.setattr(http.client.HTTPConnection, "getresponse", getresponse)
    return counted


def _states(origin: str, now: Clock, *, regions: tuple[str, ...] = ("eu-west-1",)) -> BucketStates:
    endpoints = Endpoints(models=ServiceModels(), regions=regions, simulated=origin)
    return BucketStates(
        endpoints=endpoints, credentials=FixedCredentials(SIMULATED), clock=SystemClock(), seconds=5, now=now
    )


def test_it_is_sent_again_only_if_it_changed(origin: str, put: object, counted: Counted) -> None:
    assert callable(put)
    now = Clock()
    states = _states(origin, now)
    assert states.read(WANTED) == (b"", "")
    put(b"one")
    assert states.read(WANTED) == (b"", "")  # asked a moment ago
    now.at = 6
    content, first = states.read(WANTED)
    assert content == b"one"
    counted.statuses.clear()
    now.at = 12
    assert states.read(WANTED) == (b"one", first)
    put(b"two")
    now.at = 18
    content, second = states.read(WANTED)
    assert (content, second != first) == (b"two", True)
    assert [status for status in counted.statuses if status in {200, 304}][0] == 304  # noqa: RUF015  the first of several


def test_what_cannot_be_read_is_said(origin: str) -> None:
    with pytest.raises(
        CodeInvalid, match=r"s3://states-of-two-stacks/.* cannot be read: S3 answers with 404 \(NoSuchBucket\)"
    ):
        _states(origin, Clock()).read(WANTED)
    with pytest.raises(CodeInvalid, match="eu-west-1"):
        _states(origin, Clock(), regions=("us-east-1",)).read(WANTED)
    with pytest.raises(CodeInvalid, match="cannot be read"):
        _states("http://127.0.0.1:9", Clock()).read(WANTED)


def test_a_bucket_that_cannot_be_read_is_asked_again_only_after_a_while(
    origin: str, put: Callable[[bytes], None], counted: Counted
) -> None:
    """Each try may take half a minute, in which the changes of other stacks are not seen."""
    now = Clock(at=100)
    states = _states(origin, now)
    put(b"one")
    counted.statuses.clear()
    good, states.endpoints = states.endpoints, _states(origin, now, regions=("us-east-1",)).endpoints
    with pytest.raises(CodeInvalid, match="eu-west-1") as first:
        states.read(WANTED)
    states.endpoints = good
    with pytest.raises(CodeInvalid) as second:
        states.read(WANTED)
    assert (str(second.value), counted.statuses) == (str(first.value), [])
    now.at = 106
    assert states.read(WANTED)[0] == b"one"


def test_without_credentials_nothing_is_sent(origin: str, counted: Counted) -> None:
    class NoCredentials:
        async def current(self) -> Credentials:
            raise NotSendable("There are no credentials.")

    states = _states(origin, Clock())
    states.credentials = NoCredentials()
    with pytest.raises(CodeInvalid, match="There are no credentials"):
        states.read(WANTED)
    assert counted.statuses == []
