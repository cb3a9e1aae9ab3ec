"""Squatting, and claims that nobody needs: through whole gateways."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import httpx
import pytest

from gateway.core.errors import Ambiguous
from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.records.record import Stage
from gateway.line.unneeded_claims import UnneededClaims
from tests.kit import nouns
from tests.kit.doubles import NOW, FixedClock
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
GROUP = "aws_autoscaling_group.kafka_consumer"
CLAIM = nouns.claim("aws_sqs_queue.a", "delay", 6, since=NOW)


@dataclass
class World:
    """Stacks and ledger in one: what the code declares, which claims are open, and what was asked."""

    value: Any = 6
    declared: str = "v1"
    open_claims: list[Claim] = field(default_factory=lambda: [CLAIM])
    looks: int = 0
    ended: list[str] = field(default_factory=list)

    def snapshot(self) -> Any:
        return self

    def declaring(self, address: str) -> Any:
        if address == "twice":
            raise Ambiguous("In two stacks.")
        return None if address == "nowhere" else _Stack(self.value)

    async def claims(self, **_: Any) -> list[Claim]:
        self.looks += 1
        return self.open_claims

    async def end_unneeded(self, claims: list[str], at: Any) -> int:
        assert len(claims) <= 200
        self.ended += claims
        return len(claims)


@dataclass
class _Stack:
    value: Any

    def declared(self, address: str, attribute: str) -> Any:
        return self.value


def unneeded(world: World) -> UnneededClaims:
    return UnneededClaims(cast("Any", world), cast("Any", world), FixedClock())


async def test_it_looks_twice_at_each_version_of_the_code() -> None:
    world = World(value=5)
    looking = unneeded(world)
    for _ in range(5):
        await looking.end()
    assert world.looks == 2
    world.declared = "v2"
    for _ in range(5):
        await looking.end()
    assert world.looks == 4


@pytest.mark.parametrize(
    ("claim", "ends"),
    [
        (CLAIM, True),
        (replace(CLAIM, value=7), False),
        (replace(CLAIM, value=None), False),
        (replace(CLAIM, attribute="*"), False),
        (replace(CLAIM, address="nowhere"), False),
        (replace(CLAIM, address="twice"), False),
    ],
)
async def test_only_what_the_code_declares_ends(claim: Claim, ends: bool) -> None:
    world = World(open_claims=[claim])
    assert await unneeded(world).end() == int(ends)


async def test_a_claim_whose_outcome_is_not_known_is_looked_at_until_it_is() -> None:
    world = World(open_claims=[replace(CLAIM, unsettled=True)])
    looking = unneeded(world)
    for _ in range(4):
        assert await looking.end() == 0
    world.open_claims = [CLAIM]
    assert await looking.end() == 1


async def test_many_are_ended_in_parts() -> None:
    world = World(open_claims=[replace(CLAIM, id=f"clm_{number}") for number in range(450)])
    assert await unneeded(world).end() == 450


def scale(gate: Gate, size: int, actor: str, motivation: str = "incident") -> httpx.Response:
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": size},
        "motive": {"intent": "availability", "motivation": motivation, "evidence": ["A-1"]},
    }
    return httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer(actor), timeout=300)


def open_claims(gate: Gate) -> list[Claim]:
    return list(gate.run(gate.ledger.claims()))


def until(happened: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if happened():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen within 300 s")


@pytest.mark.usefixtures("clean")
def test_who_takes_its_own_change_back_holds_nothing_any_more(gate: Gate) -> None:
    declared = 4
    assert scale(gate, declared + 2, "agent").status_code == 200
    assert [claim.value for claim in open_claims(gate)] == [declared + 2]
    assert scale(gate, declared, "agent").status_code == 200
    assert open_claims(gate) == []
    assert scale(gate, declared + 1, "rival", "routine").status_code == 200, "nobody is locked out"
    until(lambda: any(each.end is ClaimEnd.EXPIRED for each in gate.run(gate.ledger.claims(open_only=False))))
    assert any(record.actor == "agent" for record in gate.records(stage=Stage.EXPIRED))


@pytest.mark.usefixtures("clean")
def test_who_defends_what_the_code_declares_keeps_its_claim(gate: Gate) -> None:
    """Setting the declared value against another's change is no way back of one's own."""
    assert scale(gate, 6, "rival", "routine").status_code == 200
    assert scale(gate, 4, "agent").status_code == 200
    assert [(claim.actor, claim.value) for claim in open_claims(gate)] == [("agent", 4)]
    assert scale(gate, 6, "rival", "routine").status_code == 403


@pytest.mark.usefixtures("clean")
def test_a_claim_ends_when_the_code_comes_to_declare_its_value(gate: Gate) -> None:
    assert scale(gate, 6, "agent").status_code == 200
    path = gate.stack / "terraform.tfvars"
    before = path.read_text()
    changed = before.replace("= 4", "= 6", 1)
    assert changed != before, "the code of the test declares 4"
    path.write_text(changed)
    try:
        until(lambda: open_claims(gate) == [])
        [record] = gate.records(stage=Stage.UNNEEDED)
        assert (record.actor, record.body.members["address"]) == ("agent", GROUP)
    finally:
        path.write_text(before)
