"""A provider that has the resources that a test gives it, and stacks of code that refer to none of a cloud."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from reconciler.adoption.adoption import DeclaredStack
from reconciler.changes.cloudtrail import Event, events_of
from reconciler.terraform.plugin.imports import ImportedResource, NotImported
from reconciler.terraform.plugin.type_schemas import AttributeSchema, BlockSchema


def attribute(how: str = "optional", kind: Json = "string") -> AttributeSchema:
    """`how` are words: required, optional, computed, hidden."""
    return AttributeSchema(
        kind=kind,
        required="required" in how,
        optional="optional" in how,
        computed="computed" in how,
        hidden="hidden" in how,
    )


def schema(**attributes: str) -> BlockSchema:
    """A schema of texts, with an id."""
    return BlockSchema(attributes={"id": attribute("computed"), **{k: attribute(how) for k, how in attributes.items()}})


@dataclass(slots=True)
class ProviderDouble:
    """Answers as the provider does, from what it was given."""

    schemas: Mapping[str, BlockSchema]
    resources: Mapping[tuple[str, str], Mapping[str, Json]] = field(default_factory=dict)
    refusals: Mapping[str, NotImported] = field(default_factory=dict)
    """What is said of every other id, by type."""
    objects: Sequence[tuple[str, str]] = ()
    tried: list[tuple[str, str]] = field(default_factory=list)

    @property
    def types(self) -> Sequence[str]:
        return tuple(self.schemas)

    def schema(self, resource_type: str) -> BlockSchema:
        return self.schemas.get(resource_type, BlockSchema())

    async def find(self, resource_type: str, import_id: str) -> ImportedResource | NotImported:
        self.tried.append((resource_type, import_id))
        found = self.resources.get((resource_type, import_id))
        if found is None:
            return self.refusals.get(resource_type, NotImported())
        return ImportedResource(resource_type=resource_type, import_id=import_id, attributes=found)

    async def objections(self, resource_type: str, config: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
        return [each for each in self.objects if each[0] in config]

    async def planned(self, resource: ImportedResource, config: Mapping[str, Json]) -> Mapping[str, Json]:
        own = self.schema(resource.resource_type)
        return {
            name: value if config.get(name) is None and _computed(own, name) else config.get(name)
            for name, value in resource.attributes.items()
        }


def _computed(own: BlockSchema, name: str) -> bool:
    return name in own.attributes and own.attributes[name].computed


QUEUE = schema(name="required", arn="computed", url="computed", kms_key_id="optional")
POLICY = schema(role="required", name="optional computed", policy="required")


@pytest.fixture
def stack(tmp_path: Path) -> Callable[..., DeclaredStack]:
    """A stack of the given code, whose state has these attributes by address."""

    def given(code: str = "", **declared: Mapping[str, Json]) -> DeclaredStack:
        (tmp_path / "main.tf").write_text(code)
        return DeclaredStack(
            code=load_module(tmp_path), declared={name.replace("__", "."): own for name, own in declared.items()}
        )

    return given


def event(name: str, asked: Any = None, answered: Any = None, **more: Any) -> Event:
    """The event of a call, `service:Operation`."""
    service, _, operation = name.partition(":")
    record = {
        "eventSource": f"{service}.amazonaws.com",
        "eventName": operation,
        "eventTime": "2026-11-20T10:00:00Z",
        "awsRegion": "eu-west-1",
        "recipientAccountId": "123456789012",
        "userIdentity": {"type": "IAMUser", "userName": "ada"},
        "requestParameters": asked,
        "responseElements": answered,
        **more,
    }
    (found,) = events_of([record], "test").events
    return found
