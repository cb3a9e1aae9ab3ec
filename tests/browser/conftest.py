"""A gateway with something on every page, and one browser for all tests of a file."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser

from gateway.core.model.caller import ActorKind
from tests.kit.chromium import a_browser
from tests.kit.console import held
from tests.kit.gate import ASG, Gate

HOSTILE = "\"><img src=x onerror=alert(1)><script>alert(2)</script>' onload='alert(3) {{7*7}} </textarea>"
"""A text that would act in a page that does not escape it."""


def propose(gate: Gate, actor: str, capacity: int, text: str = "The lag grows") -> Any:
    """Propose a capacity of the group."""
    motive = {"intent": "availability", "motivation": "incident", "text": text, "evidence": ["A-1", text[:100]]}
    parameters = {"AutoScalingGroupName": ASG, "DesiredCapacity": capacity}
    body = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": parameters, "motive": motive}
    return httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=body).json()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser."""
    with a_browser() as running:
        yield running


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway whose pages all have something to show."""
    with Gate(directory=tmp_path_factory.mktemp("busy")) as gate:
        gate.issue("ana", kind=ActorKind.HUMAN, roles=("approver", "operator", "break-glass"))
        for capacity in (6, 8, 7, 10, 60):
            propose(gate, "agent", capacity)
            time.sleep(0.2)  # so that the picture of the history has a width
        propose(gate, "rival", 8)
        held(gate)
        yield gate
