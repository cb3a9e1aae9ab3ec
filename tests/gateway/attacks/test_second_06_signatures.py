"""Second audit, 06: a spent signature was free again once somebody had settled its doubt as failed.

The attack: a signed change ends in doubt, since its connection was cut; a human who sees nothing in CloudTrail yet settles it as failed;
the same signed bytes are sent again under another invocation id and are carried out a second time. What must hold: only a refusal that the
gateway heard itself frees a signature.
"""

from datetime import UTC, datetime

import httpx
import pytest

from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import FORM, MOTIVE, Signer, Wire, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

INVOCATION = "amz-sdk-invocation-id"


def _signed(gate: Gate, capacity: int) -> Wire:
    key = gate.keys["agent"]
    body = f"Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName={ASG}&DesiredCapacity={capacity}"
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret)
    return signer.signed(headers={"content-type": FORM, **MOTIVE}, body=body.encode(), at=datetime.now(UTC))


def _settle(gate: Gate, mutation: str, outcome: str) -> None:
    settled = httpx.post(
        f"{gate.url}/v1/mutations/{mutation}/settle",
        headers=gate.bearer("human"),
        json={"outcome": outcome, "reason": "CloudTrail shows nothing yet"},
        timeout=60,
    )
    assert settled.status_code == 200


@pytest.mark.parametrize(("outcome", "capacity"), [("failed", 6), ("applied", 7)])
def test_a_signature_stays_spent_whatever_its_doubt_is_settled_as(gate: Gate, outcome: str, capacity: int) -> None:
    wire = _signed(gate, capacity)
    gate.upstream.behaviour = "cut"
    doubt = talk(gate.url, wire.adding(INVOCATION, f"{outcome}-one").raw)
    gate.upstream.behaviour = "ok"
    assert doubt.status == 409
    _settle(gate, doubt.headers["x-sentinel-mutation"], outcome)
    again = [talk(gate.url, wire.adding(INVOCATION, f"{outcome}-two").raw), talk(gate.url, wire.raw)]
    assert [(answer.status, answer.code) for answer in again] == [(400, "ThrottlingException")] * 2
    assert gate.upstream.asked == ["SetDesiredCapacity"]
