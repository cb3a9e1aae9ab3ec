"""A page in a bucket acted as the console: a presigned URL opened it at the gateway's own address, which is the console's too.

An agent makes a presigned URL of an object of type HTML, which anybody wrote who may write to a bucket, and leaves it where a person clicks
on it. Its script read the console with the person's session, and sent its forms: `Sec-Fetch-Site` said `same-origin`. What must hold: what
a browser can open at the door of AWS has no rights at this origin, whatever AWS answers with.
"""

from collections.abc import Iterator
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config

from gateway.core.model.caller import ActorKind
from tests.kit.gate import Gate
from tests.kit.signed_requests import Signer, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    with Gate(directory=tmp_path_factory.mktemp("gate")) as running:
        running.issue("app", kind=ActorKind.SERVICE)
        yield running


def _s3(gate: Gate, actor: str) -> Any:
    key = gate.keys[actor]
    return boto3.client(
        "s3",
        endpoint_url=gate.url,
        region_name="us-east-1",
        aws_access_key_id=key.id,
        aws_secret_access_key=key.secret,
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )


def _confined(answer: httpx.Response) -> bool:
    policies = answer.headers.get_list("content-security-policy")
    return policies == ["sandbox"] and answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_a_page_that_a_presigned_url_opens_is_in_a_sandbox(gate: Gate) -> None:
    url = _s3(gate, "agent").generate_presigned_url(
        "get_object", Params={"Bucket": "data", "Key": "report", "ResponseContentType": "text/html"}, ExpiresIn=604_800
    )
    gate.upstream.behaviour = "html"
    answer = httpx.get(url, timeout=60)
    assert answer.headers["content-type"].startswith("text/html")
    assert "<html>" in answer.text
    assert _confined(answer)
    gate.upstream.behaviour = "refuse"
    assert _confined(httpx.get(url, timeout=60)), "S3's own errors are XML"


@pytest.mark.parametrize(
    "target", ["/data/a.html", "/data/a.html?X-Amz-Signature=x", "/x/<script>", "/?X-Amz-Algorithm=x"], ids=str
)
def test_so_is_every_refusal_that_a_browser_can_open(gate: Gate, target: str) -> None:
    answer = httpx.get(gate.url + target, timeout=60)
    assert answer.status_code >= 400
    assert _confined(answer)


def test_the_answer_to_a_form_is_in_a_sandbox(gate: Gate) -> None:
    fields = {"success_action_status": "201"}
    form = _s3(gate, "app").generate_presigned_post("data", "a", Fields=fields, Conditions=[fields])
    answer = httpx.post(form["url"], data=form["fields"], files={"file": b"a"}, timeout=60)
    assert answer.status_code == 201, answer.text
    assert _confined(answer)


def test_what_programs_get_is_as_aws_sent_it(gate: Gate) -> None:
    """A signature in the head is no browser's."""
    key = gate.keys["agent"]
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret, service="s3")
    signed = talk(gate.url, signer.signed(method="GET", target="/data/a").raw)
    assert (signed.status, "content-security-policy" in signed.headers) == (200, False)
