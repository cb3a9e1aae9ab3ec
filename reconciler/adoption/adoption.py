"""What becomes of everything that events say was created: it is written, recognised as something declared, or named with the reason.

Nothing that the events name is passed over: what the provider cannot read, and what no table knows, is left with its identity and who made it.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from gateway.core.model.adopt import Adopt
from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import Module
from reconciler.adoption.agreement import Agreement, has_own_arn
from reconciler.adoption.forms import RULE, RULES, has_older_rules, inline_owner, mixes_rules, older_rule_ids
from reconciler.adoption.identified import Identified, NotIdentified, covers, identify, is_same, read_again
from reconciler.adoption.import_ids import single_ids
from reconciler.adoption.links import Link, Texts, owner_link
from reconciler.adoption.model import SHORTEST_NAME, Adoption, Declared, LeftCreation
from reconciler.adoption.new_block import new_block
from reconciler.changes.cloudtrail import Event
from reconciler.changes.creating_events import Creation, Place, Told, named_in_call, told
from reconciler.changes.event_creations import Created
from reconciler.errors import PluginUnavailable
from reconciler.model import DriftOrigin
from reconciler.terraform.plugin.imports import ImportedResource, NotImported, ProviderImports
from reconciler.terraform.plugin.type_schemas import BlockSchema

MOST: Final = 500
"""Creations of one run that are looked at; the rest is left, with a sentence."""
_UNLINKED: Final = "It belongs to no resource of the stack. `--adopt all` writes it all the same."
_CRASHES: Final = 3
"""How often a provider that ends in an import is started again."""
_Asked = TypeVar("_Asked")
ONLY_LISTED: Final = "Created resources are only listed (--adopt none)."
WHOLE_OR_NOTHING: Final = "All of such a change is written, or nothing of it."
OpenProvider = Callable[[], Awaitable[ProviderImports]]
"""Starts a provider, or gives the one that runs. Raises `errors.PluginUnavailable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredStack:
    """What adoption knows of the stack."""

    code: Module
    declared: Declared
    """The live attributes of the resources that the state has, by address."""
    imported: frozenset[tuple[str, str]] = frozenset()
    """What the code imports already: type and id."""
    others: frozenset[tuple[str, str]] = frozenset()
    """What other stacks declare: type and id, or type and ARN."""
    beside: tuple[Created, ...] = ()
    """Creations that are written besides: what belongs to them, or is named by them, belongs to the stack."""


async def adopt(open_provider: OpenProvider, events: Sequence[Event], stack: DeclaredStack, how: Adopt) -> Adoption:
    """What becomes of the creations that the events tell of."""
    return await adopt_told(open_provider, told(events, Place.of(stack.declared)), stack, how)


async def adopt_told(open_provider: OpenProvider, found: Told, stack: DeclaredStack, how: Adopt) -> Adoption:
    """What becomes of creations, whatever tells of them: events, the ledger, or an earlier look."""
    if not found.creations:
        return Adoption(noted=found.noted)
    return await _Adopting(open_provider=open_provider, told=found, stack=stack, how=how).all()


def without_naming_left(adoption: Adoption) -> Adoption:
    """The adoption, in which nothing is written that names something that the same actor created and that is left."""
    created, left = list(adoption.created), list(adoption.left)
    todo = left
    while todo:
        found = [(each, why) for each in created if (why := _lost_name(*each, todo))]
        created = [each for each in created if not any(each is one for one, _ in found)]
        todo = [left_creation(made, origin, why) for (made, origin), why in found]
        left += todo
    return replace(adoption, created=tuple(created), left=tuple(left))


def left_creation(made: Created, origin: DriftOrigin, why: str) -> LeftCreation:
    """A creation that is left after all."""
    return LeftCreation(
        resource_type=made.resource_type, identity=made.import_id, origin=origin, why=why, arn=made.arn,
        named_by=made.named_by,
    )  # fmt: skip


def _lost_name(made: Created, origin: DriftOrigin, lost: Sequence[LeftCreation]) -> str:
    """Why a creation is not written, since it names one of those; empty if it names none."""
    said = Texts(made.attributes)
    for each in lost:
        if each.origin.actor == origin.actor and said.name_resource(each.resource_type, each.names):
            return f"It names {each.identity}, which was created with it and is not written. {WHOLE_OR_NOTHING}"
    return ""


def left_without_looking(events: Sequence[Event], why: str) -> tuple[LeftCreation, ...]:
    """All that the events may have created, left for one reason."""
    return tuple(
        LeftCreation(
            resource_type=each.made.resource_type if each.made else "",
            identity=_identity(each, "", None),
            origin=each.event.origin,
            why=why,
        )
        for each in told(events, Place()).creations
        if each.certain or each.types
    )


@dataclass(slots=True, kw_only=True)
class _Adopting:
    open_provider: OpenProvider
    told: Told
    stack: DeclaredStack
    how: Adopt
    created: list[tuple[Created, Creation]] = field(default_factory=list)
    left: list[LeftCreation] = field(default_factory=list)
    inside: list[LeftCreation] = field(default_factory=list)
    unlinked: list[tuple[Created, Creation, LeftCreation]] = field(default_factory=list)
    """What belongs to no resource of the stack, as far as is known yet."""
    seen: dict[str, list[Mapping[str, Json]]] = field(default_factory=dict)
    """The attributes of what was looked at, by type."""
    changes: Counter[str] = field(default_factory=Counter)
    """How often a call that no table knows changed something declared."""
    unavailable: str = ""
    crashes: int = 0
    provider: ProviderImports | None = None

    async def all(self) -> Adoption:
        looked_at = 0
        for each in self.told.creations:
            if self._is_ended(each):
                continue
            looked_at += 1
            if looked_at > MOST:
                self._leave(each, "", f"Only {MOST} creations of one run are looked at. Give fewer events.")
            else:
                await self._one(each)
        self._link_what_is_named()
        created = tuple((made, each.event.origin) for made, each in self.created)
        changes = (
            f"{count} × {name} of what is declared: a plan shows what it changed."
            for name, count in self.changes.items()
        )
        return Adoption(
            created=created,
            left=tuple(_once(self.left)),
            inside=tuple(_once(self.inside)),
            noted=(*self.told.noted, *changes),
        )

    def _is_ended(self, creation: Creation) -> bool:
        """Whether just what it made was deleted again."""
        return any(each.ends_itself(creation) for each in self.told.deletions_of(creation))

    async def _one(self, creation: Creation) -> None:
        if creation.elsewhere:
            self._leave(creation, creation.made.resource_type if creation.made else "", creation.elsewhere)
            return
        found = await self._guarded(lambda provider: self._identified(provider, creation))
        if isinstance(found, str):
            if not self._is_change(creation):
                self._leave(creation, creation.types[0] if creation.types else "", found)
            return
        if isinstance(found, NotIdentified):
            self._unknown(creation, found)
            return
        if self._is_accounted(creation, found):
            return
        await self._new(creation, found)

    async def _identified(self, provider: ProviderImports, creation: Creation) -> Identified | NotIdentified:
        if creation.known is not None:
            return await read_again(provider, creation.known)
        made = creation.made
        known = (made.resource_type,) if made is not None else creation.types
        ids = {made.resource_type: made.import_id} if made is not None else {}
        usual = {parsed.resource_type for each in self.stack.declared if (parsed := parse_address(each))}
        found = await identify(provider, creation.values, known, ids, tuple(usual))
        if made is None or isinstance(found, Identified) or not ids:
            return found
        again = await identify(provider, creation.values, known, {}, tuple(usual))
        return again if isinstance(again, Identified) else found

    def _is_accounted(self, creation: Creation, found: Identified) -> bool:
        """Whether it was looked at before, or is declared: by itself, or as a part of a resource that declares such parts itself."""
        assert self.provider is not None  # noqa: S101  it read the resource
        kind, live = found.resource.resource_type, found.resource.attributes
        schema, before = self.provider.schema(kind), self.seen.setdefault(kind, [])
        if any(is_same(live, each, schema) for each in before):
            return True
        before.append(live)
        imports = {(kind, found.resource.import_id), (kind, str(live.get("id")))}
        own = {*imports, (kind, str(live.get("arn") or ""))} if has_own_arn(schema) else imports
        if self._is_declared(self.provider, found) or imports & self.stack.imported or own & self.stack.others:
            return True
        if owner := inline_owner(self.stack.code, kind, live, self.stack.declared):
            why = f"The block of {owner} declares such parts itself."
            self.inside.append(self._left(creation, kind, why, found.resource))
        return bool(owner)

    def _is_declared(self, provider: ProviderImports, found: Identified) -> bool:
        kind, live = found.resource.resource_type, found.resource.attributes
        schema = provider.schema(kind)
        arn = live.get("arn") if has_own_arn(schema) else None
        for address, own in self.stack.declared.items():
            parsed = parse_address(address)
            if parsed is None or parsed.data or self.stack.code.instance(address) is None:
                continue
            if parsed.resource_type == kind and (is_same(live, own, schema) or covers(own, found, schema)):
                return True
            if arn and own.get("arn") == arn and has_own_arn(provider.schema(parsed.resource_type)):
                return True
            if kind in RULES and parsed.resource_type == RULE and own.get("security_group_rule_id") == live.get("id"):
                return True
        return False

    async def _new(self, creation: Creation, found: Identified) -> None:
        """Something that nothing declares: it is written if it may be, else left."""
        kind = found.resource.resource_type
        resource = await self._in_form_of_siblings(creation, found)
        if resource is None:
            return
        provider = self.provider
        assert provider is not None  # noqa: S101  it read the resource
        schema = provider.schema(resource.resource.resource_type)
        own_group = resource.resource.attributes
        link = owner_link(kind, own_group, schema, self._in_code())
        made = (
            creation.made
            if creation.made is not None and creation.made.resource_type == resource.resource.resource_type
            else None
        )
        block = await self._guarded(lambda provider: new_block(provider, resource))
        if isinstance(block, str):
            self._leave(creation, kind, block, resource.resource)
            return
        attributes = made.attributes if made is not None else block.attributes
        new = replace(_created(resource.resource, attributes, schema, made, link), arn=self._arn(resource.resource))
        if link is None and not new.owner:
            new = replace(new, owner=self._naming(new))
        if self.how is Adopt.NONE:
            self._leave(creation, kind, ONLY_LISTED, resource.resource)
        elif self.how is Adopt.LINKED and link is None and not new.owner and not self._of_new(new):
            self.unlinked.append((new, creation, self._left(creation, kind, _UNLINKED, resource.resource)))
        elif block.why_not and made is None:
            self._leave(creation, kind, block.why_not, resource.resource)
        else:
            self.created.append((new, creation))

    def _in_code(self) -> Declared:
        """What the code declares, and what is about to be written."""
        return {
            address: own
            for address, own in self.stack.declared.items()
            if self.stack.code.instance(address) is not None
        }

    def _naming(self, new: Created) -> str:
        """The first declared resource that names it by now; empty if none does."""
        naming = (address for address, own in self._in_code().items() if Texts(own).name(new))
        return next(naming, "")

    def _link_what_is_named(self) -> None:
        """Write what something names that is about to be written, or what names that; the rest belongs to no resource of the stack."""
        todo = [(each, Texts(each[0].attributes)) for each in self.unlinked]
        new = [(made, Texts(made.attributes)) for made in self._written()]
        while new:
            linked = [
                (each, said)
                for each, said in todo
                if any(texts.name(each[0]) or said.name(made) for made, texts in new)
            ]
            self.created += [(made, creation) for (made, creation, _), _ in linked]
            todo = [each for each in todo if not any(each[0] is one for one, _ in linked)]
            new = [(made, said) for (made, _, _), said in linked]
        self.unlinked = []
        self.left += [left for (_, _, left), _ in todo]

    def _written(self) -> list[Created]:
        """What is about to be written."""
        return [*self.stack.beside, *(made for made, _ in self.created)]

    def _of_new(self, new: Created) -> bool:
        """Whether it belongs to something that is about to be written itself."""
        names = {
            value
            for made in self._written()
            for value in (made.import_id, made.name, str(made.attributes.get("arn")))
            if value
        }
        return bool(new.parent) and new.parent in names

    async def _in_form_of_siblings(self, creation: Creation, found: Identified) -> Identified | None:
        """The resource as the kind that the code has of it; None if it is left."""
        kind, live = found.resource.resource_type, found.resource.attributes
        if kind not in RULES:
            return found
        group = live.get("security_group_id")
        if mixes_rules(group, self.stack.declared):
            self._leave(
                creation,
                kind,
                f"The rules of {group} are of both kinds in the code, which exclude each other.",
                found.resource,
            )
            return None
        if not has_older_rules(group, self.stack.declared, self.stack.code):
            return found
        for import_id in older_rule_ids(kind, live):
            older = await self._guarded(partial(_older_rule, import_id=import_id))
            if isinstance(older, ImportedResource) and older.attributes.get("security_group_id") == group:
                return Identified(resource=older, agreement=Agreement(names=frozenset({"security_group_id"})))
        self._leave(
            creation,
            RULE,
            f"The rules of {group} are {RULE} in the code, and this one cannot be imported as one.",
            found.resource,
        )
        return None

    def _unknown(self, creation: Creation, found: NotIdentified) -> None:
        if any(each.ends(creation) for each in self.told.deletions_of(creation)) and (found.absent or not found.types):
            return
        if not found.types and self._is_change(creation):
            self.changes[creation.event.origin.event] += 1
            return
        kind = found.types[0] if len(found.types) == 1 else ""
        self._leave(creation, kind, found.why)

    def _is_change(self, creation: Creation) -> bool:
        """Whether a call that may only change something names a resource that is declared, or that was looked at before: a plan shows what it changed."""
        if creation.certain or creation.types:
            return False
        names = {
            value
            for own in (*self.stack.declared.values(), *(own for seen in self.seen.values() for own in seen))
            for name, value in own.items()
            if name in _NAMING and isinstance(value, str)
        }
        said = [each for each in creation.values.asked if len(each.steps) == 1 and isinstance(each.value, str)]
        return bool(said) and any(each.value in names for each in said)

    async def _guarded(self, do: Callable[[ProviderImports], Awaitable[_Asked]]) -> _Asked | str:
        """The result of something that a provider does, or why there is none. One that ends is started again."""
        while not self.unavailable:
            try:
                self.provider = self.provider or await self.open_provider()
                return await do(self.provider)
            except PluginUnavailable as error:
                running = self.provider is not None
                self.provider = None
                self.crashes += 1
                if not running or self.crashes > _CRASHES:
                    self.unavailable = str(error)
                else:
                    return f"The provider ended when it was asked about it: {error}"
        return f"The provider cannot be asked what was created: {self.unavailable}"

    def _arn(self, resource: ImportedResource | None) -> str:
        if resource is None or self.provider is None or not has_own_arn(self.provider.schema(resource.resource_type)):
            return ""
        return str(resource.attributes.get("arn") or "")

    def _leave(self, creation: Creation, kind: str, why: str, resource: ImportedResource | None = None) -> None:
        self.left.append(self._left(creation, kind, why, resource))

    def _left(self, creation: Creation, kind: str, why: str, resource: ImportedResource | None) -> LeftCreation:
        return LeftCreation(
            resource_type=kind,
            identity=_identity(creation, kind, resource),
            origin=creation.event.origin,
            why=why,
            arn=self._arn(resource),
            named_by={} if resource is None else _names_of(resource),
        )


_NAMED_BY: Final = (
    "arn",
    "id",
    "url",
    "key_id",
    "name",
    "bucket",
    "function_name",
    "identifier",
    "cluster_name",
    "cluster_identifier",
    "arn_suffix",
)
_NAMING: Final = (
    "id",
    "arn",
    "name",
    "url",
    "bucket",
    "function_name",
    "key_id",
    "zone_id",
    "identifier",
    "alarm_name",
    "cluster_name",
)


async def _older_rule(provider: ProviderImports, import_id: str) -> ImportedResource | NotImported:
    return await provider.find(RULE, import_id)


_TELLING: Final = ("statement_id", "target_id", "path_part", "scheduled_action_name", "from_port")
"""Attributes by which people tell parts of one resource apart that have no name."""


def _identity(creation: Creation, kind: str, resource: ImportedResource | None) -> str:
    if resource is not None:
        return resource.import_id
    if creation.made is not None:
        return creation.made.import_id
    if creation.known is not None:
        return creation.known.import_id
    return named_in_call(creation.values, kind) or next(iter(single_ids(creation.values, kind, BlockSchema())), "")


def _created(
    resource: ImportedResource,
    attributes: Mapping[str, Json],
    schema: BlockSchema,
    made: Created | None,
    link: Link | None,
) -> Created:
    """The creation as it is written."""
    if made is not None:
        owner = made.owner or (link.address if link else "")
        return replace(made, import_id=resource.import_id, owner=owner, named_by=_names_of(resource))
    live = resource.attributes
    parent = link.value if link else ""
    part = "arn" not in schema.attributes or (bool(parent) and parent in resource.import_id)
    tags = live.get("tags")
    tagged = tags.get("Name") if isinstance(tags, Mapping) else None
    own = (
        live.get("name"),
        tagged,
        *(live.get(name) for name in _TELLING),
        *(live.get(name) for name in schema.attributes if name.endswith("_name") and live.get(name) != parent),
    )
    return Created(
        resource_type=resource.resource_type,
        import_id=resource.import_id,
        attributes=attributes,
        name=next((str(each) for each in own if each), ""),
        parent=parent if part else "",
        owner=link.address if link else "",
        named_by=_names_of(resource),
    )


def _names_of(resource: ImportedResource) -> dict[str, str]:
    """The attributes by which others name a resource."""
    named = ((name, resource.attributes.get(name)) for name in _NAMED_BY)
    return {name: value for name, value in named if isinstance(value, str) and len(value) >= SHORTEST_NAME}


def _once(left: Sequence[LeftCreation]) -> list[LeftCreation]:
    """Each of them once; the first event that names it counts."""
    found: dict[tuple[str, str, str], LeftCreation] = {}
    for each in left:
        found.setdefault((each.resource_type, each.identity, each.why if not each.identity else ""), each)
    return list(found.values())
