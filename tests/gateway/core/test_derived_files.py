"""The derived rows that ship, of every origin: they are in the one form, and name only what AWS, the provider and CloudFormation have."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.models.routing_index import models
from gateway.core.derived_rows import DIRECTORY, Confidence, DerivedRow, Origin, file_text, rows_of_text
from gateway.core.model.mutation import EffectAction
from gateway.effects.schema import known_schemas
from tests.tools.effect_sources.cloudformation import cloudformation_types
from tests.tools.effect_sources.iam import iam_services

pytestmark = pytest.mark.slow

FILES = {path.name.removesuffix(".json"): path for path in DIRECTORY.iterdir() if path.name.endswith(".json")}
NAMES = Path("gateway/terraform/contracts/attributes_aws_5.json.gz")


@lru_cache(maxsize=1)
def rows() -> tuple[DerivedRow, ...]:
    return tuple(row for service, path in sorted(FILES.items()) for row in rows_of_text(service, path.read_bytes()))


@lru_cache(maxsize=1)
def botocore_models() -> Mapping[str, Mapping[str, Any]]:
    return dict(models())


def test_there_are_rows() -> None:
    assert len(rows()) > 5_000


def test_each_file_has_the_text_that_its_rows_give() -> None:
    for service, path in FILES.items():
        text = path.read_bytes()
        found = sorted(rows_of_text(service, text), key=lambda row: row.origin)

        assert file_text(service, json.loads(text)["sources"], tuple(found)).encode() == text, service


def test_an_origin_has_one_row_for_an_operation_and_a_type() -> None:
    seen = Counter((row.service, row.operation, row.resource_type, row.origin) for row in rows())

    assert [key for key, count in seen.items() if count > 1] == []


def test_operations_and_parameters_are_those_of_botocore() -> None:
    unknown = []
    for row in rows():
        model = botocore_models()[row.service]
        definition = model["operations"].get(row.operation)
        if definition is None:
            unknown.append(f"{row.service}:{row.operation}")
            continue
        shape = definition.get("input", {}).get("shape")
        named = (*row.identity, *row.attributes, *row.removes, *row.constants, *row.controls, *row.unexplained)
        unknown += [
            f"{row.service}:{row.operation} {path}"
            for path in named
            if not has_member(model["shapes"], shape, tuple(path.split(".")))
        ]

    assert unknown == []


def has_member(shapes: Mapping[str, Any], shape: str | None, steps: tuple[str, ...]) -> bool:
    """Whether the path leads somewhere. Members of lists have no step; keys of maps and of JSON documents are free."""
    if not steps or shape is None:
        return not steps
    described = shapes[shape]
    if described.get("document"):
        return True
    match described["type"]:
        case "list":
            return has_member(shapes, described["member"]["shape"], steps)
        case "map":
            return has_member(shapes, described["value"]["shape"], steps[1:])
        case "structure":
            member = described.get("members", {}).get(steps[0])
            return member is not None and has_member(shapes, member["shape"], steps[1:])
        case _:
            return bool(described["type"] == "string")


def test_types_and_attributes_are_those_of_the_provider() -> None:
    lines = gzip.decompress(NAMES.read_bytes()).splitlines()
    names = {name: frozenset(attributes) for name, *attributes in map(json.loads, lines)}
    schemas = known_schemas({row.resource_type for row in rows()})
    provider = [row for row in rows() if row.resource_type.startswith("aws_")]
    assert {row.resource_type for row in provider} - names.keys() == set()
    unknown = [
        f"{row.service}:{row.operation} {row.resource_type} {attribute}"
        for row in provider
        for attribute in attributes(row)
        if attribute.split(".")[0] not in names[row.resource_type] and not schemas[row.resource_type].knows(attribute)
    ]

    assert unknown == []


def attributes(row: DerivedRow) -> Iterator[str]:
    """The attributes that a row names."""
    yield from (source.attribute for source in (*row.identity.values(), *row.attributes.values()))
    yield from row.removes.values()


def test_other_types_are_those_of_cloudformation_and_iam() -> None:
    known = {
        *(each.name for each in cloudformation_types()),
        *(f"{prefix}:{name}" for prefix, service in iam_services().items() for name in service.variables),
    }

    others = {row.resource_type for row in rows() if not row.resource_type.startswith("aws_")}

    assert others - known == set()


def test_only_the_provider_and_people_say_what_an_attribute_becomes() -> None:
    model = [row for row in rows() if row.origin is Origin.MODEL]

    assert [row for row in model if row.attributes or row.confidence is Confidence.ATTRIBUTES] == []


def test_a_row_that_is_certain_of_the_resource_says_how_the_call_names_it() -> None:
    certain = [row for row in rows() if row.origin is Origin.MODEL and row.confidence is Confidence.RESOURCE]

    assert [row for row in certain if not row.identity and row.actions != {EffectAction.CREATE}] == []
