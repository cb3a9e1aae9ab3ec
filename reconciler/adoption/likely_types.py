"""The resource types that a call may have created, the likeliest first. The provider has the last word: it must read such a resource."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from reconciler.adoption.attribute_names import named_attributes
from reconciler.changes.event_values import EventValues
from reconciler.terraform.plugin.imports import ProviderImports

_MOST: Final = 4
"""Types that are tried when no table names any."""
_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "access-analyzer": ("aws_accessanalyzer_",),
    "acm-pca": ("aws_acmpca_",),
    "airflow": ("aws_mwaa_",),
    "aoss": ("aws_opensearchserverless_",),
    "apigateway": ("aws_api_gateway_", "aws_apigatewayv2_"),
    "application-autoscaling": ("aws_appautoscaling_",),
    "aps": ("aws_prometheus_",),
    "autoscaling": ("aws_autoscaling_", "aws_launch_configuration", "aws_appautoscaling_"),
    "cassandra": ("aws_keyspaces_",),
    "codestar-connections": ("aws_codestarconnections_",),
    "cognito-idp": ("aws_cognito_",),
    "cognito-identity": ("aws_cognito_",),
    "cloudtrail": ("aws_cloudtrail",),
    "config": ("aws_config_",),
    "cloudwatch": ("aws_cloudwatch_",),
    "directconnect": ("aws_dx_",),
    "ds": ("aws_directory_service_",),
    "elasticfilesystem": ("aws_efs_",),
    "elasticbeanstalk": ("aws_elastic_beanstalk_",),
    "elasticloadbalancing": ("aws_lb", "aws_elb", "aws_app_cookie", "aws_proxy_protocol"),
    "elbv2": ("aws_lb",),
    "elasticmapreduce": ("aws_emr_",),
    "ec2": ("aws_ec2_", "aws_vpc_", "aws_ebs_", "aws_"),
    "es": ("aws_opensearch_", "aws_elasticsearch_"),
    "events": ("aws_cloudwatch_event_",),
    "firehose": ("aws_kinesis_firehose_",),
    "kafka": ("aws_msk_",),
    "logs": ("aws_cloudwatch_log_", "aws_cloudwatch_query_"),
    "monitoring": ("aws_cloudwatch_",),
    "network-firewall": ("aws_networkfirewall_",),
    "pipes": ("aws_pipes_",),
    "rds": ("aws_db_", "aws_rds_"),
    "resource-groups": ("aws_resourcegroups_",),
    "route53": ("aws_route53_",),
    "ses": ("aws_ses_", "aws_sesv2_"),
    "email": ("aws_ses_", "aws_sesv2_"),
    "servicediscovery": ("aws_service_discovery_",),
    "sso": ("aws_ssoadmin_",),
    "states": ("aws_sfn_",),
    "stepfunctions": ("aws_sfn_",),
    "vpc-lattice": ("aws_vpclattice_",),
    "waf-regional": ("aws_wafregional_",),
}
"""How the types of a service begin, by event source, where it is not the service's own name."""
_ALIASES: Final = ("aws_alb", "aws_default_", "aws_elasticsearch_")
"""Types that manage what another type manages too, under an older name or only by adopting it."""
_WHOLE_SETS: Final = ("_exclusive", "aws_iam_policy_attachment", "aws_iam_group_membership")
"""Endings of types that manage all parts of a resource at once: one part is never one of them."""
_OF_VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    "subscribe": ("subscription",),
    "authorize": ("rule",),
    "associate": ("association",),
    "attach": ("attachment",),
}
"""What a verb adds to the noun of the resource that it makes."""
_SAYS_LITTLE: Final = frozenset({"configuration", "config", "v2", "new", "to", "with", "from", "for", "in", "of"})
_IRREGULAR: Final[Mapping[str, tuple[str, ...]]] = {
    "apigateway:CreateResource": ("aws_api_gateway_resource",),
    "application-autoscaling:PutScalingPolicy": ("aws_appautoscaling_policy",),
    "application-autoscaling:PutScheduledAction": ("aws_appautoscaling_scheduled_action",),
    "application-autoscaling:RegisterScalableTarget": ("aws_appautoscaling_target",),
    "autoscaling:PutScalingPolicy": ("aws_autoscaling_policy", "aws_appautoscaling_policy"),
    "autoscaling:BatchPutScheduledUpdateGroupAction": ("aws_autoscaling_schedule",),
    "autoscaling:PutScheduledUpdateGroupAction": ("aws_autoscaling_schedule",),
    "autoscaling:RegisterScalableTarget": ("aws_appautoscaling_target",),
    "cloudtrail:CreateTrail": ("aws_cloudtrail",),
    "ec2:AllocateAddress": ("aws_eip",),
    "ec2:AssociateAddress": ("aws_eip_association",),
    "ec2:AttachInternetGateway": ("aws_internet_gateway_attachment",),
    "ec2:AttachVolume": ("aws_volume_attachment",),
    "ec2:CreateImage": ("aws_ami",),
    "ec2:CreateNetworkAclEntry": ("aws_network_acl_rule",),
    "ec2:CreateSnapshot": ("aws_ebs_snapshot",),
    "ec2:CreateVolume": ("aws_ebs_volume",),
    "ec2:RunInstances": ("aws_instance",),
    "eks:CreateNodegroup": ("aws_eks_node_group",),
    "elasticloadbalancing:CreateLoadBalancer": ("aws_lb", "aws_elb"),
    "elasticloadbalancing:CreateRule": ("aws_lb_listener_rule",),
    "elasticloadbalancing:RegisterTargets": ("aws_lb_target_group_attachment",),
    "iam:AddUserToGroup": ("aws_iam_user_group_membership",),
    "iam:CreateLoginProfile": ("aws_iam_user_login_profile",),
    "iam:CreateOpenIDConnectProvider": ("aws_iam_openid_connect_provider",),
    "iam:UploadSSHPublicKey": ("aws_iam_user_ssh_key",),
    "lambda:CreateFunctionUrlConfig": ("aws_lambda_function_url",),
    "lambda:PublishLayerVersion": ("aws_lambda_layer_version",),
    "ecr:SetRepositoryPolicy": ("aws_ecr_repository_policy",),
    "secretsmanager:PutResourcePolicy": ("aws_secretsmanager_secret_policy",),
    "route53:AssociateVPCWithHostedZone": ("aws_route53_zone_association",),
    "route53:ChangeResourceRecordSets": ("aws_route53_record",),
    "route53:CreateHostedZone": ("aws_route53_zone",),
}
"""The types that calls make whose names do not say it."""


def family(service: str, types: Sequence[str]) -> tuple[str, ...]:
    """How the names of a service's types begin; empty if the provider has none."""
    if service in _FAMILIES:
        return _FAMILIES[service]
    own = f"aws_{service.replace('-', '_')}_"
    short = f"aws_{service.replace('-', '')}_"
    return tuple(dict.fromkeys(each for each in (own, short) if any(name.startswith(each) for name in types)))


def likely_types(values: EventValues, provider: ProviderImports, known: Sequence[str]) -> tuple[str, ...]:
    """The types to try. `known` are those that a table names for the operation; without any, names decide.

    A name decides only if each word of the operation is one of the type's.
    """
    irregular = _IRREGULAR.get(f"{values.service}:{values.operation}", ())
    named = [each for each in (known or irregular) if each in provider.types and not _manages_others(each)]
    if named:
        return tuple(sorted(named, key=lambda each: -_score(values, each, provider)))
    starts = family(values.service, provider.types)
    if not starts:
        return ()  # a service that the provider does not know
    wanted = frozenset(_nouns(values))
    together = "".join(word for word in values.noun if word not in values.service)
    of_service = {word for word in wanted if len(word) > 2 and word in values.service}  # noqa: PLR2004  `db` is a word
    found = []
    for name in provider.types:
        if _manages_others(name) or not name.startswith(starts):
            continue
        if wanted and (_joined(name, starts) == together or wanted <= _all_words(name) | of_service):
            found.append(name)
    exact = [name for name in found if _own_words(name, starts) <= wanted]
    best = sorted(exact or found, key=lambda each: (-_score(values, each, provider), len(each)))
    return tuple(best[:_MOST])


def _manages_others(resource_type: str) -> bool:
    return resource_type.startswith(_ALIASES) or resource_type.endswith(_WHOLE_SETS)


def is_named_exactly(values: EventValues, resource_type: str) -> bool:
    """Whether a type has just the words of the operation, beside the name of the service."""
    return _all_words(resource_type) - {"aws", stem(values.service)} == frozenset(_nouns(values)) - {
        stem(values.service)
    }


def _score(values: EventValues, resource_type: str, provider: ProviderImports) -> float:
    """How much of the call a type explains: the words of the operation, and the names of the parameters."""
    wanted = frozenset(_nouns(values))
    own = _own_words(resource_type, family(values.service, provider.types))
    words = len(wanted & own) / max(1, len(wanted | own))
    tops = {each.steps[0] for each in values.asked}
    schema = provider.schema(resource_type)
    explained = sum(bool(named_attributes(top, resource_type, schema)) for top in tops) / max(1, len(tops))
    return 2 * words + explained


def _nouns(values: EventValues) -> Iterator[str]:
    for word in (*values.noun, *_OF_VERBS.get(values.verb, ())):
        if word not in _SAYS_LITTLE:
            yield stem(word)


def _joined(resource_type: str, starts: tuple[str, ...]) -> str:
    """The words of a type after those of its service, as `CreateWorkGroup` may write `workgroup`."""
    start = max((each for each in starts if resource_type.startswith(each)), key=len, default="aws_")
    return resource_type.removeprefix(start).replace("_", "")


@lru_cache(maxsize=4096)
def _all_words(resource_type: str) -> frozenset[str]:
    return frozenset(stem(word) for word in resource_type.split("_"))


@lru_cache(maxsize=4096)
def _own_words(resource_type: str, starts: tuple[str, ...]) -> frozenset[str]:
    start = max((each for each in starts if resource_type.startswith(each)), key=len, default="aws_")
    rest = resource_type.removeprefix(start).removeprefix("_") or resource_type.removeprefix("aws_")
    return frozenset(stem(word) for word in rest.split("_") if word not in _SAYS_LITTLE)


def stem(word: str) -> str:
    """A word without the ending of its plural."""
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004  `policies`, and not `ties`
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word  # noqa: PLR2004  `eks`
