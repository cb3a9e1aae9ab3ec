"""Advises which setting to change in the client that sent a request, chosen by its `User-Agent`."""

from enum import StrEnum
from functools import lru_cache

from gateway.core.model.inbound import Inbound


class ClientKind(StrEnum):
    """The AWS clients that Sentinel can advise."""

    BOTO3 = "boto3"
    CLI = "aws-cli"
    JAVASCRIPT = "javascript"
    GO = "go"
    TERRAFORM = "terraform"
    OTHER = "other"


_MARKS = (
    ("terraform", ClientKind.TERRAFORM),
    ("aws-cli/", ClientKind.CLI),
    ("aws-sdk-js/", ClientKind.JAVASCRIPT),
    ("aws-sdk-go-v2/", ClientKind.GO),
    ("aws-sdk-go/", ClientKind.GO),
    ("boto3/", ClientKind.BOTO3),
    ("botocore/", ClientKind.BOTO3),
)
"""Words in user agents, the more specific first: the CLI's has botocore's in it, and Terraform's the Go SDK's."""

_UNSIGNED = {
    ClientKind.BOTO3: "boto3: Config(request_checksum_calculation='when_required', s3={'payload_signing_enabled': True}).",
    ClientKind.CLI: "AWS CLI: `aws configure set default.s3.payload_signing_enabled true` and "
    "`aws configure set default.request_checksum_calculation when_required`.",
    ClientKind.JAVASCRIPT: "JavaScript SDK: give the body as a string or Uint8Array, not as a stream, and set "
    "requestChecksumCalculation: 'WHEN_REQUIRED'.",
    ClientKind.GO: "Go SDK: give the body as an io.ReadSeeker, and set RequestChecksumCalculation to "
    "aws.RequestChecksumCalculationWhenRequired.",
    ClientKind.TERRAFORM: "Terraform: set AWS_REQUEST_CHECKSUM_CALCULATION=when_required.",
    ClientKind.OTHER: "State the SHA-256 of the body in x-amz-content-sha256 and sign it.",
}


def client_of(inbound: Inbound) -> ClientKind:
    """The client that sent the request, as its user agent says."""
    own, usual = inbound.by_name.get("x-amz-user-agent", ""), inbound.by_name.get("user-agent", "")
    # Only short headers are remembered: 256 long ones would be megabytes that a client chose.
    return _client(own, usual) if len(own) + len(usual) <= _LONGEST else _client.__wrapped__(own, usual)


_LONGEST = 1024
"""Characters of the two headers, which an SDK needs a few hundred of."""


@lru_cache(maxsize=256)
def _client(own: str, usual: str) -> ClientKind:
    agent = f"{own} {usual}".lower()
    return next((kind for mark, kind in _MARKS if mark in agent), ClientKind.OTHER)


def unsigned_payload_advice(inbound: Inbound) -> str:
    """How this client is made to sign the body of a request."""
    return _UNSIGNED[client_of(inbound)]
