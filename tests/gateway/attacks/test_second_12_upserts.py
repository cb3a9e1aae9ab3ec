"""Second audit, 12: what protects a bucket was lifted by a "create", since the state does not have it as a resource of its own.

The attack: versioning and the public access block of a bucket are set in the console. `PutBucketVersioning(Suspended)` is then a "create",
which was said to take nothing away, and switches that `PutPublicAccessBlock` omits were no effects at all. What must hold: a put that AWS
carries out on what exists proves nothing about AWS; what it omits is switched off.
"""

from typing import Any

import httpx
import pytest

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BLOCK = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
ATTACKS: dict[str, dict[str, Any]] = {
    "PutBucketVersioning": {"VersioningConfiguration": {"Status": "Suspended"}},
    "PutPublicAccessBlock": {"PublicAccessBlockConfiguration": {"BlockPublicAcls": True}},
}
EVERYDAY: dict[str, dict[str, Any]] = {
    "PutBucketVersioning": {"VersioningConfiguration": {"Status": "Enabled"}},
    "PutPublicAccessBlock": {"PublicAccessBlockConfiguration": dict.fromkeys(BLOCK, True)},
}


def _verdict(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> str:
    call = {
        "service": "s3",
        "operation": operation,
        "parameters": {"Bucket": "payments", **parameters},
        "motive": {"intent": "consistency", "motivation": "routine"},
        "dry_run": True,
    }
    answer = httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor), timeout=60)
    return str(answer.json()["decision"]["verdict"])


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize(("operation", "parameters"), ATTACKS.items())
def test_a_put_that_takes_protection_away_is_held(
    gate: Gate, actor: str, operation: str, parameters: dict[str, Any]
) -> None:
    assert _verdict(gate, actor, operation, parameters) == "hold"
    assert _verdict(gate, "agent", operation, parameters) == "deny"


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize(("operation", "parameters"), EVERYDAY.items())
def test_a_put_that_protects_passes(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> None:
    assert _verdict(gate, actor, operation, parameters) == "allow"
