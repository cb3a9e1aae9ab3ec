"""Loads all sources, and the kinds of resources and the operations of every service by them."""

import gzip
import json
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from gateway.effects.schema import known_schemas
from tests.tools.effect_sources.cloudformation import cloudformation_types
from tests.tools.effect_sources.counterpart import mapping
from tests.tools.effect_sources.iam import iam_services
from tests.tools.effect_sources.kinds import ServiceKinds, Sources, kinds_of, nouns_made, own_namespaces, prefixes_of
from tests.tools.effect_sources.operation_names import fold
from tests.tools.effect_sources.service_operations import ServiceOperation, operations

ATTRIBUTES = Path("gateway/terraform/contracts/attributes_aws_5.json.gz")
_TELLING = 4
"""Letters that the name of a service must have to be known as the beginning of a type's name."""
_BEGINS = (
    "api",
    "cloudwatch",
    "db",
    "docdb",
    "dx",
    "kinesi",
    "lb",
    "mq",
    "msk",
    "prometheu",
    "route53",
    "schema",
    "sfn",
    "ssm",
)
"""How else the types of services begin, folded, where that is not the name of the service."""


def terraform_attributes() -> Mapping[str, frozenset[str]]:
    """Terraform type → the names of all its attributes and blocks, also of those that only the provider computes."""
    lines = gzip.decompress(ATTRIBUTES.read_bytes()).splitlines()
    return {name: frozenset(names) for name, *names in map(json.loads, lines)}


@lru_cache(maxsize=1)
def service_operations() -> Mapping[str, tuple[ServiceOperation, ...]]:
    """Service → its operations that are not reads."""
    return {service: tuple(each) for service, each in groupby(operations(), key=lambda operation: operation.service)}


def sources() -> Sources:
    """What all sources say."""
    types = tuple(cloudformation_types())
    attributes = terraform_attributes()
    names = {fold(name) for each in service_operations().values() for name in (each[0].service, each[0].service_id)}
    return Sources(
        types=types,
        iam=iam_services(),
        terraform=mapping(),
        attributes=attributes,
        blocks={name: _blocks(schema.kinds) for name, schema in known_schemas(attributes.keys()).items()},
        prefixes=prefixes_of(types),
        begins=(*sorted(name for name in names if len(name) >= _TELLING), *_BEGINS),
    )


def _blocks(kinds: Mapping[str, str]) -> frozenset[str]:
    return frozenset(fold(path) for path, kind in kinds.items() if "block" in kind and "." not in path)


def service_kinds() -> Mapping[str, ServiceKinds]:
    """Service → the kinds of its resources."""
    known = sources()
    services = service_operations()
    own = {service: own_namespaces(each[0], known) for service, each in services.items()}
    made = {service: nouns_made(each) for service, each in services.items()}
    return {
        service: kinds_of(
            each,
            known,
            {
                namespace: made[other]
                for other, namespaces in own.items()
                if other != service
                for namespace in namespaces - own[service]
            },
        )
        for service, each in services.items()
    }
