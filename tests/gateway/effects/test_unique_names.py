"""Every name by which a hand-made row identifies a resource was reviewed: it is unique in an account and region, or the row says what else it needs."""

import pytest

from gateway.effects.operation import Operation
from gateway.effects.registry import SERVICES

_IDS = ("id", "arn", "uuid", "grant_id", "zone_id", "key_id")
"""Attributes that AWS makes unique."""
UNIQUE = {
    "aws_ami_copy", "aws_ami_from_instance", "aws_autoscaling_group", "aws_cloudwatch_dashboard", "aws_cloudwatch_log_group", "aws_cloudwatch_metric_alarm",
    "aws_dynamodb_table", "aws_ecs_cluster", "aws_iam_instance_profile", "aws_iam_policy", "aws_iam_role", "aws_iam_service_linked_role", "aws_iam_user", "aws_kms_alias",
    "aws_launch_template", "aws_lb", "aws_lb_target_group", "aws_secretsmanager_secret", "aws_sfn_state_machine", "aws_sns_topic",
    "aws_sqs_queue",
}  # fmt: skip
"""Types whose name no two resources of an account and region share (API reference of each creating operation)."""
WITH_ANOTHER = {
    "aws_batch_job_definition": "each registration is a revision of it",
    "aws_ecs_service": "unique in its cluster, which the row finds it by",
    "aws_ecs_task_definition": "a family: each registration is a revision of it",
    "aws_lb_listener": "the balancer's ARN and a port, by which the row finds it",
    "aws_lb_listener_rule": "the listener's ARN and a priority, by which the row finds it",
    "aws_route53_zone": "several zones may have one name: a creation is another zone",
    "aws_security_group": "unique in its VPC: a name alone means the default VPC's",
}


def _rows() -> dict[str, Operation]:
    return {
        f"{service}:{name}": row
        for service, table in SERVICES.items()
        for name, row in table.items()
        if len(names := set(row.identity.values())) == 1
        and all(isinstance(each, str) and each not in _IDS for each in names)
    }


@pytest.mark.parametrize(("operation", "row"), _rows().items(), ids=_rows().keys())
def test_a_name_alone_identifies_only_where_it_is_unique(operation: str, row: Operation) -> None:
    if row.resource_type in UNIQUE:
        return
    assert row.resource_type in WITH_ANOTHER, f"{operation}: is the name of {row.resource_type} unique?"
    assert row.find_target is not None or not row.unique or row.upserts, f"{operation} takes the name alone"
