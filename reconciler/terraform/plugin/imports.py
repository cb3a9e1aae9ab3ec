"""Imports resources by an id through a running provider, as `terraform import` does, and asks it which of their values code must set.

Nothing is written: an import and a plan only read. An id that is not one is refused by the provider, which then says how ids are written.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from gateway.core.model.json import Json
from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.messages import message
from reconciler.terraform.plugin.process import ERROR, ProviderProcess
from reconciler.terraform.plugin.type_schemas import BlockSchema, conformed, proposed, read_block

_SECONDS: Final = 8.0
"""How long one import or read may take: a provider that waits for something that is not there is not waited for."""
_NOT_IMPORTED: Final = re.compile(r"support import|Import Not Implemented", re.IGNORECASE)
_EXPECTED: Final = re.compile(
    r"\b(?:expected|use:?|must be(?! in the form)|in (?:the )?form(?:at)?(?: of)?:?)\s+(?P<form>[^\n]{2,300}?)"
    r"(?=\n|$|,?\s(?:expected|use:|in (?:the )?form(?:at)?|received|got|but got)\b)",
    re.IGNORECASE,
)
_NO_ANSWER: Final = f"The provider gave no answer within {_SECONDS:g} seconds."
_VALIDATE: Final = "ValidateResourceTypeConfig"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedResource:
    """A resource as the provider reads it."""

    resource_type: str
    import_id: str
    attributes: Mapping[str, Json]
    private: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotImported:
    """Why an id gave no resource."""

    reason: str = ""
    """What the provider said; empty if there is just no such resource."""
    form: str = ""
    """How ids of the type are written, if the provider said so: `<function-name>/<alias>`."""
    slow: bool = False
    """Whether the provider gave no answer in time."""
    never: bool = False
    """Whether the type cannot be imported at all."""


@dataclass(slots=True, kw_only=True)
class ProviderImports:
    """Imports through one provider that is configured already."""

    process: ProviderProcess
    schemas: Mapping[str, BlockSchema] = field(default_factory=dict)
    _messages: Mapping[str, Any] = field(default_factory=dict)
    _read: dict[str, BlockSchema] = field(default_factory=dict)

    @classmethod
    async def of(cls, process: ProviderProcess) -> "ProviderImports":
        """The imports of a provider, whose schemas are asked for. Raises `errors.PluginUnavailable`."""
        answer = await process.call("GetSchema", message("Empty"), "TypeSchemasResponse")
        return cls(process=process, _messages={each.key: each.value.block for each in answer.resources})

    @property
    def types(self) -> Sequence[str]:
        """The resource types that the provider knows."""
        return tuple(self._messages)

    def schema(self, resource_type: str) -> BlockSchema:
        """The schema of a type; an empty one if the provider does not have the type."""
        if resource_type not in self._read:
            block = self._messages.get(resource_type)
            self._read[resource_type] = BlockSchema() if block is None else read_block(block)
        return self._read[resource_type]

    async def find(self, resource_type: str, import_id: str) -> ImportedResource | NotImported:
        """The resource with this id. Raises `errors.PluginUnavailable` if the provider does not run any more."""
        asked = message("ImportRequest", type_name=resource_type, id=import_id)
        answer = await self._asked("ImportResourceState", asked, "ImportResponse")
        if isinstance(answer, str):
            return _refused(answer)
        own = [each for each in answer.imported if each.type_name == resource_type]
        if not own:
            return NotImported(reason=f"The import of {resource_type} gave none.")
        request = message("ReadRequest", type_name=resource_type, current_state=own[0].state, private=own[0].private)
        live = await self._asked("ReadResource", request, "ReadResponse")
        if isinstance(live, str):
            return _refused(live)
        attributes = decoded(live.new_state)
        if attributes is None:
            return NotImported()
        return ImportedResource(
            resource_type=resource_type, import_id=import_id, attributes=attributes, private=live.private
        )

    async def objections(self, resource_type: str, config: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
        """What the provider's validation refuses: the attribute, which is empty if it names none, and a sentence.

        Raises `errors.PluginUnavailable` if the provider does not run any more.
        """
        full = conformed(config, self.schema(resource_type))
        asked = message("ValidateRequest", type_name=resource_type, config=_packed(full))
        answer = await self._asked(_VALIDATE, asked, "ValidateResponse")
        if isinstance(answer, str):
            return (("", answer),)
        return tuple(
            (each.attribute.steps[0].attribute if each.attribute.steps else "", f"{each.summary} {each.detail}".strip())
            for each in answer.diagnostics
            if each.severity == ERROR
        )

    async def planned(self, resource: ImportedResource, config: Mapping[str, Json]) -> Mapping[str, Json] | str:
        """The attributes that the resource would have with this configuration, or why it cannot be planned. What only an apply
        shows is as it is. Raises `errors.PluginUnavailable` if the provider does not run any more.
        """
        schema = self.schema(resource.resource_type)
        full = conformed(config, schema)
        asked = message(
            "PlanRequest",
            type_name=resource.resource_type,
            prior_state=_packed(conformed(resource.attributes, schema)),
            proposed_new_state=_packed(proposed(full, resource.attributes, schema)),
            config=_packed(full),
            prior_private=resource.private,
        )
        answer = await self._asked("PlanResourceChange", asked, "PlanResponse")
        if isinstance(answer, str):
            return answer
        found = decoded(answer.planned_state) or {}
        return {name: resource.attributes.get(name) if _open(value) else value for name, value in found.items()}

    async def _asked(self, method: str, request: Any, response: str) -> Any:
        """The answer, or what was said against it. Raises `errors.PluginUnavailable` if the provider does not run any more."""
        try:
            answer = await self.process.answer(method, request, response, seconds=_SECONDS)
        except PluginUnavailable as error:
            if await self.process.has_ended():
                raise
            return _NO_ANSWER if "Deadline Exceeded" in str(error) else str(error)
        errors = [f"{each.summary} {each.detail}".strip() for each in answer.diagnostics if each.severity == ERROR]
        return "; ".join(errors) if errors and method != _VALIDATE else answer


def _refused(said: str) -> NotImported:
    if said == _NO_ANSWER:
        return NotImported(reason=said, slow=True)
    found = [each["form"].strip() for each in _EXPECTED.finditer(said)]
    form = found[-1] if found else ""
    return NotImported(reason=" ".join(said.split())[:300], form=form, never=bool(_NOT_IMPORTED.search(said)))


def _packed(value: Mapping[str, Json]) -> Any:
    return message("DynamicValue", msgpack=msgspec.msgpack.encode(value))


def decoded(value: Any) -> Mapping[str, Any] | None:
    """A resource's attributes from MessagePack, or JSON; what is not known yet stays as `msgspec.msgpack.Ext`."""
    found: Mapping[str, Any] | None = (
        msgspec.msgpack.decode(value.msgpack) if value.msgpack else json.loads(value.json or b"null")
    )
    return found


def _open(value: object) -> bool:
    """Whether any part of a value is only known after an apply."""
    match value:
        case msgspec.msgpack.Ext():
            return True
        case dict():
            return any(map(_open, value.values()))
        case list():
            return any(map(_open, value))
    return False
