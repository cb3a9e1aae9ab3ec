"""Identifies the resource that a call created: a type and an id whose resource the provider reads and which agrees with the call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.core.model.json import Json
from reconciler.adoption.agreement import Agreement, agreement, has_own_arn, identity_of
from reconciler.adoption.import_ids import ids_of_form, single_ids, tried_together
from reconciler.adoption.likely_types import is_named_exactly, likely_types
from reconciler.changes.creating_events import KnownCreation
from reconciler.changes.event_values import EventValues
from reconciler.terraform.compare import same
from reconciler.terraform.plugin.imports import ImportedResource, NotImported, ProviderImports
from reconciler.terraform.plugin.type_schemas import BlockSchema

_MOST_SLOW: Final = 2
"""Imports of a type that may wait in vain, as a provider does that waits for something to appear."""
_MOST_TRIES: Final = 60
"""Imports that are tried for one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """A resource that a call created, as the provider reads it."""

    resource: ImportedResource
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class NotIdentified:
    """Why it is not known what a call created."""

    why: str
    """A sentence."""
    types: tuple[str, ...] = ()
    """The types that it may be."""
    absent: bool = False
    """Whether the provider just finds no such resource: it may be gone again."""


async def identify(
    provider: ProviderImports, values: EventValues, known: Sequence[str], ids: Mapping[str, str], usual: Sequence[str]
) -> Identified | NotIdentified:
    """What a call created. `known` are the types that tables name for it, `ids` import ids by type where a table says them, and `usual`
    the types that the stack has. Raises `errors.PluginUnavailable` if the provider ends.
    """
    found = await _of_types(provider, values, likely_types(values, provider, known), ids, usual)
    if known and isinstance(found, NotIdentified) and found.absent and (more := likely_types(values, provider, ())):
        other = await _of_types(provider, values, [each for each in more if each not in found.types], ids, usual)
        return other if isinstance(other, Identified) else found
    return found


async def read_again(provider: ProviderImports, known: KnownCreation) -> Identified | NotIdentified:
    """What was identified before, as it is now. Raises `errors.PluginUnavailable` if the provider ends."""
    found = await provider.find(known.resource_type, known.import_id)
    if isinstance(found, NotImported):
        gone = f"The provider finds no {known.resource_type} {known.import_id} any more."
        return NotIdentified(why=found.reason or gone, types=(known.resource_type,), absent=not found.reason)
    own = Agreement(names=frozenset({"id"}), given=known.given, answered=True)
    return Identified(resource=found, agreement=own)


async def _of_types(
    provider: ProviderImports, values: EventValues, types: Sequence[str], ids: Mapping[str, str], usual: Sequence[str]
) -> Identified | NotIdentified:
    if not types:
        return NotIdentified(why="No table knows this call, and no resource type is named like what it makes.")
    found: list[Identified] = []
    said: list[str] = []
    for each in types:
        search = _Search(provider=provider, values=values, resource_type=each, given=ids.get(each, ""))
        matching = await search.matching()
        matching = _surest(matching)
        if any(not _is_one(one, matching[0], provider.schema(each)) for one in matching):
            return NotIdentified(why=f"Several resources of type {each} fit what the call says.", types=(each,))
        found += sorted(matching, key=lambda one: len(one.resource.import_id))[:1]
        said += [search.said] if search.said and not matching else []
    if len(found) > 1:
        found = [each for each in found if each.resource.resource_type in usual] or found
    if len(found) > 1:
        found = [each for each in found if is_named_exactly(values, each.resource.resource_type)] or found
    if len(found) > 1:
        named = tuple(each.resource.resource_type for each in found)
        return NotIdentified(
            why=f"It may be declared as any of {', '.join(named)}, and the code has none of them.", types=named
        )
    if found:
        return found[0]
    reason = said[0] if said else f"The provider finds no {types[0]} by what the call says."
    return NotIdentified(why=reason, types=tuple(types), absent=not said)


def _surest(matching: Sequence[Identified]) -> list[Identified]:
    """Those whose own id or ARN the call's reply says, if it says that of any, and that agree in the most names: others only belong to the same."""
    found = [each for each in matching if each.agreement.answered] or list(matching)
    most = max((len(each.agreement.names) for each in found), default=0)
    return [each for each in found if len(each.agreement.names) == most]


@dataclass(slots=True, kw_only=True)
class _Search:
    """The search for a resource of one type."""

    provider: ProviderImports
    values: EventValues
    resource_type: str
    given: str = ""
    said: str = ""
    """What the provider said against the type as such."""
    form: str = ""
    """How the provider says that ids of the type are written."""
    slow: int = 0
    """How often the provider gave no answer in time."""
    tried: set[str] = field(default_factory=set)

    async def matching(self) -> list[Identified]:
        """The resources that agree with the call; two of them may be one and the same."""
        schema = self.provider.schema(self.resource_type)
        if self.given:
            return await self._hits((self.given,))
        single: list[Identified] = []
        named: list[Identified] = []
        for each in single_ids(self.values, self.resource_type, schema):
            single += await self._hits((each,))
            if not single and self.form and not self.said:
                # Some providers read a part of another id as one, and wait for it in vain: what they ask for by name comes first.
                named = await self._named()
            if named:
                return named
        if single or self.said:
            return single
        if (named := await self._named()) or self.said:
            return named
        return await self._hits(tried_together(self.values, self.resource_type, schema, self.form), most=2)

    async def _named(self) -> list[Identified]:
        """The resource by an id in the form that the provider named. Each part is what it asks for, so the first one that is there is it."""
        return await self._hits(ids_of_form(self.form, self.values), most=1)

    async def _hits(self, import_ids: Sequence[str], most: int = _MOST_TRIES) -> list[Identified]:
        found: list[Identified] = []
        for each in import_ids:
            if self.said or len(found) >= most:
                break
            hit = await self._try(each)
            found += [hit] if hit is not None else []
        return found

    async def _try(self, import_id: str) -> Identified | None:
        if import_id in self.tried or len(self.tried) >= _MOST_TRIES:
            return None
        self.tried.add(import_id)
        found = await self.provider.find(self.resource_type, import_id)
        if isinstance(found, NotImported):
            self.form = self.form or found.form
            self.slow += found.slow
            if self.slow >= _MOST_SLOW:
                self.said = found.reason
            if found.never:
                self.said = f"The provider cannot import a {self.resource_type}."
            return None
        agreed = agreement(self.values, found, self.provider.schema(self.resource_type))
        return Identified(resource=found, agreement=agreed) if agreed.holds else None


def is_same(one: Mapping[str, Json], other: Mapping[str, Json], schema: BlockSchema) -> bool:
    """Whether two sets of attributes of one type are those of the same resource."""
    return bool(set(identity_of(one, schema)) & set(identity_of(other, schema)))


def _is_one(one: Identified, other: Identified, schema: BlockSchema) -> bool:
    """Whether two imports read the same resource: also where the provider keeps the id in the form that it was given, a name or an ARN, and
    all else is the same.
    """
    first, second = one.resource.attributes, other.resource.attributes
    if is_same(first, second, schema):
        return True
    return not has_own_arn(schema) and all(
        _is_form(first.get(name), second.get(name)) for name in {*first, *second, "id"}
    )


def _is_form(one: Json, other: Json) -> bool:
    """Whether two values are the same, or one is an ARN that ends with the other."""
    if isinstance(one, str) and isinstance(other, str) and one != other:
        long, short = (one, other) if len(one) > len(other) else (other, one)
        return bool(short) and long.startswith("arn:") and long.endswith((f":{short}", f"/{short}"))
    return same(one, other)


def covers(own: Mapping[str, Json], found: Identified, schema: BlockSchema) -> bool:
    """Whether a declared resource of the type is what was found, by all that the call gave and all that is required.

    The provider makes up the ids of some types at each import, such as those of attachments. What has an ARN of its own, or an id that the
    call's reply says, has a true id.
    """
    if found.agreement.answered or has_own_arn(schema):
        return False
    live = found.resource.attributes
    names = [
        name
        for name, attribute in schema.attributes.items()
        if attribute.settable and (attribute.required or name in found.agreement.given) and live.get(name)
    ]
    return bool(names) and all(_within(live[name], own.get(name)) for name in names)


def _within(live: Json, own: Json) -> bool:
    """Whether a value is the declared one, or for a list a part of it."""
    if isinstance(live, list) and isinstance(own, list):
        return all(each in own for each in live)
    return same(live, own)
