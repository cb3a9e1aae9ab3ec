"""Row 10: squatting.

An agent restates attributes for `security/vulnerability; evidence=CVE-1; for=365d`, takes a claim on each and locks everybody out.
What must hold: restating takes no claim, and the number of claims of an actor and their length are capped by policy data.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from sqlalchemy import delete, insert

from gateway.core.model.claim import Claim
from gateway.ledger.store.serialize import claim_to_row
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.tables import CLAIMS
from gateway.ledger.store.transaction import Transaction
from gateway.policy.sources import shipped
from tests.kit import nouns
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
GROUP = "sg-0abc1234"
SQUAT = ("security", "vulnerability; evidence=CVE-2026-1; for=7d")
ROUTINE = ("consistency", "routine")
PRIORITIES = json.loads((shipped() / "data" / "priorities.json").read_text())["priorities"]
LIMIT = PRIORITIES["claims_per_actor"]["agent"]
_INSERT = Statement(insert(CLAIMS))
_FORGET = Statement(delete(CLAIMS).where(CLAIMS.c.mutation_id == "mut_hoard"))
Attack = Callable[[Gate], Any]


@pytest.fixture(autouse=True)
def forget_the_hoard(gate: Gate, clean: None) -> Iterator[None]:
    """End the claims that no record gave before the others are released."""
    yield
    gate.run(gate.ledger.write(lambda transaction: transaction.change(_FORGET, {})))


def _claims(gate: Gate) -> list[Claim]:
    return list(gate.run(gate.ledger.claims()))


def _capacity(gate: Gate, actor: str, motive: tuple[str, str], value: int) -> Any:
    return gate.client("autoscaling", actor, motive).set_desired_capacity(
        AutoScalingGroupName=ASG, DesiredCapacity=value
    )


RESTATED: dict[str, Attack] = {
    "a capacity": lambda gate: _capacity(gate, "agent", SQUAT, 4),
    "two attributes at once": lambda gate: gate.client("autoscaling", motive=SQUAT).update_auto_scaling_group(
        AutoScalingGroupName=ASG, DesiredCapacity=4, MaxSize=16
    ),
    "a queue's timeout": lambda gate: gate.client("sqs", motive=SQUAT).set_queue_attributes(
        QueueUrl=QUEUE, Attributes={"VisibilityTimeout": "30"}
    ),
    "a log group's retention": lambda gate: gate.client("logs", motive=SQUAT).put_retention_policy(
        logGroupName="/kafka/consumer/commit", retentionInDays=30
    ),
    "by a session": lambda gate: httpx.post(
        f"{gate.url}/v1/mutations",
        headers=_session(gate),
        json={
            "service": "autoscaling",
            "operation": "SetDesiredCapacity",
            "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 4},
        },
    ).raise_for_status(),
}


def _session(gate: Gate) -> dict[str, str]:
    motive = {"intent": "security", "motivation": "vulnerability", "evidence": ["CVE-2026-1"], "wanted_for": "7d"}
    given = httpx.post(f"{gate.url}/v1/sessions", headers=gate.bearer("agent"), json={"motive": motive}).json()
    return {"Authorization": f"Bearer {given['access_key_id']}.{given['secret_access_key']}"}


@pytest.mark.parametrize("attack", RESTATED.values(), ids=RESTATED.keys())
def test_restating_takes_no_claim(gate: Gate, attack: Attack) -> None:
    attack(gate)
    assert gate.upstream.asked
    assert _claims(gate) == []


@pytest.mark.slow
def test_after_a_hundred_restatements_everybody_else_still_sets_the_attribute(gate: Gate) -> None:
    for _ in range(100):
        _capacity(gate, "agent", SQUAT, 4)
    _capacity(gate, "rival", ROUTINE, 5)
    assert [(claim.actor, claim.value) for claim in _claims(gate)] == [("rival", 5)]


def test_restating_in_turns_freezes_no_attribute(gate: Gate) -> None:
    for number in range(12):
        _capacity(gate, "agent" if number % 2 else "rival", ROUTINE, 4)
    _capacity(gate, gate.issue("third"), ROUTINE, 5)


def test_restating_does_not_prolong_a_claim_of_ones_own(gate: Gate) -> None:
    _capacity(gate, "agent", ("availability", "incident; evidence=A-1; for=1h"), 8)
    [before] = _claims(gate)
    _capacity(gate, "agent", SQUAT, 8)
    assert _claims(gate) == [before]


def test_restating_what_a_weaker_actor_holds_takes_nothing_from_it(gate: Gate) -> None:
    _capacity(gate, "rival", ROUTINE, 8)
    before = _claims(gate)
    _capacity(gate, "agent", SQUAT, 8)
    assert _claims(gate) == before


@pytest.mark.parametrize("lasts", ["365d", "8d", "700000s", "2w"])
def test_a_claim_for_longer_than_the_cap_is_denied_with_the_cap(gate: Gate, lasts: str) -> None:
    with pytest.raises(ClientError) as caught:
        _capacity(gate, "agent", ("security", f"vulnerability; evidence=CVE-2026-1; for={lasts}"), 8)
    assert "a claim may last no longer than 604800" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []


@pytest.mark.parametrize("motivation", ["vulnerability; evidence=CVE-2026-1", "budget", "incident; evidence=A-1"])
def test_no_claim_is_without_an_end(gate: Gate, motivation: str) -> None:
    _capacity(gate, "agent", ("security", motivation), 8)
    [claim] = _claims(gate)
    assert claim.until is not None
    assert claim.until <= datetime.now(UTC) + timedelta(seconds=PRIORITIES["longest_claim_seconds"]["agent"])


def _hoard(gate: Gate, actor: str, count: int, *, lasts: timedelta = timedelta(hours=1)) -> None:
    """Give the actor claims, each on its own resource."""
    since = datetime.now(UTC)
    rows = [
        claim_to_row(
            nouns.claim(
                f"aws_sqs_queue.{actor}{number}",
                "delay_seconds",
                number,
                id=f"clm_{actor}_{number}",
                mutation_id="mut_hoard",
                actor=actor,
                since=since,
                until=since + lasts,
            )
        )
        for number in range(count)
    ]

    def store(transaction: Transaction) -> None:
        transaction.change_each(_INSERT, [{**row, "unsettled": 0} for row in rows])

    gate.run(gate.ledger.write(store))


def test_an_actor_at_its_cap_takes_no_further_claim_until_one_ends(gate: Gate) -> None:
    hoarder = gate.issue("hoarder")
    _hoard(gate, hoarder, LIMIT)
    with pytest.raises(ClientError) as caught:
        _capacity(gate, hoarder, SQUAT, 8)
    assert f"may hold no more than {LIMIT}" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []
    _capacity(gate, hoarder, SQUAT, 4)  # restating is no claim
    _capacity(gate, "rival", ROUTINE, 5)  # and another actor has its own count


def test_the_claims_of_all_keys_of_an_actor_count(gate: Gate) -> None:
    many = gate.issue("many")
    _hoard(gate, many, LIMIT)
    gate.issue("many")
    with pytest.raises(ClientError):
        _capacity(gate, many, SQUAT, 8)


def test_calls_at_the_same_time_do_not_pass_the_cap_together(gate: Gate) -> None:
    fast = gate.issue("fast")
    _hoard(gate, fast, LIMIT - 1)
    gate.upstream.behaviour = "slow"
    attacks: list[Attack] = [
        lambda gate: _capacity(gate, fast, SQUAT, 8),
        lambda gate: gate.client("sqs", fast, SQUAT).set_queue_attributes(
            QueueUrl=QUEUE, Attributes={"VisibilityTimeout": "31"}
        ),
        lambda gate: gate.client("sqs", fast, SQUAT).tag_queue(QueueUrl=QUEUE, Tags={"owner": "fast"}),
    ]

    def denied(attack: Attack) -> bool:
        try:
            attack(gate)
        except ClientError:
            return True
        return False

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(denied, attacks)) == 2
    assert len([claim for claim in _claims(gate) if claim.actor == fast]) == LIMIT
