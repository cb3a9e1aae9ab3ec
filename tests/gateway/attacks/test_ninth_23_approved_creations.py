"""A call of a session creates what the plan creates, with another value; a person approves it as what it is.

It counted as no creation of the session, so that all that the apply did next with the new resource was refused, as if it were a stranger's. What
must hold: what a session created is its own, however it was approved, once AWS has created it; and the rest of the plan holds for it as before.
"""

import json

import httpx
import pytest

from tests.gateway.attacks.test_eighth_01_made_by_plans import CREATES, ROLE, TRUST
from tests.kit.applying import Applying, opened, refused
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

DIFFERS = {**CREATES, "Description": "Not in the plan."}
SETS = {"RoleName": "admin", "PolicyDocument": TRUST}
WIDER = json.dumps(
    {**json.loads(TRUST), "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}]}
)


def _approved(gate: Gate, applying: Applying) -> None:
    """Have a person approve the creation that the plan does not have so."""
    said = refused(applying.client("iam").create_role, **DIFFERS)
    mutation = next(word.strip("();,.") for word in said.split() if word.strip("();,.").startswith("mut_"))
    url = f"{gate.url}/v1/mutations/{mutation}/approve"
    assert httpx.post(url, headers=gate.bearer("human"), json={}, timeout=300).status_code < 300


def test_what_a_person_approved_is_a_creation_of_the_session(gate: Gate) -> None:
    applying = opened(gate, ROLE)
    iam = applying.client("iam")
    _approved(gate, applying)
    assert "the plan creates aws_iam_role.fresh" in refused(iam.update_assume_role_policy, **SETS), (
        "an approval creates nothing"
    )
    iam.create_role(**DIFFERS)
    iam.update_assume_role_policy(**SETS)
    assert list(gate.upstream.asked) == ["CreateRole", "UpdateAssumeRolePolicy"]
    refused(iam.update_assume_role_policy, **{**SETS, "PolicyDocument": WIDER})
    gate.run(gate.ledger.verify())


def test_what_aws_refused_to_create_is_not_there(gate: Gate) -> None:
    applying = opened(gate, ROLE)
    _approved(gate, applying)
    gate.upstream.behaviour = "refuse"
    refused(applying.client("iam").create_role, **DIFFERS)
    gate.upstream.behaviour = "ok"
    assert "the plan creates aws_iam_role.fresh" in refused(applying.client("iam").update_assume_role_policy, **SETS)


def test_another_session_of_the_same_plan_has_not_created_it(gate: Gate) -> None:
    applying = opened(gate, ROLE)
    _approved(gate, applying)
    applying.client("iam").create_role(**DIFFERS)
    applying.end()
    refused(opened(gate, ROLE).client("iam").update_assume_role_policy, **SETS)
    assert list(gate.upstream.asked) == ["CreateRole"]
