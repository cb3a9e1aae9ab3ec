"""Third audit, 05: a parameter that no attribute keeps makes AWS do more than the call's name says.

The attack: an agent resizes a database within its bounds, with `ApplyImmediately`; AWS then also applies what others left to the maintenance
window, with an outage. Siblings force, skip the last snapshot, cascade, restart or overwrite. What must hold: whoever acts alone is held
unless the code declares the same; people and pipelines are held where something critical is touched, or where nothing brings it back.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

CONTRACT = """
contract "controls" {
  resource "aws_db_instance" "reports" {
    managed_by_agent = true
    mutable          = ["instance_class"]
  }

  resource "aws_autoscaling_group" "*" {
    managed_by_agent = true
    allow_delete     = true
  }
}
"""
RESIZE = {"DBInstanceIdentifier": "kafka-reports", "DBInstanceClass": "db.t3.small"}


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway whose contract lets agents resize the database and delete the group."""
    made = Gate(directory=tmp_path_factory.mktemp("gate"))
    (made.stack / "controls.sentinel.hcl").write_text(CONTRACT)
    with made as running:
        yield running


def _verdict(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> tuple[str, set[str]]:
    service, _, name = operation.partition(":")
    motive = {"intent": "consistency", "motivation": "routine"}
    call = {"service": service, "operation": name, "parameters": parameters, "motive": motive, "dry_run": True}
    answer = httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor), timeout=60)
    decision = answer.json()["decision"]
    return decision["verdict"], {finding["rule"] for finding in decision["findings"]}


def test_an_agent_applies_nothing_that_others_left_pending(gate: Gate) -> None:
    assert _verdict(gate, "agent", "rds:ModifyDBInstance", RESIZE)[0] == "allow"
    verdict, rules = _verdict(gate, "agent", "rds:ModifyDBInstance", {**RESIZE, "ApplyImmediately": True})
    assert verdict == "hold"
    assert "SEN-S006" in rules


@pytest.mark.parametrize("kind", ["agent", "service"])
def test_who_acts_alone_does_not_force(gate: Gate, kind: str) -> None:
    forced = {"AutoScalingGroupName": ASG, "ForceDelete": True}
    verdict, rules = _verdict(gate, kind, "autoscaling:DeleteAutoScalingGroup", forced)
    assert verdict != "allow"
    assert "SEN-S006" in rules


@pytest.mark.parametrize("kind", ["human", "pipeline"])
def test_others_may_where_nothing_is_critical(gate: Gate, kind: str) -> None:
    assert _verdict(gate, kind, "rds:ModifyDBInstance", {**RESIZE, "ApplyImmediately": True})[0] == "allow"


@pytest.mark.parametrize("kind", ["agent", "human", "pipeline"])
def test_nothing_is_lost_for_good_by_nobody_alone(gate: Gate, kind: str) -> None:
    asked = {"SecretId": "x", "ForceDeleteWithoutRecovery": True}
    verdict, rules = _verdict(gate, kind, "secretsmanager:DeleteSecret", asked)
    assert verdict != "allow"
    assert "SEN-S006" in rules
