"""The registry of services. A new service costs a file in `services`, one line here, and a test."""

from collections.abc import Mapping

from gateway.effects.operation import Operation
from gateway.effects.services import (
    acm,
    autoscaling,
    batch,
    cloudformation,
    cloudwatch,
    dynamodb,
    ec2,
    ecs,
    elbv2,
    emr,
    event_rules,
    iam,
    kms,
    lambda_,
    logs,
    organizations,
    rds,
    route53,
    s3,
    scheduler,
    secretsmanager,
    sns,
    sqs,
    ssm,
    ssm_documents,
    stepfunctions,
    streams,
)

WITHOUT_RESOURCE = frozenset(
    {
        ("cloudwatch", "PutMetricData"),
        ("xray", "PutTelemetryRecords"),
        ("xray", "PutTraceSegments"),
    }
)
"""(botocore service, operation). They have no effect, so as a mutation each is held for a human."""


SERVICES: Mapping[str, Mapping[str, Operation]] = {
    "acm": acm.CERTIFICATES,
    "acm-pca": acm.AUTHORITIES,
    "autoscaling": autoscaling.OPERATIONS,
    "batch": batch.OPERATIONS,
    "cloudformation": cloudformation.OPERATIONS,
    "cloudwatch": cloudwatch.OPERATIONS,
    "dynamodb": dynamodb.OPERATIONS,
    "ec2": ec2.OPERATIONS,
    "ecs": ecs.OPERATIONS,
    "elbv2": elbv2.OPERATIONS,
    "emr": emr.OPERATIONS,
    "events": {**streams.EVENT_BUSES, **event_rules.OPERATIONS},
    "firehose": streams.FIREHOSE,
    "iam": iam.OPERATIONS,
    "kinesis": streams.KINESIS,
    "kms": kms.OPERATIONS,
    "lambda": lambda_.OPERATIONS,
    "logs": logs.OPERATIONS,
    "organizations": organizations.OPERATIONS,
    "rds": rds.OPERATIONS,
    "route53": route53.OPERATIONS,
    "s3": s3.OPERATIONS,
    "scheduler": scheduler.OPERATIONS,
    "secretsmanager": secretsmanager.OPERATIONS,
    "sns": sns.OPERATIONS,
    "sqs": sqs.OPERATIONS,
    "ssm": {**ssm.OPERATIONS, **ssm_documents.OPERATIONS},
    "stepfunctions": stepfunctions.OPERATIONS,
    "timestream-write": streams.TIMESTREAM,
}
"""botocore service name → operation name → row."""
