"""The stub answers every protocol in a form that our own proof of success takes, and counts."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from gateway.aws.client.credentials import FixedCredentials
from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.http_client import Client
from gateway.aws.client.mutations import Aws
from gateway.aws.client.signer import RequestSigner
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied
from gateway.core.service_models import ServiceModels
from tests.kit.upstream import SIMULATED

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]


class Now:
    def now(self) -> datetime:
        return datetime.now(UTC)


@pytest.fixture
async def stub() -> AsyncIterator[str]:
    script = Path(__file__).with_name("stub.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(script), "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    line = await process.stdout.readline()
    yield f"http://127.0.0.1:{line.decode().rpartition(':')[2].strip()}"
    process.terminate()
    await process.wait()


CALLS = [
    Call(service="autoscaling", operation="SetDesiredCapacity", parameters={"AutoScalingGroupName": "a", "DesiredCapacity": 1}, region="us-east-1"),
    Call(service="sqs", operation="SetQueueAttributes", parameters={"QueueUrl": "http://q", "Attributes": {}}, region="us-east-1"),
    Call(service="ec2", operation="CreateVpc", parameters={"CidrBlock": "10.0.0.0/16"}, region="us-east-1"),
]  # fmt: skip


async def test_mutations_are_applied_and_counted(stub: str) -> None:
    models, client = ServiceModels(), Client(connect_seconds=300, reply_seconds=300)
    endpoints = Endpoints(models=models, regions=("us-east-1",), simulated=stub)
    signer = RequestSigner(FixedCredentials(SIMULATED), Now())
    aws = Aws(models=models, endpoints=endpoints, signer=signer, client=client)
    for call in CALLS:
        assert isinstance(await aws.send(await aws.prepare(call, "mut_1")), Applied)
    await client.close()
    async with aiohttp.ClientSession() as session, session.get(f"{stub}/_count") as answer:
        assert json.loads(await answer.read()) == {"SetDesiredCapacity": 1, "SetQueueAttributes": 1, "CreateVpc": 1}
