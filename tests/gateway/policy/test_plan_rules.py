"""What the policies' data say about sessions of plans."""

import json
from typing import Any

from gateway.core.model.caller import ActorKind
from gateway.core.model.plan_session import PlanRules
from gateway.policy.plan_rules import plan_rules
from gateway.policy.sources import shipped


def test_the_shipped_data_name_what_guardrails_judge() -> None:
    data: dict[str, Any] = {}
    for path in (shipped() / "data").glob("*.json"):
        data |= json.loads(path.read_text())
    rules = plan_rules(data)
    assert rules.openers == {ActorKind.HUMAN, ActorKind.PIPELINE}
    assert {"iam", "sts", "organizations"} <= rules.exact_services
    assert rules.counted["aws_instance"] == "MaxCount"
    assert "aws_dynamodb_table" in rules.stores
    assert rules.is_guarded("aws_sqs_queue", "policy")
    assert rules.is_guarded("aws_x", "block.publicly_accessible")
    assert rules.is_guarded("aws_api_gateway_method", "authorization")
    assert not rules.is_guarded("aws_sqs_queue", "delay_seconds")
    assert not rules.is_guarded("aws_sqs_queue", "endpoint")


def test_data_without_plans_let_people_and_pipelines_open_sessions() -> None:
    assert plan_rules({}) == PlanRules()
    assert plan_rules({"plans": {"open_sessions": ["agent"]}}).openers == {ActorKind.AGENT}
    assert plan_rules({"plans": {"open_sessions": []}}).openers == frozenset()
