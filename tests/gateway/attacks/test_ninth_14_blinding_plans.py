"""A plan declares what no call may do alone: encryption switched off for an account, a filter that hides findings, a control that is disabled.

Such calls are held by their names, which a plan does not have: it has resources. What must hold: what blinds a watcher is held in a plan too, by
what the plan declares, unless the reviewed code declares it.
"""

from typing import Any

import pytest

from tests.kit.applying import ask, planned
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]
CONTROL = "arn:aws:securityhub:us-east-1:123456789012:control/cis/v/1.2.0/1.1"

BLINDING = {
    "aws_ebs_encryption_by_default": {"enabled": False},
    "aws_ebs_snapshot_block_public_access": {"state": "unblocked"},
    "aws_guardduty_detector": {"enable": False},
    "aws_guardduty_filter": {"detector_id": "d", "name": "all", "action": "ARCHIVE", "rank": 1},
    "aws_guardduty_ipset": {
        "detector_id": "d",
        "name": "all",
        "activate": True,
        "format": "TXT",
        "location": "s3://b/k",
    },
    "aws_macie2_account": {"status": "PAUSED"},
    "aws_securityhub_standards_control": {"standards_control_arn": CONTROL, "control_status": "DISABLED"},
}


def _held(gate: Gate, change: dict[str, Any]) -> list[str]:
    _, report = ask(gate, "pipeline", change)
    return [each["rule"] for each in report["decision"]["findings"] if each["verdict"] == "hold"]


@pytest.mark.parametrize("kind", sorted(BLINDING))
def test_a_plan_that_blinds_a_watcher_waits_for_a_person(gate: Gate, kind: str) -> None:
    assert _held(gate, planned(f"{kind}.it", "create", values=BLINDING[kind])) == ["SEN-D006"]


def test_what_watches_is_made_and_switched_on_by_any_plan(gate: Gate) -> None:
    on: dict[str, dict[str, Any]] = {
        "aws_ebs_encryption_by_default": {"enabled": True},
        "aws_guardduty_detector": {"enable": True},
        "aws_guardduty_filter": {"detector_id": "d", "name": "none", "action": "NOOP", "rank": 1},
        "aws_config_config_rule": {"name": "rule"},
    }
    for kind, values in on.items():
        assert _held(gate, planned(f"{kind}.it", "create", values=values)) == []
