"""Somebody uses a stolen key at another gateway at the moment in which it is revoked.

Each gateway knows a key for a second without asking the ledger, so that a change could be decided and sent after the record of the revocation.
What must hold: the decision and the revocation are transactions of one ledger, and the later one sees the earlier one. Nothing is sent with a
revoked key, at any gateway, and the attempt is recorded.
"""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.ledger import keyring
from tests.kit.applying import planned, refused
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gate, Gate]]:
    """Two gateways on one ledger, which know a key for an hour without asking, so that the race is always lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyring, "MAX_AGE", 3600.0)
        first, second = (tmp_path_factory.mktemp(name) for name in ("first", "second"))
        with Gate(directory=first) as one, Gate(directory=second, data=first / "data") as other:
            other.keys.update(one.keys)
            yield one, other


def test_nothing_is_sent_with_a_key_that_another_gateway_revoked(both: tuple[Gate, Gate]) -> None:
    one, other = both
    thief = one.issue("thief", kind=ActorKind.HUMAN)
    other.keys.update(one.keys)
    headers = {**other.bearer(thief), "Content-Type": "application/json"}
    body = {
        "service": "sqs",
        "operation": "SetQueueAttributes",
        "parameters": {"QueueUrl": QUEUE, "Attributes": {"DelaySeconds": "7"}},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
    }

    def ask() -> httpx.Response:
        return httpx.post(f"{other.url}/v1/mutations", headers=headers, content=json.dumps(body), timeout=300)

    assert httpx.get(f"{other.url}/v1/claims", headers=headers, timeout=300).status_code == 200
    one.revoke(thief)
    sent = len(other.upstream.asked)
    reply = ask()
    assert (reply.status_code, "was revoked" in reply.text) == (403, True)
    client = boto3.client(
        "sqs",
        endpoint_url=other.url,
        region_name="us-east-1",
        aws_access_key_id=one.keys[thief].id,
        aws_secret_access_key=one.keys[thief].secret,
        config=Config(retries={"total_max_attempts": 1}),
    )
    assert "was revoked" in refused(client.set_queue_attributes, QueueUrl=QUEUE, Attributes={"DelaySeconds": "8"})
    assert len(other.upstream.asked) == sent
    [revoked] = one.records(stage=Stage.KEY_REVOKED)
    later: list[Any] = [each for each in one.records(actor=thief) if each.seq > revoked.seq]
    assert {each.stage for each in later} == {Stage.TURNED_AWAY}


def test_no_session_of_a_plan_is_opened_with_it(both: tuple[Gate, Gate]) -> None:
    one, other = both
    thief = one.issue("pipe", kind=ActorKind.PIPELINE)
    other.keys.update(one.keys)
    change = planned("aws_sqs_queue.fresh", "create", values={"name": "fresh"})
    headers = {**other.bearer(thief), "Content-Type": "application/json"}
    assert httpx.get(f"{other.url}/v1/claims", headers=headers, timeout=300).status_code == 200
    one.revoke(thief)
    body = {"changes": [change], "open_session": {"lasts": "10m"}}
    reply = httpx.post(f"{other.url}/v1/plans", headers=headers, json=body, timeout=300)
    assert (reply.status_code, "was revoked" in reply.text) == (403, True)
