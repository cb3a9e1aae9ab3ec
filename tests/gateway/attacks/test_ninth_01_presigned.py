"""A presigned URL was taken for a signed request, once a letter in the name of its signature was written as an escape (`X-Amz-Signatur%65`).

The verifier read the name decoded, and the door looked for it as it stands. So who saw a presigned URL, days later, got a key of its maker
(GetSessionToken), or changed something in their name. What must hold: the reader of a signature says whether it is presigned, nobody else; a
parameter of a signature is spelled as it is, also beside a signature in the head.
"""

from collections.abc import Iterator

import boto3
import httpx
import pytest
from botocore.config import Config

from gateway.core.model.caller import ActorKind
from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import Signer, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

PARAMETERS = ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature")
CAPACITY = f"/?Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName={ASG}&DesiredCapacity=5"
SESSION = "/?Action=GetSessionToken&Version=2011-06-15"


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with the key of an application, whose calls of the data plane pass."""
    with Gate(directory=tmp_path_factory.mktemp("gate"), account="123456789012") as running:
        running.issue("app", kind=ActorKind.SERVICE)
        yield running


def _signer(gate: Gate, actor: str, service: str) -> Signer:
    key = gate.keys[actor]
    return Signer(url=gate.url, key_id=key.id, secret=key.secret, service=service)


def _escaped(target: str, parameter: str) -> str:
    """The target with the last letter of this parameter's name as an escape."""
    name = f"X-Amz-{parameter}"
    assert f"{name}=" in target
    return target.replace(f"{name}=", f"{name[:-1]}%{ord(name[-1]):02X}=")


@pytest.mark.parametrize("parameter", ["", *PARAMETERS])
@pytest.mark.parametrize(
    ("service", "target"), [("sts", SESSION), ("autoscaling", CAPACITY)], ids=["a key", "a change"]
)
def test_a_presigned_url_gives_no_key_and_changes_nothing(
    gate: Gate, service: str, target: str, parameter: str
) -> None:
    wire = _signer(gate, "human", service).presigned(target=target)
    url = _escaped(wire.target, parameter) if parameter else wire.target
    answer = httpx.get(gate.url + url, headers={"accept": "*/*"}, timeout=60)
    assert answer.status_code in (400, 403), answer.text
    assert "AccessKeyId" not in answer.text
    assert gate.upstream.asked == []


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_signature_in_the_head_has_no_other_one_beside_it(gate: Gate, parameter: str) -> None:
    """Signed with it, so that only the door can refuse it: AWS would be sent two proofs."""
    name = f"X-Amz-{parameter}"
    for spelled in (name, f"{name[:-1]}%{ord(name[-1]):02X}"):
        wire = _signer(gate, "agent", "s3").signed(method="GET", target=f"/data/report.csv?{spelled}=x")
        answer = talk(gate.url, wire.raw)
        assert (answer.status, answer.code) == (400, "AuthorizationHeaderMalformed"), answer.text
    assert gate.upstream.asked == []


def test_what_clients_do_passes(gate: Gate) -> None:
    """URLs of boto3 with keys that need escapes, for reading and for writing; a signed session; a signed read with such a key."""
    key = gate.keys["app"]
    s3 = boto3.client(
        "s3",
        endpoint_url=gate.url,
        region_name="us-east-1",
        aws_access_key_id=key.id,
        aws_secret_access_key=key.secret,
        aws_session_token="a/b+c=",
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )
    name = "year=2026/X-Amz-Signature=1/ä b+c%65.csv"
    read = s3.generate_presigned_url(
        "get_object", Params={"Bucket": "data", "Key": name, "ResponseContentType": "text/csv; x=%65"}, ExpiresIn=60
    )
    assert httpx.get(read, timeout=60).status_code == 200
    write = s3.generate_presigned_url("put_object", Params={"Bucket": "data", "Key": name}, ExpiresIn=60)
    assert httpx.put(write, content=b"a", timeout=60).status_code == 200
    assert s3.get_object(Bucket="data", Key=name)["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert s3.list_objects_v2(Bucket="data", Prefix="X-Amz-Signature")["ResponseMetadata"]["HTTPStatusCode"] == 200
    session = gate.client("sts", "human", motive=None).get_session_token()["Credentials"]
    assert session["AccessKeyId"].startswith("SNTS")
