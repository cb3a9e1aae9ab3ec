"""CloudTrail's names of AWS services, where they differ from those of the SDKs."""

from collections.abc import Mapping
from typing import Final

_SERVICES: Final[Mapping[str, tuple[str, ...]]] = {
    "access-analyzer": ("accessanalyzer",),
    "airflow": ("mwaa",),
    "aoss": ("opensearchserverless",),
    "apigateway": ("apigateway", "apigatewayv2"),
    "aps": ("amp",),
    "autoscaling": ("autoscaling", "application-autoscaling"),
    "cassandra": ("keyspaces",),
    "elasticfilesystem": ("efs",),
    "elasticloadbalancing": ("elbv2", "elb"),
    "elasticmapreduce": ("emr",),
    "email": ("ses", "sesv2"),
    "es": ("opensearch", "es"),
    "kinesisanalytics": ("kinesisanalyticsv2", "kinesisanalytics"),
    "models": ("lexv2-models", "lex-models"),
    "monitoring": ("cloudwatch",),
    "rds": ("rds", "neptune", "docdb"),
    "ses": ("ses", "sesv2"),
    "sso": ("sso-admin",),
    "states": ("stepfunctions",),
    "tagging": ("resourcegroupstaggingapi",),
}
"""botocore's services by event source without `.amazonaws.com`."""
_SOURCES: Final[Mapping[str, str]] = {
    name: source for source, names in reversed(list(_SERVICES.items())) for name in names if name not in _SERVICES
}


def services_of(source: str) -> tuple[str, ...]:
    """Botocore's names of the services that an event source may be."""
    return _SERVICES.get(source, (source,))


def source_of(service: str) -> str:
    """The event source of a botocore service, without `.amazonaws.com`."""
    return _SOURCES.get(service, service)
