"""Somebody with the key of a person or a pipeline sends a contract for a replay with hundreds of conditions, each just within its own limit.

One request of 47 KB kept both threads of replays for minutes, where the time of a page was looked at only between batches of decisions: the gateway
answered everybody at half its speed, and nobody else replayed anything. What must hold: the time of a page bounds its contracts too, nothing is
evaluated after it, and what was not evaluated is not remembered as an outcome.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gateway.terraform.contracts import text
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

_CONDITION = """
  enforce {
    condition     = self.desired_capacity + %d > 0
    error_message = "no"
  }
"""
_MANY = 50
CONTRACT = f"""
contract "others" {{
  owner = "others"

  resource "aws_autoscaling_group" "*" {{
    managed_by_agent = true
    mutable          = ["desired_capacity"]
  }}
{"".join(_CONDITION % number for number in range(_MANY))}
}}
"""


@pytest.fixture
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway that has decided about some changes."""
    with Gate(directory=tmp_path_factory.mktemp("gate")) as running:
        for wanted in (3, 4, 5):
            running.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=wanted)
        yield running


def test_the_time_of_a_page_bounds_its_contracts(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[str] = []
    outcome = text._outcome

    def counted(parsed: Any, written: str, scope: Any) -> Any:
        if "desired_capacity +" in written:
            evaluated.append(written)
        return outcome(parsed, written, scope)

    monkeypatch.setattr(text, "_outcome", counted)

    def replayed(before: int) -> httpx.Response:
        body = {"contracts": {"files": {"others.sentinel.hcl": CONTRACT}}, "before_seq": before}
        return httpx.post(f"{gate.url}/v1/replay", headers=gate.bearer("pipeline"), json=body, timeout=300)

    with monkeypatch.context() as short:
        short.setattr("gateway.policy.replay.MOST_SECONDS", 0.0)
        late = replayed(0)
    assert (late.status_code, late.json()["code"]) == (httpx.codes.BAD_REQUEST, "policy_invalid")
    assert "took longer" in late.text
    assert evaluated == []
    # The further pages of a replay are judged by the contracts of its first one: these know of no outcome.
    page = replayed(2**62).json()
    assert (page["replayed"], page["flips"]) == (3, [])
    assert len(evaluated) == 3 * _MANY
