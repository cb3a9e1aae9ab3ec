"""Makes cases.json: requests signed by botocore, so that the verifier is held to botocore also where the AWS vectors are not at hand.

Run with `python tests/cases/sigv4/make_cases.py` after raising botocore; the diff shows what its signer does otherwise.
"""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import botocore.auth
import botocore.awsrequest
import botocore.credentials

BOTO: Any = botocore
"""Untyped."""
AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ACCESS, SECRET = "SNTLEXAMPLE000000001", "example-secret/with+signs"
FORM = "application/x-www-form-urlencoded; charset=utf-8"
REQUESTS: list[tuple[str, str, str, str, str, dict[str, str], bytes]] = [
    # name, signer, signing name, method, target, headers, body
    (
        "query",
        "v4",
        "autoscaling",
        "POST",
        "/",
        {"Content-Type": FORM},
        b"Action=SetDesiredCapacity&Version=2011-01-01&DesiredCapacity=6",
    ),
    (
        "json",
        "v4",
        "sqs",
        "POST",
        "/",
        {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AmazonSQS.CreateQueue"},
        b'{"QueueName": "x"}',
    ),
    (
        "cbor",
        "v4",
        "monitoring",
        "POST",
        "/service/GraniteServiceVersion20100801/operation/DeleteAlarms",
        {"Content-Type": "application/cbor", "Smithy-Protocol": "rpc-v2-cbor"},
        b"\xbf\xff",
    ),
    (
        "motive",
        "v4",
        "autoscaling",
        "POST",
        "/",
        {
            "Content-Type": FORM,
            "X-Sentinel-Intent": "availability",
            "X-Sentinel-Motivation": "incident;  evidence=alert/42",
        },
        b"Action=A",
    ),
    (
        "rest path encoded twice",
        "v4",
        "lambda",
        "GET",
        "/2015-03-31/functions/arn%3Aaws%3Alambda%3Aus-east-1%3A1%3Afunction%3Af/configuration?Qualifier=%24LATEST",
        {},
        b"",
    ),
    (
        "query order",
        "v4",
        "apigateway",
        "GET",
        "/restapis?position=b&limit=2&a=&a=1",
        {"Accept": "application/json"},
        b"",
    ),
    ("s3 odd key", "s3", "s3", "PUT", "/bucket/a%20b/../c%2Bd//%C3%A9", {"x-amz-meta-note": "two  blanks"}, b"data"),
    ("s3 sub-resource", "s3", "s3", "GET", "/bucket?lifecycle", {}, b""),
    ("s3 presigned get", "s3query", "s3", "GET", "/bucket/key%20x?response-content-type=text%2Fplain", {}, b""),
    ("sts presigned", "query", "sts", "GET", "/?Action=GetCallerIdentity&Version=2011-06-15", {}, b""),
]
SIGNERS = {
    "v4": BOTO.auth.SigV4Auth,
    "s3": BOTO.auth.S3SigV4Auth,
    "query": BOTO.auth.SigV4QueryAuth,
    "s3query": BOTO.auth.S3SigV4QueryAuth,
}


def case(request: tuple[str, str, str, str, str, dict[str, str], bytes]) -> dict[str, Any]:
    """One request as it goes over the wire."""
    name, signer, service, method, target, headers, body = request
    sent = BOTO.awsrequest.AWSRequest(method=method, url="https://gateway.example" + target, headers=headers, data=body)
    with mock.patch("botocore.auth.get_current_datetime", return_value=AT.replace(tzinfo=None)):
        SIGNERS[signer](BOTO.credentials.Credentials(ACCESS, SECRET), service, "us-east-1").add_auth(sent)
    wire = {"host": "gateway.example"} | {key.lower(): value for key, value in sent.headers.items()}
    return {
        "name": name,
        "service": service,
        "method": method,
        "target": sent.url.removeprefix("https://gateway.example"),
        "headers": sorted(wire.items()),
        "body": base64.b64encode(body).decode(),
    }


if __name__ == "__main__":
    cases = {
        "access_key_id": ACCESS,
        "secret": SECRET,
        "at": AT.isoformat(),
        "cases": [case(request) for request in REQUESTS],
    }
    Path(__file__).with_name("cases.json").write_text(json.dumps(cases, indent=1) + "\n")
