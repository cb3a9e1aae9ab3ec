"""A block says what is required, what the call gave, and what a plan would otherwise change; nothing that only the provider decides."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.core.model.json import Json
from reconciler.adoption.agreement import Agreement
from reconciler.adoption.identified import Identified
from reconciler.adoption.new_block import NewBlock, new_block
from reconciler.terraform.plugin.imports import ImportedResource
from reconciler.terraform.plugin.type_schemas import BlockSchema, NestedSchema
from tests.reconciler.adoption.conftest import ProviderDouble, attribute, schema


async def _block(provider: ProviderDouble, live: Mapping[str, Json], *given: str) -> NewBlock:
    resource = ImportedResource(resource_type="aws_x", import_id="x", attributes=live)
    found = Identified(resource=resource, agreement=Agreement(given=frozenset(given)))
    any_provider: Any = provider
    return await new_block(any_provider, found)


async def test_required_and_given_arguments_and_what_the_plan_wants_are_written() -> None:
    own = schema(name="required", arn="computed", size="optional", zone="optional computed", kind="optional computed")
    live = {"id": "x", "name": "a", "arn": "arn:x", "size": "3", "zone": "b", "kind": "c"}
    found = await _block(ProviderDouble({"aws_x": own}), live, "kind")
    assert found.attributes == {"name": "a", "kind": "c", "size": "3"}


async def test_what_the_validation_refuses_is_left_out_if_it_may_be() -> None:
    class Refusing(ProviderDouble):
        async def objections(self, resource_type: str, config: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
            return [("size", "expected size to be in the range (1 - 2), got 3")] if "size" in config else []

    found = await _block(Refusing({"aws_x": schema(name="required", size="optional")}), {"name": "a", "size": "3"})
    assert (found.attributes, found.why_not) == ({"name": "a"}, "")


async def test_what_the_validation_misses_is_added() -> None:
    class Missing(ProviderDouble):
        async def objections(self, resource_type: str, config: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
            sentence = "one of `cidrs,groups` must be specified"
            return [] if "cidrs" in config else [("cidrs", sentence), ("groups", sentence)]

    own = schema(name="required", cidrs="optional computed", groups="optional computed")
    found = await _block(Missing({"aws_x": own}), {"name": "a", "cidrs": "10.0.0.0/8", "groups": ""})
    assert found.attributes == {"name": "a", "cidrs": "10.0.0.0/8"}


async def test_what_stays_refused_is_said_and_not_written() -> None:
    provider = ProviderDouble({"aws_x": schema(name="required")}, objects=[("name", "name is not valid")])
    found = await _block(provider, {"name": "a b"})
    assert found.attributes == {}
    assert "name is not valid" in found.why_not


async def test_a_secret_is_not_written() -> None:
    own = BlockSchema(attributes={"name": attribute("required"), "token": attribute("optional hidden")})
    found = await _block(ProviderDouble({"aws_x": own}), {"name": "a", "token": "hunter2"}, "token")
    assert found.attributes == {"name": "a"}


async def test_a_resource_without_the_default_tags_of_the_code_is_left() -> None:
    class Tagging(ProviderDouble):
        async def planned(self, resource: ImportedResource, config: Mapping[str, Json]) -> Mapping[str, Json]:
            return {**resource.attributes, "tags_all": {"team": "orders"}}

    own = schema(name="required", tags_all="optional computed")
    found = await _block(Tagging({"aws_x": own}), {"name": "a", "tags_all": None})
    assert "default tags" in found.why_not


async def test_blocks_and_documents_are_written_as_such() -> None:
    rule = BlockSchema(
        attributes={"port": attribute("required", "number"), "note": attribute(), "state": attribute("computed")}
    )
    own = BlockSchema(
        attributes={"policy": attribute("required")},
        blocks={"rule": NestedSchema(block=rule, least=1), "extra": NestedSchema(block=rule)},
    )
    live: Mapping[str, Json] = {
        "policy": json.dumps({"a": 1}),
        "rule": [{"port": 1, "note": "", "state": "on"}],
        "extra": [],
    }
    found = await _block(ProviderDouble({"aws_x": own}), live)
    assert found.attributes == {"policy": {"json": {"a": 1}}, "rule": [{"port": 1}]}
