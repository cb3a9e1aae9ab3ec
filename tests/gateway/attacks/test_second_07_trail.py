"""Anyone with AWS credentials settled a doubt as `failed`: a refused call of theirs with the mutation's id in its user agent did.

The attack: an agent's change ends in doubt. Before AWS carries it out, or long after, a stranger sends the same operation with the
mutation's user agent. What must hold: the stranger's event settles nothing, refused or not; the live values decide, or a human. The
gateway's own refused event settles as failed, but only once AWS accepts the request no more.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.model.outcome import Resolution, SettledBy
from reconciler.drift.in_doubt.live_evidence import DoubtAnswer
from reconciler.drift.in_doubt.read_back import ReadBack
from reconciler.drift.in_doubt.trail_evidence import Trail
from reconciler.terraform.refresh import Refreshed
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GROUP = "aws_autoscaling_group.kafka_consumer"
ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/sentinel"


@dataclass(frozen=True)
class Later:
    """A clock that is ahead."""

    ahead: timedelta

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


SOON, LATE = Later(timedelta(minutes=1)), Later(timedelta(minutes=17))


@pytest.fixture
def doubted(gate: Gate) -> Iterator[str]:
    """A change whose answer never came."""
    gate.upstream.behaviour = "cut"
    with pytest.raises(ClientError):
        gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    gate.upstream.behaviour = "ok"
    [doubt] = gate.run(gate.ledger.in_doubt())
    yield doubt.mutation_id
    settled = Resolution(carried_out=False, by=SettledBy.HUMAN, reason="The test is over.", actor="human")
    gate.run(gate.ledger.resolve(doubt.mutation_id, settled, datetime.now(UTC)))
    gate.release_all()


def event(mutation: str, **members: Any) -> dict[str, Any]:
    """CloudTrail's event of the gateway's own request, refused."""
    own = {
        "eventSource": "autoscaling.amazonaws.com",
        "eventName": "SetDesiredCapacity",
        "eventTime": datetime.now(UTC).isoformat(),
        "errorCode": "AccessDenied",
        "userAgent": f"sentinel/1 mutation/{mutation}",
        "requestID": "r-1",
        "recipientAccountId": ACCOUNT,
        "userIdentity": {
            "type": "AssumedRole",
            "arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/sentinel/i-1",
            "accountId": ACCOUNT,
            "sessionContext": {"sessionIssuer": {"type": "Role", "arn": ROLE}},
        },
    }
    return own | members


def look(gate: Gate, directory: Path, mutation: str, told: dict[str, Any], *, at: Later, live: int) -> DoubtAnswer:
    """What a read-back concludes that finds this event and this live value."""
    (directory / "trail.json").write_text(json.dumps({"Records": [told]}))

    async def read(targets: list[str]) -> Refreshed:
        return Refreshed(read=frozenset(targets), objects={GROUP: {"desired_capacity": live}})

    read_back = ReadBack(
        ledger=gate.ledger,
        queries=gate.ledger,
        clock=at,
        concerns=lambda stack: stack == "kafka",
        read_live=read,
        first_look=timedelta(0),
        settle_after=timedelta(minutes=16),
        trail=Trail(path=directory / "trail.json", identity=ROLE),
    )
    return gate.run(read_back.look(mutation)).answer


STRANGERS: dict[str, dict[str, Any]] = {
    "a reader of the account": {
        "userIdentity": {
            "type": "AssumedRole",
            "arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/agent-reader/x",
            "accountId": ACCOUNT,
            "sessionContext": {"sessionIssuer": {"type": "Role", "arn": f"arn:aws:iam::{ACCOUNT}:role/agent-reader"}},
        }
    },
    "a role that is named alike": {
        "userIdentity": {
            "type": "AssumedRole",
            "sessionContext": {"sessionIssuer": {"type": "Role", "arn": f"arn:aws:iam::{ACCOUNT}:role/x/sentinel"}},
        }
    },
    "a session that is named like the role": {"userIdentity": {"type": "AssumedRole", "arn": ROLE}},
    "a user": {"userIdentity": {"type": "IAMUser", "arn": f"arn:aws:iam::{ACCOUNT}:user/sentinel"}},
    "another account's caller": {"userIdentity": {"type": "AWSAccount", "accountId": "999999999999"}},
    "another account": {"recipientAccountId": "999999999999"},
    "another service": {"eventSource": "evil.amazonaws.com"},
}


@pytest.mark.parametrize("code", ["", "AccessDenied"], ids=["done", "refused"])
@pytest.mark.parametrize("members", STRANGERS.values(), ids=STRANGERS)
def test_a_strangers_call_settles_nothing(
    gate: Gate, tmp_path: Path, doubted: str, members: dict[str, Any], code: str
) -> None:
    told = event(doubted, errorCode=code, **members)
    assert look(gate, tmp_path, doubted, told, at=SOON, live=9) is DoubtAnswer.WAIT
    assert look(gate, tmp_path, doubted, told, at=LATE, live=9) is DoubtAnswer.HUMAN
    if code:
        assert look(gate, tmp_path, doubted, told, at=LATE, live=6) is DoubtAnswer.APPLIED


def test_the_gateways_own_refusal_settles_once_aws_accepts_the_request_no_more(
    gate: Gate, tmp_path: Path, doubted: str
) -> None:
    assert look(gate, tmp_path, doubted, event(doubted), at=SOON, live=9) is DoubtAnswer.WAIT
    assert look(gate, tmp_path, doubted, event(doubted), at=LATE, live=9) is DoubtAnswer.FAILED


def test_the_gateways_own_success_settles_at_once(gate: Gate, tmp_path: Path, doubted: str) -> None:
    assert look(gate, tmp_path, doubted, event(doubted, errorCode=""), at=SOON, live=9) is DoubtAnswer.APPLIED
