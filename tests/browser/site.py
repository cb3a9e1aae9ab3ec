"""Every page of the console, and a gateway with something to show on each of them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.core.model.caller import ActorKind
from tests.kit.console import held
from tests.kit.gate import ASG, Gate

HOSTILE: Final = "\"><img src=x onerror=alert(1)><script>alert(2)</script>' onload='alert(3) {{7*7}} </textarea>"
"""A text that would act in a page that does not escape it."""
RESOURCE: Final = "resource?address=aws_autoscaling_group.kafka_consumer"
PLAYGROUND: Final = "playground?policy=data/disruption.json&of=kafka/kafka.sentinel.hcl"
PAGES: Final = (
    "",
    "changes",
    "feed",
    "approvals",
    "approvals/reject",
    "claims",
    "claims/release",
    "contests",
    "resources",
    "map",
    RESOURCE,
    "drift",
    "write-back",
    "actors",
    "actors/agent",
    "stops/new?scope=actor&name=agent",
    "policy",
    "policy/rules/SEN-C001",
    "policy/numbers",
    "policy/who-wins",
    "replay",
    "ledger",
    PLAYGROUND,
)
"""What is below `/console`, without the pages whose addresses are not known beforehand."""


def every_page(gate: Gate) -> tuple[str, ...]:
    """What is below `/console` at this gateway: each page that the console has, and of one change a held one."""
    [held_call, *_] = _asked(gate, "holds")
    [stop, *_] = _asked(gate, "stops")
    return (*PAGES, f"mutations/{held_call['mutation_id']}", f"stops/{stop['id']}/resume")


def _asked(gate: Gate, name: str) -> Any:
    """What the API lists by this name."""
    return httpx.get(f"{gate.url}/v1/{name}", headers=gate.bearer("ana"), timeout=300).json()[name]


def propose(gate: Gate, actor: str, capacity: int, text: str = "The lag grows") -> Any:
    """Propose a capacity of the group."""
    motive = {"intent": "availability", "motivation": "incident", "text": text, "evidence": ["A-1", text[:100]]}
    parameters = {"AutoScalingGroupName": ASG, "DesiredCapacity": capacity}
    body = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": parameters, "motive": motive}
    return httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=body, timeout=300).json()


@contextmanager
def busy_gate(directory: Path) -> Iterator[Gate]:
    """A gateway whose pages all have something to show. Its person is `ana`."""
    with Gate(directory=directory) as gate:
        gate.issue("ana", kind=ActorKind.HUMAN, roles=("approver", "operator", "break-glass"))
        for capacity in (6, 8, 7, 10, 60):
            propose(gate, "agent", capacity)
            time.sleep(0.2)  # so that the picture of the history has a width
        propose(gate, "rival", 8)
        held(gate)
        stop = {"scope": "service", "name": "glue", "reason": "Jobs of today are done"}
        assert httpx.post(f"{gate.url}/v1/stops", headers=gate.bearer("ana"), json=stop, timeout=300).is_success
        yield gate
