"""Reads CloudFormation's resource types, as cfn-lint ships them: which actions their handlers need in which phase, and their identifiers."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from importlib.resources import files
from typing import Any


class Phase(StrEnum):
    """The handlers that change something."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFormationType:
    """One resource type, e.g. `AWS::SQS::Queue`."""

    name: str
    handlers: Mapping[str, frozenset[Phase]]
    """IAM action in lower case (`sqs:createqueue`) → the phases whose handler needs it."""
    identifier: tuple[str, ...]
    """The properties that identify a resource together."""
    properties: frozenset[str]
    """Names of properties, also of those inside others."""

    @property
    def namespace(self) -> str:
        """`SQS` of `AWS::SQS::Queue`."""
        return self.name.split("::")[1]

    @property
    def noun(self) -> str:
        """`Queue` of `AWS::SQS::Queue`."""
        return self.name.split("::")[2]


def cloudformation_types() -> Iterator[CloudFormationType]:
    """Every type, sorted by name."""
    directory = files("cfnlint") / "data" / "schemas" / "resources"
    schemas = [json.loads(path.read_bytes()) for path in directory.iterdir() if path.name.endswith(".json")]
    yield from sorted((read_type(schema) for schema in schemas), key=lambda found: found.name)


def read_type(schema: Mapping[str, Any]) -> CloudFormationType:
    """The type that a schema of CloudFormation's registry describes."""
    handlers: dict[str, set[Phase]] = {}
    for phase in Phase:
        for permission in schema.get("handlers", {}).get(phase.value, {}).get("permissions", ()):
            handlers.setdefault(permission.lower(), set()).add(phase)
    return CloudFormationType(
        name=schema["typeName"],
        handlers={action: frozenset(phases) for action, phases in handlers.items() if "*" not in action},
        identifier=tuple(pointer.rpartition("/")[2] for pointer in schema.get("primaryIdentifier", ())),
        properties=frozenset(_property_names(schema)),
    )


def _property_names(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from schema.get("properties", {})
    for definition in schema.get("definitions", {}).values():
        if isinstance(definition, dict):
            yield from definition.get("properties", {})


def source_version() -> str:
    """The version of the package that the types come from."""
    return version("cfn-lint")
