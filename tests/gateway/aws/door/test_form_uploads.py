"""Browser forms through a whole gateway: what boto3's presigned POST makes, and what S3 answers."""

import re
from typing import Any

import httpx
import pytest

from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

FILE = b"0123456789" * 20_000


def _post(
    gate: Gate, actor: str = "service", file: bytes = FILE, change: dict[str, str] | None = None, **more: str
) -> httpx.Response:
    client = gate.client("s3", actor, motive=None, signature_version="s3v4")
    fields = {"Content-Type": "text/plain", "x-amz-meta-a": "b", **more}
    conditions: list[Any] = [["starts-with", "$Content-Type", "text/"], ["content-length-range", 10, 1 << 20]]
    conditions += [{name: value} for name, value in fields.items() if name != "Content-Type"]
    form = client.generate_presigned_post("bucket", "up/${filename}", Fields=fields, Conditions=conditions)
    day = form["fields"]["x-amz-date"][:8]
    changed = {name: value.replace("{day}", day) for name, value in (change or {}).items()}
    return httpx.post(form["url"], data={**form["fields"], **changed}, files={"file": ("a b.txt", file)}, timeout=300)


def test_the_file_becomes_an_object(gate: Gate) -> None:
    answer = _post(gate)
    assert (answer.status_code, answer.headers["location"]) == (204, f"{gate.url}/bucket/up/a%20b.txt")
    assert (gate.upstream.asked, gate.upstream.bodies) == (["PUT /bucket/up/a b.txt"], [FILE])
    sent = {name.lower(): value for name, value in gate.upstream.headers[0].items()}
    assert (sent["content-type"], sent["x-amz-meta-a"], sent["content-length"]) == ("text/plain", "b", str(len(FILE)))
    # Nothing of the form's own proof goes to AWS.
    assert gate.keys["service"].id not in str(sent)


def test_it_is_counted_as_a_form(gate: Gate) -> None:
    _post(gate)
    gate.run(gate.app._aws.data._counts.flush())
    bodies: list[Any] = [record.body.members for record in gate.records() if record.stage.value == "passed"]
    assert ("PutObject", "form") in {(body["call"]["operation"], body["door"]) for body in bodies}


def test_a_form_says_how_it_is_answered(gate: Gate) -> None:
    assert _post(gate, success_action_status="200").status_code == 200
    created = _post(gate, success_action_status="201")
    assert (created.status_code, "<Key>up/a b.txt</Key>" in created.text) == (201, True)
    redirected = _post(gate, success_action_redirect="https://app.example/done?x=1")
    assert redirected.status_code == 303
    assert redirected.headers["location"].startswith(
        "https://app.example/done?x=1&bucket=bucket&key=up%2Fa+b.txt&etag="
    )


def test_the_old_name_of_the_redirect_counts_too(gate: Gate) -> None:
    answer = _post(gate, redirect="https://app.example/done")
    assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "https://app.example/done")


def test_an_error_of_aws_is_passed_on(gate: Gate) -> None:
    gate.upstream.behaviour = "refuse"
    answer = _post(gate)
    assert (answer.status_code, "NoSuchBucket" in answer.text) == (404, True)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"actor": "agent"}, "data_plane"),
        ({"change": {"key": "elsewhere"}}, "AccessDenied"),
        ({"change": {"acl": "public-read"}}, "AccessDenied"),
        ({"change": {"x-amz-signature": "0" * 64}}, "SignatureDoesNotMatch"),
        ({"change": {"x-amz-date": ""}}, "InvalidArgument"),
        ({"change": {"x-amz-credential": "AKIA/{day}/us-east-1/s3/aws4_request"}}, "SignatureDoesNotMatch"),
        ({"tagging": "<Tagging/>"}, "PutObjectTagging"),
        ({"file": b"short"}, "EntityTooSmall"),
        ({"file": bytes((1 << 20) + 1)}, "EntityTooLarge"),
    ],
)
def test_what_the_form_does_not_allow_is_refused_and_recorded(gate: Gate, more: dict[str, Any], code: str) -> None:
    before = len(gate.records())
    answer = _post(gate, **more)
    assert (answer.status_code >= 400, code in answer.text) == (True, True), answer.text
    # In the form in which S3 refuses: its clients look for the code there.
    assert answer.headers["content-type"] == "application/xml"
    assert re.search("<Error><Code>[A-Za-z]+</Code><Message>.*</Message><RequestId>.+</RequestId>", answer.text)
    assert gate.upstream.bodies == []
    assert len(gate.records()) > before
