"""The arguments that the block of a created resource must have, so that a plan of it changes nothing. The provider itself is asked what it would change."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.model.json import Json
from reconciler.adoption.identified import Identified
from reconciler.terraform.compare import same
from reconciler.terraform.json_documents import document_in
from reconciler.terraform.plugin.imports import ProviderImports
from reconciler.terraform.plugin.type_schemas import NOT_WRITTEN, BlockSchema, rows

_ROUNDS: Final = 8
_MISSES: Final = re.compile(r"missing|must be specified|is required|required argument|must be set", re.IGNORECASE)
"""In a sentence of a validation that wants another argument too, and is not against one that is there."""
_ALL_TAGS: Final = "tags_all"
_DEFAULT_TAGS: Final = "It lacks the default tags of the code's provider, so a plan with its block would change it. Tag it so, or add its block by hand."
_NOTHING: Final[tuple[Json, ...]] = (None, "", [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBlock:
    """The arguments of a block, or why there can be none."""

    attributes: Mapping[str, Json]
    """A list of maps is written as blocks, a map in `json` as `jsonencode`."""
    why_not: str = ""
    """A sentence; empty if the block can be written."""


async def new_block(provider: ProviderImports, found: Identified) -> NewBlock:
    """The block of a resource: what is required, what the call gave, and whatever else a plan would otherwise change.

    What only the provider decides is left out. Raises `errors.PluginUnavailable` if the provider ends.
    """
    return await _Builder(
        provider=provider,
        found=found,
        schema=provider.schema(found.resource.resource_type),
        config={},
        refused=set(),
        whole=set(),
    ).build()


@dataclass(slots=True, kw_only=True)
class _Builder:
    provider: ProviderImports
    found: Identified
    schema: BlockSchema
    config: dict[str, Json]
    refused: set[str]
    """What the provider's own validation does not accept, although it is live."""
    whole: set[str]
    """Nested blocks that are written with all that they have."""

    @property
    def live(self) -> Mapping[str, Json]:
        return self.found.resource.attributes

    async def build(self) -> NewBlock:
        given = self.found.agreement.given
        for name, attribute in self.schema.attributes.items():
            if attribute.hidden and attribute.required:
                return NewBlock(
                    attributes={}, why_not=f"Its {name} may be a secret, and no secret is written into code."
                )
            asked = name in given and attribute.optional and not attribute.deprecated
            if name not in NOT_WRITTEN and (attribute.required or (asked and self._is_set(name))):
                self._add(name)
        for name, nested in self.schema.blocks.items():
            if name not in NOT_WRITTEN and rows(self.live.get(name)) and (nested.least or name in given):
                self._add(name)
        return await self._completed()

    async def _completed(self) -> NewBlock:
        objection = ""
        for _ in range(_ROUNDS):
            objections = await self.provider.objections(self.found.resource.resource_type, self.config)
            objection = "; ".join(sentence for _, sentence in objections)
            if objections:
                before = frozenset(self.config)
                met = [self._met(name, sentence, before) for name, sentence in objections]
                if not any(met):
                    break
                continue
            planned = await self.provider.planned(self.found.resource, self.config)
            if isinstance(planned, str):
                objection = planned
                break
            changed = self._changed(planned)
            completed = [self._completes(name) for name in changed]
            if not any(completed):
                if not changed and not same(planned.get(_ALL_TAGS), self.live.get(_ALL_TAGS)):
                    return NewBlock(attributes={}, why_not=_DEFAULT_TAGS)
                break
        if objection:
            said = " ".join(objection.split())[:300]
            return NewBlock(
                attributes={}, why_not=f"The provider does not accept what is live as its configuration: {said}"
            )
        return NewBlock(attributes={name: _written(value) for name, value in self.config.items()})

    def _changed(self, planned: Mapping[str, Json]) -> list[str]:
        names = [*self.schema.attributes, *self.schema.blocks]
        return [
            name
            for name in names
            if name in planned and name not in NOT_WRITTEN and not same(planned[name], self.live.get(name))
        ]

    def _completes(self, name: str) -> bool:
        """Add what the plan would change; whether the block says more than before."""
        if name in self.refused:
            return False
        before = self.config.get(name)
        if name in self.schema.blocks and before is not None:
            self.whole.add(name)
        attribute = self.schema.attributes.get(name)
        if attribute is not None and (not attribute.settable or attribute.hidden):
            return False
        self._add(name)
        return self.config.get(name) != before

    def _met(self, name: str, sentence: str, before_it: frozenset[str]) -> bool:
        """Do what the provider's validation asks for: leave out what it refuses, or say what it misses. Whether that was possible.

        Of several objections to one configuration, which had these arguments, the first that is met may meet the others too.
        """
        if name in before_it and not _MISSES.search(sentence):
            return self._without(name)
        before = dict(self.config)
        for each in (name, *re.findall(r"\w+", sentence)):
            attribute = self.schema.attributes.get(each)
            known = each in self.schema.blocks or (
                attribute is not None and attribute.settable and not attribute.hidden
            )
            if known and each not in {*self.refused, *self.config} and self.live.get(each) not in (*_NOTHING, False):
                self._add(each)
        return self.config != before

    def _without(self, name: str) -> bool:
        """Leave out what the provider refuses; whether it was there and may be left out."""
        attribute = self.schema.attributes.get(name)
        if name not in self.config or name in self.refused or (attribute is not None and attribute.required):
            return False
        self.refused.add(name)
        del self.config[name]
        return True

    def _is_set(self, name: str) -> bool:
        attribute = self.schema.attributes[name]
        return self.live.get(name) not in _NOTHING and not attribute.hidden

    def _add(self, name: str) -> None:
        value = self.live.get(name)
        if name in self.schema.blocks:
            nested = self.schema.blocks[name]
            given = rows([value]) if nested.single else rows(value)
            written = [inside(row, nested.block, self.found.agreement.given, whole=name in self.whole) for row in given]
            if written:
                self.config[name] = written[0] if nested.single else written
        elif value is not None:
            self.config[name] = value


def inside(row: Mapping[str, Json], schema: BlockSchema, given: Collection[str], *, whole: bool) -> dict[str, Json]:
    """What a nested block writes: what is required and set in it, without what only the provider decides. `whole`: all of it."""
    found: dict[str, Json] = {}
    for name, attribute in schema.attributes.items():
        value = row.get(name)
        settable = attribute.settable and not attribute.deprecated and not (attribute.hidden and not attribute.required)
        if value is None or not settable:
            continue
        own = attribute.required or not attribute.computed or name in given
        said = (whole and value not in _NOTHING) or (own and value not in (*_NOTHING, False, 0))
        if attribute.required or said:
            found[name] = value
    for name, nested in schema.blocks.items():
        inner = [inside(each, nested.block, given, whole=whole) for each in rows(row.get(name))]
        if inner:
            found[name] = inner
    return found


def _written(value: Any) -> Json:
    """A value as a block writes it: JSON in a text as a document."""
    match value:
        case str():
            document = document_in(value)
            nested = isinstance(document, dict) or (
                isinstance(document, list) and any(isinstance(each, dict) for each in document)
            )
            return {"json": document} if document and nested else value
        case list():
            return [_written(each) if isinstance(each, dict) else each for each in value]
        case dict():
            return {name: _written(item) if isinstance(item, (str, list)) else item for name, item in value.items()}
    return value  # type: ignore[no-any-return]  # numbers and switches
