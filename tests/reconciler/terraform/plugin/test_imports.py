"""Imports say what the provider read, or why there is nothing, and how it wants ids written."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.imports import ImportedResource, NotImported, ProviderImports
from reconciler.terraform.plugin.messages import message

_TYPE = message(
    "TypeSchema",
    key="aws_x",
    value=message("Schema", block=message("Block", attributes=[message("Attribute", name="id", type=b'"string"', computed=True), message("Attribute", name="name", type=b'"string"', required=True)])),
)  # fmt: skip


def _packed(value: object) -> Any:
    return message("DynamicValue", msgpack=msgspec.msgpack.encode(value))


def _refusal(response: str, said: str) -> Any:
    return message(response, diagnostics=[message("Diagnostic", severity=1, summary=said)])


class ProcessDouble:
    """Answers each method as it is told."""

    def __init__(self, answers: Mapping[str, Any], *, ended: bool = False) -> None:
        self.answers, self.ended = answers, ended

    async def call(self, method: str, request: Any, response: str) -> Any:
        return message("TypeSchemasResponse", resources=[_TYPE])

    async def answer(self, method: str, request: Any, response: str, *, seconds: float = 0) -> Any:
        if isinstance(found := self.answers[method], Exception):
            raise found
        return found

    async def has_ended(self) -> bool:
        return self.ended


async def _imports(answers: Mapping[str, Any], *, ended: bool = False) -> ProviderImports:
    process: Any = ProcessDouble(answers, ended=ended)
    return await ProviderImports.of(process)


_IMPORTED = message("ImportResponse", imported=[message("Imported", type_name="aws_x", state=_packed({"id": "a"}))])


async def test_a_resource_is_imported_and_read() -> None:
    read = message("ReadResponse", new_state=_packed({"id": "a", "name": "b"}), private=b"p")
    imports = await _imports({"ImportResourceState": _IMPORTED, "ReadResource": read})
    assert imports.types == ("aws_x",)
    found = await imports.find("aws_x", "a")
    assert isinstance(found, ImportedResource)
    assert (found.attributes, found.private) == ({"id": "a", "name": "b"}, b"p")


async def test_what_is_not_there_is_nothing_without_a_reason() -> None:
    answers = {"ImportResourceState": _IMPORTED, "ReadResource": message("ReadResponse", new_state=_packed(None))}
    assert await (await _imports(answers)).find("aws_x", "a") == NotImported()


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ('Unexpected format of ID ("a"), expected FUNCTION_NAME/ALIAS', "FUNCTION_NAME/ALIAS"),
        ("expected ID in format catalog-id:database-name, received: a", "catalog-id:database-name"),
        ("The ID must be in the form of zone/name", "zone/name"),
        ("wrong format of import ID (a), use: 'api-id/stage-name'", "'api-id/stage-name'"),
        ("couldn't find resource", ""),
    ],
)
async def test_the_provider_says_how_ids_are_written(said: str, form: str) -> None:
    found = await (await _imports({"ImportResourceState": _refusal("ImportResponse", said)})).find("aws_x", "a")
    assert isinstance(found, NotImported)
    assert (found.form, found.never) == (form, False)


async def test_a_type_without_imports_says_so() -> None:
    said = "resource aws_x doesn't support import"
    found = await (await _imports({"ImportResourceState": _refusal("ImportResponse", said)})).find("aws_x", "a")
    assert isinstance(found, NotImported)
    assert found.never


async def test_a_provider_that_does_not_answer_is_slow_and_one_that_ended_is_an_error() -> None:
    late = {"ImportResourceState": PluginUnavailable.because("ImportResourceState failed: Deadline Exceeded.")}
    found = await (await _imports(late)).find("aws_x", "a")
    assert isinstance(found, NotImported)
    assert found.slow
    with pytest.raises(PluginUnavailable):
        await (await _imports(late, ended=True)).find("aws_x", "a")


async def test_objections_name_the_attribute() -> None:
    path = message("AttributePath", steps=[message("Step", attribute="name")])
    against = message("Diagnostic", severity=1, summary="bad", detail="name", attribute=path)
    imports = await _imports({"ValidateResourceTypeConfig": message("ValidateResponse", diagnostics=[against])})
    assert await imports.objections("aws_x", {"name": ""}) == (("name", "bad name"),)


async def test_what_only_an_apply_shows_is_as_it_is() -> None:
    unknown = msgspec.msgpack.Ext(0, b"\x00")
    planned = message("PlanResponse", planned_state=_packed({"id": unknown, "name": "c"}))
    imports = await _imports({"PlanResourceChange": planned})
    resource = ImportedResource(resource_type="aws_x", import_id="a", attributes={"id": "a", "name": "b"})
    assert await imports.planned(resource, {"name": "c"}) == {"id": "a", "name": "c"}
