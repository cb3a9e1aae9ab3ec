"""The registry of services. A new service costs a file in `services`, one line here, and a test."""

from collections.abc import Mapping

from gateway.effects.operation import Operation
from gateway.effects.services import (
    autoscaling,
    cloudwatch,
    dynamodb,
    ec2,
    ecs,
    elbv2,
    events,
    firehose,
    iam,
    kinesis,
    kms,
    lambda_,
    logs,
    rds,
    route53,
    s3,
    secretsmanager,
    sns,
    sqs,
    ssm,
    timestream_write,
)

SERVICES: Mapping[str, Mapping[str, Operation]] = {
    "autoscaling": autoscaling.OPERATIONS,
    "cloudwatch": cloudwatch.OPERATIONS,
    "dynamodb": dynamodb.OPERATIONS,
    "ec2": ec2.OPERATIONS,
    "ecs": ecs.OPERATIONS,
    "elbv2": elbv2.OPERATIONS,
    "events": events.OPERATIONS,
    "firehose": firehose.OPERATIONS,
    "iam": iam.OPERATIONS,
    "kinesis": kinesis.OPERATIONS,
    "kms": kms.OPERATIONS,
    "lambda": lambda_.OPERATIONS,
    "logs": logs.OPERATIONS,
    "rds": rds.OPERATIONS,
    "route53": route53.OPERATIONS,
    "s3": s3.OPERATIONS,
    "secretsmanager": secretsmanager.OPERATIONS,
    "sns": sns.OPERATIONS,
    "sqs": sqs.OPERATIONS,
    "ssm": ssm.OPERATIONS,
    "timestream-write": timestream_write.OPERATIONS,
}
"""botocore service name → operation name → row."""
