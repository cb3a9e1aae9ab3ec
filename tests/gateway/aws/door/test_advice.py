"""Advice is for the client that asks."""

import pytest

from gateway.aws.door import advice
from gateway.aws.door.advice import ClientKind, client_of, unsigned_payload_advice
from tests.kit.doubles import inbound

AGENTS = {
    ClientKind.BOTO3: "Boto3/1.43.11 md/Botocore#1.43.11 ua/2.1 os/linux md/arch#x86_64 lang/python#3.11.7",
    ClientKind.CLI: "aws-cli/2.38.5 md/awscrt#0.31.2 ua/2.1 os/linux lang/python#3.14.8 Botocore/1.43.11",
    ClientKind.JAVASCRIPT: "aws-sdk-js/3.1162.0 ua/2.1 os/linux#6.1 lang/js md/nodejs#20.20.2 api/s3#3.1162.0",
    ClientKind.GO: "aws-sdk-go-v2/1.47.7 ua/2.1 os/linux lang/go#1.26.8 md/GOOS#linux api/s3#1.114.8",
    ClientKind.TERRAFORM: "APN/1.0 HashiCorp/1.0 Terraform/1.11.4 terraform-provider-aws/5.100.0 aws-sdk-go-v2/1.36.3",
    ClientKind.OTHER: "curl/8.5.0",
}


@pytest.mark.parametrize(("kind", "agent"), AGENTS.items(), ids=AGENTS)
def test_a_client_is_told_by_its_user_agent(kind: ClientKind, agent: str) -> None:
    assert client_of(inbound(headers=(("user-agent", agent),))) is kind


def test_a_browser_says_it_in_a_header_of_its_own() -> None:
    headers = (("user-agent", "Mozilla/5.0"), ("x-amz-user-agent", AGENTS[ClientKind.JAVASCRIPT]))
    assert client_of(inbound(headers=headers)) is ClientKind.JAVASCRIPT


def test_long_headers_say_the_same_and_are_not_remembered() -> None:
    before = advice._client.cache_info().currsize
    for number in range(3):
        agent = f"{AGENTS[ClientKind.BOTO3]} {number}{'x' * 2_000}"
        assert client_of(inbound(headers=(("user-agent", agent),))) is ClientKind.BOTO3
    assert advice._client.cache_info().currsize == before


def test_every_client_has_its_own_advice() -> None:
    told = {kind: unsigned_payload_advice(inbound(headers=(("user-agent", agent),))) for kind, agent in AGENTS.items()}
    assert len(set(told.values())) == len(ClientKind)
    assert "boto3" not in told[ClientKind.JAVASCRIPT] + told[ClientKind.GO] + told[ClientKind.OTHER]
