"""A report of a checked plan, as `POST /v1/plans` answers it, with every kind of entry and with hostile texts."""

from typing import Any

ASG = "aws_autoscaling_group.kafka_consumer"
HOSTILE = "| <img src=x onerror=1> [click](http://evil) `code` @octocat & \u202e\n# head"


def report(**changes: Any) -> dict[str, Any]:
    """The report, with some members replaced."""
    findings = [
        finding("bounds.max", "deny", "max_size = 40 is over max 16.", source="kafka.sentinel.hcl:13", check="bounds"),
        finding("SEN-A002", "hold", HOSTILE, address='module.a["x|y"].aws_sqs_queue.q', check="arbitration"),
        finding("SEN-A006", "deny", "Too many claims.", address="", attribute="", check="arbitration"),
    ]
    document = {
        "plan": {"id": "pln_1", "stack": "kafka", "digest": "0" * 64, "resources": 2, "effects": 3, "actor": "ci", "motive": None},
        "passes": False,
        "decision": {"verdict": "deny", "mode": "enforce", "findings": findings, "bundle": "b" * 64, "code": "c" * 64},
        "claims": [claim("kept"), claim("undone", holder=HOSTILE)],
        "unjudged": [{"address": ASG, "attribute": "launch_template"}],
        "places": {ASG: "modules/a/main.tf:12"},
        "not_understood": [],
    }  # fmt: skip
    return {**document, **changes}


def finding(rule: str, verdict: str, reason: str, **members: Any) -> dict[str, Any]:
    """One objection."""
    return {"rule": rule, "verdict": verdict, "reason": reason, "address": ASG, "attribute": "max_size", "source": "", "check": "policy", **members}  # fmt: skip


def claim(fate: str, **members: Any) -> dict[str, Any]:
    """One contested claim."""
    motive = {"intent": "availability", "motivation": "incident"}
    return {"id": "clm_1", "address": ASG, "attribute": "max_size", "holder": "agent", "until": "2026-11-22T09:00:00Z", "fate": fate, "planned": 4, "value": 6, "motive": motive, **members}  # fmt: skip
