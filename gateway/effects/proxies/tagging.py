"""Splits calls of the Resource Groups Tagging API: each ARN is a resource whose tags are set or removed."""

import re
from collections.abc import Iterator, Mapping

from gateway.effects.call_context import CallContext
from gateway.effects.operation import Operation
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Unread, inner_call, shown
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.values import NotUnderstood

_ARN = re.compile(r"arn:(aws[a-z-]*):([a-z0-9-]+):([a-z0-9-]*):(\d{12}|):(.+)", re.DOTALL)
_NAME = r"[^:/]+"
_TYPES: tuple[tuple[str, str, str], ...] = (
    ("acm", rf"certificate/{_NAME}", "aws_acm_certificate"),
    ("athena", rf"workgroup/{_NAME}", "aws_athena_workgroup"),
    ("backup", rf"backup-vault:{_NAME}", "aws_backup_vault"),
    ("batch", rf"compute-environment/{_NAME}", "aws_batch_compute_environment"),
    ("batch", rf"job-queue/{_NAME}", "aws_batch_job_queue"),
    ("cloudfront", rf"distribution/{_NAME}", "aws_cloudfront_distribution"),
    ("cloudtrail", rf"trail/{_NAME}", "aws_cloudtrail"),
    ("codebuild", rf"project/{_NAME}", "aws_codebuild_project"),
    ("cognito-idp", rf"userpool/{_NAME}", "aws_cognito_user_pool"),
    ("dynamodb", rf"table/{_NAME}", "aws_dynamodb_table"),
    ("ec2", rf"instance/{_NAME}", "aws_instance"),
    ("ec2", rf"internet-gateway/{_NAME}", "aws_internet_gateway"),
    ("ec2", rf"launch-template/{_NAME}", "aws_launch_template"),
    ("ec2", rf"network-interface/{_NAME}", "aws_network_interface"),
    ("ec2", rf"route-table/{_NAME}", "aws_route_table"),
    ("ec2", rf"security-group/{_NAME}", "aws_security_group"),
    ("ec2", rf"subnet/{_NAME}", "aws_subnet"),
    ("ec2", rf"volume/{_NAME}", "aws_ebs_volume"),
    ("ec2", rf"vpc/{_NAME}", "aws_vpc"),
    ("ecr", r"repository/[^:]+", "aws_ecr_repository"),
    ("ecs", rf"cluster/{_NAME}", "aws_ecs_cluster"),
    ("eks", rf"cluster/{_NAME}", "aws_eks_cluster"),
    ("elasticache", rf"cluster:{_NAME}", "aws_elasticache_cluster"),
    ("elasticache", rf"replicationgroup:{_NAME}", "aws_elasticache_replication_group"),
    ("elasticfilesystem", rf"file-system/{_NAME}", "aws_efs_file_system"),
    ("elasticloadbalancing", rf"loadbalancer/(app|net|gwy)/{_NAME}/{_NAME}", "aws_lb"),
    ("elasticloadbalancing", rf"targetgroup/{_NAME}/{_NAME}", "aws_lb_target_group"),
    ("events", rf"event-bus/{_NAME}", "aws_cloudwatch_event_bus"),
    ("events", rf"rule/({_NAME}/)?{_NAME}", "aws_cloudwatch_event_rule"),
    ("firehose", rf"deliverystream/{_NAME}", "aws_kinesis_firehose_delivery_stream"),
    ("glue", rf"crawler/{_NAME}", "aws_glue_crawler"),
    ("glue", rf"job/{_NAME}", "aws_glue_job"),
    ("kinesis", rf"stream/{_NAME}", "aws_kinesis_stream"),
    ("kms", rf"key/{_NAME}", "aws_kms_key"),
    ("lambda", rf"function:{_NAME}", "aws_lambda_function"),
    ("logs", r"log-group:[^:]+", "aws_cloudwatch_log_group"),
    ("rds", rf"cluster:{_NAME}", "aws_rds_cluster"),
    ("rds", rf"db:{_NAME}", "aws_db_instance"),
    ("rds", rf"pg:{_NAME}", "aws_db_parameter_group"),
    ("rds", rf"subgrp:{_NAME}", "aws_db_subnet_group"),
    ("redshift", rf"cluster:{_NAME}", "aws_redshift_cluster"),
    ("s3", _NAME, "aws_s3_bucket"),
    ("secretsmanager", r"secret:[^:]+", "aws_secretsmanager_secret"),
    ("sns", _NAME, "aws_sns_topic"),
    ("sqs", _NAME, "aws_sqs_queue"),
    ("ssm", r"parameter/[^:]+", "aws_ssm_parameter"),
    ("states", rf"activity:{_NAME}", "aws_sfn_activity"),
    ("states", rf"stateMachine:{_NAME}", "aws_sfn_state_machine"),
)
"""Service in the ARN, form of the resource, and the type whose attribute `arn` is the whole ARN, unless it is the id."""
_ARN_IS_ID = frozenset({"aws_sfn_activity"})
"""Types that record their ARN as their id only."""
_SERVICES = {"elasticloadbalancing": "elbv2", "elasticfilesystem": "efs", "states": "stepfunctions"}
"""Service in an ARN → botocore's name, where they differ."""
_WITHOUT_PLACE = frozenset({"cloudfront", "s3"})
"""Services whose ARNs have no region, or no account either."""
_FORMS = tuple((service, re.compile(form), resource_type) for service, form, resource_type in _TYPES)


def _own_arn(_context: CallContext, text: str) -> Mapping[str, str]:
    return {"arn": text}


def _own_id(_context: CallContext, text: str) -> Mapping[str, str]:
    return {"id": text}


def of_arns(context: CallContext) -> Iterator[Parcel]:
    """A call for each resource. Raises `NotUnderstood`."""
    arns = context.call.parameters.get("ResourceARNList")
    removes = context.call.operation == "UntagResources"
    name, rule = ("TagKeys", drop_tags) if removes else ("Tags", set_tags)
    context.allow_only("ResourceARNList", name)
    if not isinstance(arns, (list, tuple)) or not arns:
        raise NotUnderstood("no list of ARNs")
    if len(set(map(str, arns))) != len(arns):
        raise NotUnderstood("an ARN is named twice")
    for text in arns:
        found = _type_of(context, text)
        if found is None:
            yield Unread(f"{shown(text)} is an ARN of a type that is not unpacked, or of another account or region")
            continue
        service, resource_type = found
        own = _own_id if resource_type in _ARN_IS_ID else _own_arn
        parameters = {"ResourceArn": text, name: context.call.parameters.get(name)}
        yield Carried(
            call=inner_call(context, service, "UntagResource" if removes else "TagResource", parameters),
            row=Operation(resource_type=resource_type, identity={"ResourceArn": own}, attributes={name: rule}),
            now=True,
        )


def _type_of(context: CallContext, text: object) -> tuple[str, str] | None:
    """Service and resource type of an ARN; None if it is of no known form, or of another account or region."""
    parts = _ARN.fullmatch(text) if isinstance(text, str) else None
    if parts is None:
        return None
    _, service, region, account, resource = parts.groups()
    if not (region and account) and service not in _WITHOUT_PLACE:
        return None
    try:
        context.require_here(account, region)
    except NotUnderstood:
        return None
    for kind, form, resource_type in _FORMS:
        if kind == service and form.fullmatch(resource):
            return _SERVICES.get(service, service), resource_type
    return None


TAGS = Carrier(unpack=of_arns, own=False)
