"""A gateway after a lively night: six actors, refusals, three similar holds, standing claims, a write-back that waits for a merge, broken glass."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.core.model.caller import ActorKind
from tests.kit.bodies import written_back
from tests.kit.gate import ASG, Gate

LAG: Final = {"intent": "availability", "motivation": "incident", "text": "Consumer lag grows", "evidence": ["A-1"]}
THRIFT: Final = {"intent": "cost", "motivation": "budget", "text": "Nights need fewer consumers", "evidence": []}
TRIAL: Final = {"intent": "performance", "motivation": "experiment", "text": "How far does it scale?", "evidence": []}
REPLAYS: Final = {
    "orders-march": "OPS-41: this replay sends old orders again",
    "orders-april": "OPS-42: the replay of April overloads the shop",
    "payments-april": "OPS-43: payments of April are done",
}
"""Name of a replay that `event-keeper` wants to cancel → why. The three calls differ in nothing else."""
_ACTORS: Final = ("lag-scaler", "cost-saver", "log-keeper", "event-keeper", "load-tester")


@contextmanager
def lively_gate(directory: Path) -> Iterator[Gate]:
    """The gateway, its night over. Its person is `ana`."""
    with Gate(directory=directory) as gate:
        gate.issue("ana", kind=ActorKind.HUMAN, roles=("approver", "operator", "break-glass"))
        gate.issue("oncall", kind=ActorKind.HUMAN, roles=("break-glass",))
        for actor in _ACTORS:
            gate.issue(actor)
        _night(gate)
        yield gate


def ask(gate: Gate, actor: str, call: tuple[str, str], parameters: dict[str, Any], motive: dict[str, Any]) -> Any:
    """Propose a call of (service, operation); the answer's JSON."""
    service, operation = call
    body = {"service": service, "operation": operation, "parameters": parameters, "motive": motive}
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=body, timeout=300)
    assert reply.status_code < HTTPStatus.INTERNAL_SERVER_ERROR, reply.text
    return reply.json()


def capacity(gate: Gate, actor: str, wanted: int, motive: dict[str, Any]) -> Any:
    """Propose a capacity of the group."""
    return ask(
        gate,
        actor,
        ("autoscaling", "SetDesiredCapacity"),
        {"AutoScalingGroupName": ASG, "DesiredCapacity": wanted},
        motive,
    )


def _night(gate: Gate) -> None:
    retention = {"intent": "compliance", "motivation": "routine", "text": "Keep logs for a month", "evidence": []}
    kept = ask(
        gate,
        "log-keeper",
        ("logs", "PutRetentionPolicy"),
        {"logGroupName": "/kafka/consumer/ingest", "retentionInDays": 30},
        retention,
    )
    written = {"merged": False, "commit": "c0ffee5eed", "branch": "sentinel/kafka"}
    gate.run(
        gate.ledger.record_reconciliation(kept["mutation"]["id"], at=datetime.now(UTC), body=written_back(written))
    )
    ask(
        gate,
        "log-keeper",
        ("logs", "PutRetentionPolicy"),
        {"logGroupName": "/kafka/consumer/commit", "retentionInDays": 60},
        retention,
    )
    for wanted in (6, 8, 11):
        capacity(gate, "lag-scaler", wanted, LAG)
        time.sleep(0.1)  # so that the picture of the history has a width
    capacity(gate, "lag-scaler", 40, LAG)
    capacity(gate, "cost-saver", 4, THRIFT)
    for wanted in range(30, 42):
        capacity(gate, "load-tester", wanted, TRIAL)
    for name, text in REPLAYS.items():
        ask(gate, "event-keeper", ("events", "CancelReplay"), {"ReplayName": name}, {**LAG, "text": text})
    stuck = ask(gate, "oncall", ("events", "CancelReplay"), {"ReplayName": "stuck"}, LAG)["mutation"]["id"]
    broken = httpx.post(
        f"{gate.url}/v1/mutations/{stuck}/break-glass",
        headers=gate.bearer("oncall"),
        json={"reason": "Orders are lost, INC-7"},
        timeout=300,
    )
    assert broken.is_success, broken.text
    ask(gate, "oncall", ("events", "CancelReplay"), {"ReplayName": "stuck"}, LAG)
